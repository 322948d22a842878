import type { IConnection } from '../../protocol/connection';
import type { ReportSummary } from '../../protocol/types';

/**
 * Gets the report of one subject at a time. What changes while an answer is on
 * its way is one more request, however often it changes.
 */
export class ReportLoader {
  constructor(private _options: ReportLoader.IOptions) {}

  /**
   * Get the report of a subject; the answer to an earlier one is dropped.
   */
  async load(
    connection: Pick<IConnection, 'request'>,
    subject: string
  ): Promise<void> {
    const current = this._current;
    if (current?.connection === connection && current.subject === subject) {
      current.again = true;
      return current.done;
    }
    const next: ILoad = {
      connection,
      subject,
      again: true,
      done: Promise.resolve()
    };
    this._current = next;
    next.done = this._run(next);
    return next.done;
  }

  /**
   * Drop the answer that is on its way.
   */
  stop(): void {
    this._current = null;
  }

  private async _run(load: ILoad): Promise<void> {
    const { connection, subject } = load;
    const isStale = () => this._current !== load;
    while (load.again && !isStale()) {
      load.again = false;
      try {
        const report = await connection.request('get_report', { subject });
        if (!isStale()) {
          this._options.onReport(report);
        }
      } catch (error) {
        if (!isStale()) {
          this._options.onError(error);
        }
      }
    }
    if (!isStale()) {
      this._current = null;
    }
  }

  private _current: ILoad | null = null;
}

/**
 * The namespace for `ReportLoader` statics.
 */
export namespace ReportLoader {
  /**
   * Whom to tell.
   */
  export interface IOptions {
    onReport: (report: ReportSummary) => void;
    onError: (error: unknown) => void;
  }
}

interface ILoad {
  connection: Pick<IConnection, 'request'>;
  subject: string;

  /**
   * Whether it changed since the last request.
   */
  again: boolean;
  done: Promise<void>;
}
