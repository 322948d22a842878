import * as React from 'react';
import type { IStudyOptions } from '../../interfaces/measuring';
import { isKernelBusy } from '../../model/jobs';
import { STUDIES, type StudyName } from '../../protocol/types';
import type { VariantReport } from '../../protocol/types';
import type { IViewContext } from '../views';
import { whyAllFailed } from './states/empty';

/**
 * The props of a button that starts a study.
 */
export interface IStudyProps {
  study: StudyName;
  label: string;

  /**
   * The variants to study; those that the study does not apply to are skipped.
   */
  variants: readonly (Pick<VariantReport, 'name' | 'requested'> & {
    readonly stage: string;
  })[];

  /**
   * What to do if none of them is built; empty if a button beside it says so.
   */
  unbuilt?: string;

  /**
   * What it does, and where; all of it on the kernel's machine if left out.
   */
  options?: IStudyOptions;

  /**
   * Why it cannot be started, apart from the reasons that the button knows;
   * empty if it can.
   */
  obstacle?: string;
  context: IViewContext;
}

/**
 * Starts a study of variants, or says why it cannot be started. A report from a
 * file has no such button.
 */
export function StudyButton(props: IStudyProps): JSX.Element | null {
  const { study, label, variants, context } = props;
  const { summary, duration, for_targets, needs_build } = STUDIES[study];
  const { model, trans } = context;
  const reason = React.useId();
  if (!model.isLive) {
    return null;
  }
  const built = variants
    .filter(
      variant =>
        variant.requested.backend !== null &&
        (variant.requested.target !== null) === for_targets &&
        (variant.stage === 'built' ||
          (!needs_build && variant.stage !== 'failed'))
    )
    .map(variant => variant.name);
  const { job, status } = model;
  // The strip above the view shows what is running.
  const why = isKernelBusy(job)
    ? trans.__('The Jupyter kernel is busy.')
    : status.kind !== 'ready'
      ? trans.__('No kernel is connected.')
      : built.length === 0
        ? (props.unbuilt !== '' &&
            whyAllFailed(model.report?.variants ?? [], trans)) ||
          (props.unbuilt ??
            trans.__(
              'No selected variant is built yet: start a measurement first.'
            ))
        : (props.obstacle ?? '');
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
        // Without particular variants, all that are built are studied.
        disabled={why !== '' || built.length === 0}
        title={trans.__('%1; takes %2.', summary, duration)}
        aria-describedby={why ? reason : undefined}
        onClick={() =>
          void (props.options
            ? model.startStudies([study], built, props.options)
            : model.startStudies([study], built))
        }
      >
        {label}
      </button>
    </span>
  );
}

/**
 * A section of the view: its title, a button, its content.
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
 * The section that a study fills, with its button.
 */
export function StudyPart(
  props: IStudyProps & {
    title: string;

    /**
     * Whether the study has not run. Its description is useful only where it
     * can be run.
     */
    isEmpty?: boolean;

    /**
     * Whether the study can produce anything; otherwise there is no button.
     */
    isPossible?: boolean;
    children: React.ReactNode;
  }
): JSX.Element {
  const { title, isEmpty, isPossible = true, children, ...button } = props;
  const { model, trans } = button.context;
  return (
    <Part
      name={button.study}
      title={title}
      action={isPossible && <StudyButton {...button} />}
    >
      {isEmpty && !model.isLive ? (
        <p className="jp-Compilescope-hint">
          {trans.__('Not measured in this report.')}
        </p>
      ) : (
        children
      )}
    </Part>
  );
}

/**
 * A table that may be wider than the view: it scrolls separately, also by
 * keyboard.
 */
export function ScrollableTable(props: {
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
