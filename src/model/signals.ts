import { Signal } from '@lumino/signaling';
import type {
  Choices,
  JobState,
  Measurement,
  Problem,
  Sweep,
  WatchState,
  GraphTiers
} from '../protocol/types';
import type { ILinked, ISelection } from '../interfaces/selection';
import type { IStatus } from '../interfaces/status';
import type { ISides, ISubjectModel } from '../interfaces/subject';

/**
 * The signals of a model; `ISubjectModel` says what each one is for.
 */
export abstract class ModelSignals {
  readonly statusChanged = signal<IStatus>(this);
  readonly subjectsChanged = signal<void>(this);
  readonly inspected = signal<string>(this);
  readonly reportChanged = signal<void>(this);
  readonly selectedVariantsChanged = signal<ISides>(this);
  readonly compilationChanged = signal<string>(this);
  readonly linkedChanged = signal<ILinked>(this);
  readonly watchChanged = signal<WatchState | null>(this);
  readonly tiersChanged = signal<readonly GraphTiers[]>(this);
  readonly choicesChanged = signal<Choices>(this);
  readonly selectionChanged = signal<ISelection>(this);
  readonly requestedChanged = signal<void>(this);
  readonly jobChanged = signal<JobState | null>(this);
  readonly problemChanged = signal<Problem | null>(this);
  readonly measurementChanged = signal<Measurement | null>(this);
  readonly sweepChanged = signal<Sweep | null>(this);
  readonly variantChanged = signal<string>(this);
}

function signal<T>(sender: unknown): Signal<ISubjectModel, T> {
  return new Signal(sender as ISubjectModel);
}
