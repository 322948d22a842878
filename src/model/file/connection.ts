import { BaseConnection } from '../../protocol/baseConnection';
import type {
  Commands,
  Contents,
  HelloResult,
  Report,
  SaveReportResult
} from '../../protocol/types';
import { PROTOCOL_VERSION } from '../../protocol/types';
import { NO_CHOICES } from '../variants';
import { missing } from './missing';
import type { IPage } from './page';
import { joinPage } from './page';
import { subjectOf, summaryOf } from './summaries';
import {
  artifactOf,
  findCompilation,
  findVariant,
  graphOf,
  searchOf
} from './texts';

/**
 * A report's file instead of a kernel: it answers requests from the report, as
 * the kernel would.
 */
export class FileConnection extends BaseConnection {
  /**
   * @param _report - What `readReport` gave.
   * @param _page - The page that shows it, where a kernel gave one.
   *
   * @throws RequestError: the file is of a version that did not list its texts.
   */
  constructor(
    private _report: Report,
    private _page: IPage | null = null
  ) {
    super({ kind: 'ready' });
    if (!_report.contents) {
      throw missing(
        'The report was saved by an earlier compilescope.',
        'The file does not list its texts, without which no view can show it.',
        'Run compilescope.load("FILE").save("FILE") in Python, or open the file in JupyterLab. A saved page opens in any browser.'
      );
    }
    this._contents = _report.contents;
  }

  readonly isLive = false;

  async request<K extends keyof Commands>(
    command: K,
    args: Commands[K]['arguments']
  ): Promise<Commands[K]['result']> {
    const answer = this._answers[command];
    if (!answer) {
      throw missing(
        'This report is from a file: it has no kernel.',
        'You can view it, but not generate, build or measure anything.',
        'Inspect the subject in a notebook.'
      );
    }
    return answer(args);
  }

  execute(): Promise<void> {
    return Promise.resolve();
  }

  interrupt(): Promise<void> {
    return Promise.resolve();
  }

  open(): Promise<void> {
    this.emitOpened(this._hello());
    return Promise.resolve();
  }

  private _hello(): HelloResult {
    const { compilescope, torch } = this._report.environment;
    return {
      protocol: PROTOCOL_VERSION,
      package: compilescope,
      torch,
      choices: NO_CHOICES,
      subjects: [subjectOf(this._report, this._contents)],
      jobs: [],
      watching: null,
      tiers: this._report.tiers,
      session: ''
    };
  }

  private _save({
    format,
    redact
  }: Commands['save_report']['arguments']): SaveReportResult {
    const { name } = this._report.subject;
    const text = JSON.stringify(this._report);
    if (format === 'html' && !redact && this._page) {
      return {
        filename: `${name}.html`,
        text: joinPage(this._page, name, text)
      };
    }
    if (format !== 'json' || redact) {
      throw missing(
        redact
          ? 'Paths and source code can only be left out in a kernel.'
          : 'The page of a report can only be created in a kernel.',
        'This report is from a file: it has no kernel.',
        redact
          ? 'Run compilescope.load("FILE").save("NEW.json", redact=True) in a notebook.'
          : 'Run compilescope.load("FILE").save("NEW.html") in a notebook.'
      );
    }
    return { filename: `${name}.compilescope.json`, text };
  }

  private _contents: Contents;

  private _answers: Answers = {
    hello: () => this._hello(),
    heartbeat: () => ({}),
    get_report: () => summaryOf(this._report, this._contents),
    get_variant: ({ variant }) => ({
      revision: 1,
      variant: findVariant(this._report, variant)
    }),
    get_compilation: ({ variant, compilation }) => ({
      revision: 1,
      compilation: findCompilation(
        findVariant(this._report, variant),
        compilation
      )
    }),
    get_graph: ({ variant, compilation, stage }) => ({
      revision: 1,
      graph: graphOf(this._report, variant, compilation, stage)
    }),
    get_artifact: ({ variant, compilation, artifact }) =>
      artifactOf(this._report, this._contents, variant, compilation, artifact),
    search: ({ text }) => searchOf(this._report, this._contents, text),
    get_sweep: ({ subject }) => ({ subject, sweep: this._report.sweep }),
    save_report: args => this._save(args)
  };
}

type Answers = {
  [K in keyof Commands]?: (
    args: Commands[K]['arguments']
  ) => Commands[K]['result'];
};
