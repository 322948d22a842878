import { problemOf } from '../protocol/client';
import type { IConnection } from '../protocol/connection';
import type {
  ArtifactResult,
  CheckupResult,
  Compilation,
  CompilationPart,
  Problem,
  ReproducerResult,
  SaveReportResult,
  SearchResult,
  StudyChoice,
  StudyName,
  VariantReport,
  WhatIfResult
} from '../protocol/types';
import { PACKAGE_VERSION } from '../protocol/types';
import type { IReproduced } from '../interfaces/subject';
import { ReportReader } from './reading/reader';
import { ModelSignals } from './signals';

/**
 * The requests of a model to the kernel about the selected subject, and the
 * problem of the last request.
 */
export abstract class ModelRequests extends ModelSignals {
  /**
   * The kernel's connection; null while there is no kernel.
   */
  abstract connection: IConnection | null;
  abstract subject: string | null;
  abstract compilation: string;

  get problem(): Problem | null {
    return this._problem;
  }

  forget(): Promise<void> {
    return this.attempt(async (connection, subject) => {
      await connection.request('forget', { subject });
    });
  }

  save(format: 'json' | 'html', redact = false): Promise<SaveReportResult> {
    const { connection, subject } = this.source();
    return connection.request('save_report', { subject, format, redact });
  }

  getCheckup(restart: boolean): Promise<CheckupResult> {
    if (!this.connection) {
      throw new Error('There is no kernel');
    }
    return this.connection.request('get_checkup', {
      front_end: PACKAGE_VERSION,
      restart
    });
  }

  getReproducer(
    part: IReproduced,
    restart: boolean
  ): Promise<ReproducerResult> {
    const { connection, subject } = this.need();
    const {
      variant,
      compilation,
      kernel = '',
      graph = '',
      minify = false
    } = part;
    return connection.request('get_reproducer', {
      subject,
      variant,
      compilation,
      kernel,
      graph,
      minify,
      restart
    });
  }

  async getStudyChoices(
    study: StudyName,
    variant: string
  ): Promise<Record<string, readonly StudyChoice[]>> {
    const { connection, subject } = this.need();
    const asked = { subject, study, variant };
    return (await connection.request('get_study_choices', asked)).choices;
  }

  async cancelReproducer(job: string): Promise<void> {
    await this.need().connection.request('cancel', { job });
  }

  async refresh(): Promise<void> {
    await this.connection?.open();
  }

  getArtifact(
    variant: string,
    compilation: string,
    artifact: string
  ): Promise<ArtifactResult> {
    return this.reader.getArtifact(variant, compilation, artifact);
  }

  async search(text: string): Promise<SearchResult> {
    const { connection, subject } = this.source();
    return connection.request('search', { subject, text });
  }

  async compareTrace(path: string, every: boolean): Promise<void> {
    const { connection, subject } = this.need();
    await connection.request('compare_trace', { subject, path, every });
  }

  getVariant(variant: string): Promise<VariantReport> {
    return this.reader.getVariant(variant);
  }

  getCompilation(
    variant: string,
    compilation: string,
    parts: readonly CompilationPart[]
  ): Promise<Compilation> {
    return this.reader.getCompilation(variant, compilation, parts);
  }

  whatIf(variant: string, args: string): Promise<WhatIfResult> {
    const { connection, subject } = this.need();
    return connection.request('what_if', {
      subject,
      variant,
      arguments: args,
      compilation: this.compilation
    });
  }

  /**
   * The connection and the selected subject; throws when there are none.
   */
  protected need(): { connection: IConnection; subject: string } {
    const { connection, subject } = this;
    if (!connection || subject === null) {
      throw new Error('There is no kernel, or nothing is inspected in it');
    }
    return { connection, subject };
  }

  /**
   * As `need`, for reading the report: if its kernel has ended, the copy of the
   * report answers.
   */
  protected source(): {
    connection: Pick<IConnection, 'request'>;
    subject: string;
  } {
    return this.need();
  }

  /**
   * Run an action if there is a kernel; an error becomes the problem.
   */
  protected async attempt(
    action: (connection: IConnection, subject: string) => Promise<void>
  ): Promise<void> {
    this.setProblem(null);
    try {
      if (this.connection) {
        await action(this.connection, this.subject ?? '');
      }
    } catch (error) {
      this.fail(error);
    }
  }

  /**
   * Set the problem.
   */
  protected fail(error: unknown): void {
    this.setProblem(problemOf(error));
  }

  protected setProblem(problem: Problem | null): void {
    if (problem !== this._problem) {
      this._problem = problem;
      this.problemChanged.emit(problem);
    }
  }

  protected readonly reader = new ReportReader(() => this.source());
  private _problem: Problem | null = null;
}
