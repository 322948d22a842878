import type { IConnection } from '../protocol/connection';
import type { Commands, SubjectSummary } from '../protocol/types';
import type { IPage } from './file/page';
import { splitPage } from './file/page';

/**
 * How long a report has to stay the same before it is fetched whole, in
 * milliseconds: while it grows, fetching it again and again would disturb the work
 * on it. A report that was never fetched is not kept waiting, as a restart would
 * lose all of it.
 */
const IDLE_MS = 1500;
const FIRST = 200;

/**
 * How many characters of reports are kept in total.
 */
const MAX_CHARACTERS = 200_000_000;

/**
 * Copies of the whole reports that were shown, which outlive their kernel.
 */
export class Archive {
  constructor(private _options: Archive.IOptions) {}

  /**
   * Fetch a report that was shown, once it stops changing, even if another one
   * is shown by then.
   */
  note(summary: SubjectSummary): void {
    const { id } = summary.subject;
    if (this._entries.get(id)?.summary.revision === summary.revision) {
      return;
    }
    this._awaited.set(id, summary);
    clearTimeout(this._timer);
    this._timer = window.setTimeout(
      () => void this._fetchAll(),
      this._entries.has(id) ? IDLE_MS : FIRST
    );
  }

  /**
   * Fetch what could not be fetched while the kernel was busy.
   */
  retry(): void {
    if (this._awaited.size > 0) {
      clearTimeout(this._timer);
      this._timer = window.setTimeout(() => void this._fetchAll(), FIRST);
    }
  }

  has(id: string): boolean {
    return this._entries.has(id);
  }

  /**
   * What answers instead of the kernel; null if the report was never fetched.
   */
  get(id: string): Archive.IAnswers | null {
    return this._entries.get(id) ?? null;
  }

  /**
   * The reports whose kernel has ended, the latest first.
   */
  get orphaned(): readonly SubjectSummary[] {
    return [...this._entries.values()]
      .filter(entry => entry.isLost)
      .map(entry => entry.summary)
      .reverse();
  }

  /**
   * Process the end of the kernel.
   */
  onKernelGone(): void {
    clearTimeout(this._timer);
    this._awaited.clear();
    for (const entry of this._entries.values()) {
      entry.isLost = true;
    }
  }

  /**
   * Process the kernel's list of subjects. Copies of reports that the kernel
   * still has, has dropped, or has inspected again are not kept.
   */
  follow(subjects: readonly SubjectSummary[]): void {
    const known = new Set(subjects.map(subject => subject.subject.id));
    const calls = new Set(subjects.map(callOf).filter(Boolean));
    for (const id of this._awaited.keys()) {
      if (!known.has(id)) {
        this._awaited.delete(id);
      }
    }
    for (const [id, entry] of this._entries) {
      if (known.has(id)) {
        entry.isLost = false;
      } else if (!entry.isLost || calls.has(callOf(entry.summary))) {
        this._entries.delete(id);
      }
    }
  }

  forget(id: string): void {
    this._awaited.delete(id);
    this._entries.delete(id);
  }

  dispose(): void {
    clearTimeout(this._timer);
    this._awaited.clear();
    this._entries.clear();
  }

  private async _fetchAll(): Promise<void> {
    for (const summary of [...this._awaited.values()]) {
      await this._fetch(summary);
    }
  }

  private async _fetch(summary: SubjectSummary): Promise<void> {
    const { id } = summary.subject;
    const report = await this._ask(id).catch(() => null);
    if (report === null || !this._awaited.has(id)) {
      // It is requested again when a job has ended, or with the next report that is
      // shown. Saving the report shows why it is not available.
      return;
    }
    if (this._awaited.get(id) === summary) {
      this._awaited.delete(id);
    }
    this._entries.delete(id);
    this._entries.set(id, new Entry(summary, report, this._page ?? null));
    let size = 0;
    for (const [key, entry] of [...this._entries].reverse()) {
      size += entry.report.text.length;
      if (size > MAX_CHARACTERS && key !== id) {
        this._entries.delete(key);
      }
    }
  }

  /**
   * Get a report; the first one as a page, of which the others' pages are made.
   */
  private async _ask(id: string): Promise<IKept | null> {
    if (this._page === undefined) {
      const text = await this._options.fetch(id, 'html');
      const split = text === null ? null : splitPage(text);
      if (split) {
        this._page = split.page;
        return { text: split.report, isPacked: split.isPacked };
      }
      if (text === null) {
        return null;
      }
      this._page = null;
    }
    const text = await this._options.fetch(id, 'packed');
    return text === null ? null : { text, isPacked: true };
  }

  /**
   * The reports that were shown and are not fetched yet.
   */
  private _awaited = new Map<string, SubjectSummary>();
  private _entries = new Map<string, Entry>();
  private _timer = 0;

  /**
   * Null where the kernel has no built views; undefined before it was asked.
   */
  private _page: IPage | null | undefined;
}

/**
 * The namespace for `Archive` statics.
 */
export namespace Archive {
  /**
   * Where reports come from.
   */
  export interface IOptions {
    /**
     * Gets a whole report; null where this is not the time.
     */
    fetch: (id: string, format: 'html' | 'packed') => Promise<string | null>;
  }

  /**
   * What can be asked about a report.
   */
  export type IAnswers = Pick<IConnection, 'request'>;
}

/**
 * What the call in a cell is known by in another kernel too; empty outside of
 * notebooks.
 */
function callOf({ subject }: SubjectSummary): string {
  const { cell, name, arguments: given } = subject;
  return cell ? JSON.stringify([cell, name, given]) : '';
}

/**
 * A report's JSON, as the kernel gave it.
 */
interface IKept {
  readonly text: string;

  /**
   * Whether `unpackReport` has to read it: not that of a small page.
   */
  readonly isPacked: boolean;
}

/**
 * A report as text, which is read when something is asked of it.
 */
class Entry implements Archive.IAnswers {
  constructor(
    readonly summary: SubjectSummary,
    readonly report: IKept,
    private _page: IPage | null
  ) {}

  isLost = false;

  async request<K extends keyof Commands>(
    command: K,
    args: Commands[K]['arguments']
  ): Promise<Commands[K]['result']> {
    this._file ??= this._read();
    return (await this._file).request(command, args);
  }

  private async _read(): Promise<Archive.IAnswers> {
    const { FileConnection, readReport, unpackReport } = await import('./file');
    const { text, isPacked } = this.report;
    const report = readReport(isPacked ? await unpackReport(text) : text);
    return new FileConnection(report, this._page);
  }

  private _file: Promise<Archive.IAnswers> | null = null;
}
