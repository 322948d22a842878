import type { ISignal } from '@lumino/signaling';
import type { Measurement, StudyChoice, StudyName } from '../protocol/types';

/**
 * The options of a measurement.
 */
export interface IMeasureOptions {
  /**
   * The names of the variants to measure; by default all that can be built.
   * Eager is always measured.
   */
  readonly variants?: readonly string[];

  /**
   * How long to measure, in seconds.
   */
  readonly seconds?: number;

  /**
   * Whether to start over instead of resuming.
   */
  readonly restart?: boolean;
}

/**
 * The options of studies.
 */
export interface IStudyOptions {
  /**
   * Name of an option of a study → the names that it selects; by default the
   * whole study runs.
   */
  readonly selected?: Readonly<Record<string, readonly string[]>>;

  /**
   * The name of the executor that runs the study's processes; by default the
   * kernel's machine.
   */
  readonly executor?: string;
}

/**
 * Measurements and studies of a subject, as views use them.
 */
export interface IMeasuring {
  /**
   * The measurement of the selected subject with all its samples, updated while
   * it runs; null if there is none.
   */
  readonly measurement: Measurement | null;
  readonly measurementChanged: ISignal<unknown, Measurement | null>;

  /**
   * Get what the kernel has measured so far. A view that shows measurements
   * calls this first; without such a view, nothing is fetched.
   */
  loadMeasurement(): Promise<void>;

  /**
   * Time variants interleaved. Canceling the job keeps all samples; starting
   * again resumes.
   */
  startMeasure(options?: IMeasureOptions): Promise<void>;

  /**
   * Run studies of variants.
   *
   * @param variants - Their names; by default all that are built.
   * @param options - The options of the studies.
   */
  startStudies(
    studies: readonly StudyName[],
    variants?: readonly string[],
    options?: IStudyOptions
  ): Promise<void>;

  /**
   * The values that a study's options accept for a variant, by option.
   */
  getStudyChoices(
    study: StudyName,
    variant: string
  ): Promise<Record<string, readonly StudyChoice[]>>;
}
