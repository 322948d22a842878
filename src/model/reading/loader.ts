import type { IConnection } from '../../protocol/connection';
import type { ReportSummary } from '../../protocol/types';

/**
 * Gets the report of one subject at a time. However often the report changes
 * during a request, only one more request follows.
 */
export class ReportLoader {
  constructor(private _options: ReportLoader.IOptions) {}

  /**
   * Get the report of a subject; the answer to an earlier one is dropped.
   *
   * @param revision - The least revision that is needed: a report that is on its way
   * may have it. By default the report is requested again.
   */
  async load(
    connection: Pick<IConnection, 'request'>,
    subject: string,
    revision = Infinity
  ): Promise<void> {
    const current = this._current;
    if (current?.connection === connection && current.subject === subject) {
      current.needed = Math.max(current.needed, revision);
      return current.done;
    }
    const next: ILoad = {
      connection,
      subject,
      needed: Infinity,
      done: Promise.resolve()
    };
    this._current = next;
    next.done = this._run(next);
    return next.done;
  }

  /**
   * Ignore the reply to the current request.
   */
  stop(): void {
    this._current = null;
  }

  private async _run(load: ILoad): Promise<void> {
    const { connection, subject } = load;
    const isStale = () => this._current !== load;
    let received = -Infinity;
    while (load.needed > received && !isStale()) {
      load.needed = -Infinity;
      try {
        const report = await connection.request('get_report', { subject });
        received = report.revision;
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
   * The callbacks.
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
   * The least revision that was asked for since the last request.
   */
  needed: number;
  done: Promise<void>;
}
