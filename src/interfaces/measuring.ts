import type { ISignal } from '@lumino/signaling';
import type { Measurement, StudyChoice, StudyName } from '../protocol/types';

/**
 * How a measurement is to be made.
 */
export interface IMeasureOptions {
  /**
   * The names of the variants; all that can be built, when none is given. Eager
   * is always among them.
   */
  readonly variants?: readonly string[];

  /**
   * After about so long it ends by itself.
   */
  readonly seconds?: number;

  /**
   * Whether it begins anew where it could go on.
   */
  readonly again?: boolean;
}

/**
 * What studies do, and where.
 */
export interface IStudyOptions {
  /**
   * Name of an option of a study → the names that it selects; all that the study
   * does, if it is left out.
   */
  readonly selected?: Readonly<Record<string, readonly string[]>>;

  /**
   * The name of the executor that runs the study's processes; the kernel's machine
   * where there is none.
   */
  readonly executor?: string;
}

/**
 * What can be measured of a subject, as a view sees it.
 */
export interface IMeasuring {
  /**
   * The measurement of the selected subject with all its samples, completed
   * while it goes on; null where there is none.
   */
  readonly measurement: Measurement | null;
  readonly measurementChanged: ISignal<unknown, Measurement | null>;

  /**
   * Get what the kernel has measured so far. A view that shows it calls this
   * first: nothing is fetched while no view shows it.
   */
  loadMeasurement(): Promise<void>;

  /**
   * Time variants interleaved. It is stopped as any job is, and loses nothing by
   * that; starting again goes on.
   */
  startMeasure(options?: IMeasureOptions): Promise<void>;

  /**
   * Take a closer look at variants: all that are built, when none is named.
   *
   * @param options - What the studies do, and where.
   */
  startStudies(
    studies: readonly StudyName[],
    variants?: readonly string[],
    options?: IStudyOptions
  ): Promise<void>;

  /**
   * What the options of a study take for a variant, by the options' names.
   */
  getStudyChoices(
    study: StudyName,
    variant: string
  ): Promise<Record<string, readonly StudyChoice[]>>;
}
