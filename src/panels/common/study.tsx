import * as React from 'react';
import { isActive } from '../../model/jobs';
import type { StudyName, VariantReport } from '../../protocol/types';
import type { IViewContext } from '../views';

/**
 * Starts a closer look at the variants that are measured; says why it cannot. A
 * report from a file has no such button.
 */
export function StudyButton(props: {
  study: StudyName;
  label: string;

  /**
   * What it does, and how long that takes.
   */
  title: string;

  /**
   * The variants to look at; those that are built count.
   */
  variants: readonly (Pick<VariantReport, 'name' | 'requested'> & {
    readonly stage: string;
  })[];

  /**
   * What to do where none of them is built.
   */
  unbuilt?: string;
  context: IViewContext;
}): JSX.Element | null {
  const { study, label, title, variants, context } = props;
  const { model, trans } = context;
  const reason = React.useId();
  if (!model.isLive) {
    return null;
  }
  const built = variants
    .filter(
      each =>
        each.requested.backend !== null &&
        (FOR_TARGETS.has(study)
          ? each.requested.target !== null && each.stage !== 'failed'
          : each.requested.target === null &&
            (each.stage === 'built' ||
              (UNBUILT.has(study) && each.stage !== 'failed')))
    )
    .map(each => each.name);
  const { job, status } = model;
  const isOn = isActive(job) && job?.kind === 'study';
  const why = isActive(job)
    ? isOn
      ? job?.step || trans.__('At it…')
      : trans.__('The kernel is at work.')
    : status.kind !== 'ready'
      ? trans.__('There is no kernel to ask.')
      : built.length === 0
        ? (props.unbuilt ??
          trans.__(
            'No ticked variant is built yet: start a measurement first.'
          ))
        : '';
  return (
    <span className="jp-Compilescope-study">
      {why && (
        <span id={reason} className="jp-Compilescope-hint">
          {why}
        </span>
      )}
      <button
        type="button"
        className="jp-Compilescope-button"
        disabled={why !== ''}
        title={title}
        aria-describedby={why ? reason : undefined}
        onClick={() => void model.startStudies([study], built)}
      >
        {label}
      </button>
    </span>
  );
}

/**
 * What is looked at of variants for a device that is not there, which no other
 * study can: nothing runs on it. They need not be built.
 */
const FOR_TARGETS: ReadonlySet<StudyName> = new Set(['assembly', 'check']);

/**
 * What needs no build of the variant: it makes its own, or none.
 */
const UNBUILT: ReadonlySet<StudyName> = new Set(['package', 'aot']);

/**
 * A part of the view: its title, a button, what there is.
 */
export function Part(props: {
  title: string;
  name: string;
  action?: React.ReactNode;
  children: React.ReactNode;
}): JSX.Element {
  const id = React.useId();
  return (
    <section
      className={`jp-Compilescope-part jp-mod-${props.name}`}
      aria-labelledby={id}
    >
      <header>
        <h3 id={id}>{props.title}</h3>
        {props.action}
      </header>
      {props.children}
    </section>
  );
}

/**
 * A table that may be wider than the view: it scrolls by itself, by keys too.
 */
export function Wide(props: {
  label: string;
  children: React.ReactNode;
}): JSX.Element {
  return (
    <div
      className="jp-Compilescope-wide"
      role="group"
      aria-label={props.label}
      tabIndex={0}
    >
      {props.children}
    </div>
  );
}
