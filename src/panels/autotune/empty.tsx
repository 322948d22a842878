import * as React from 'react';
import { Empty } from '../common';
import type { IViewContext } from '../views';

/**
 * The modes in which torch tunes.
 */
const TUNING = /^max-autotune/;

const CALL = 'torch.compile(fn, mode="max-autotune")';

/**
 * Says why torch tuned nothing, and how to make it tune.
 */
export function NothingTuned(props: {
  /**
   * The reason in the report.
   */
  why: string;
  variant: string;
  context: IViewContext;
}): JSX.Element {
  const { why, variant, context } = props;
  const { model, trans } = context;
  const shown = model.report?.variants.find(({ name }) => name === variant);
  const mode = shown?.requested.mode ?? 'default';
  const isAsked =
    TUNING.test(mode) || shown?.requested.options.max_autotune === true;
  const tuned = model.report?.variants.find(
    ({ name, filled }) => name !== variant && filled.includes('autotunings')
  );
  if (!isAsked) {
    return (
      <div>
        <Empty
          elsewhere={
            tuned && (
              <button
                type="button"
                className="jp-Compilescope-link"
                onClick={() => {
                  model.variant = tuned.name;
                }}
              >
                {trans.__('Show the autotunings of %1', tuned.name)}
              </button>
            )
          }
          what={trans.__('Nothing was autotuned')}
          why={why || trans.__('%1 was compiled in %2 mode.', variant, mode)}
          remedy={
            tuned
              ? ''
              : trans.__(
                  'In max-autotune mode, torch measures library calls, templates and launch configurations against each other. Set it in the call:'
                )
          }
        />
        {!tuned && (
          <div className="jp-Compilescope-autotuneTry">
            <code>{CALL}</code>
            {model.isLive && (
              <button
                type="button"
                className="jp-Compilescope-button jp-mod-accept"
                disabled={model.pending}
                onClick={() => model.setRequested({ mode: 'max-autotune' })}
              >
                {trans.__('Set mode to max-autotune')}
              </button>
            )}
          </div>
        )}
      </div>
    );
  }
  const isBuilt = shown?.stage === 'built';
  return (
    <div>
      <Empty
        what={trans.__('Nothing was autotuned')}
        why={
          why ||
          (isBuilt
            ? trans.__(
                'No operator here has more than one implementation on this device.'
              )
            : trans.__(
                'Only the code was generated: torch autotunes when it builds.'
              ))
        }
        remedy={
          isBuilt || !model.isLive
            ? ''
            : trans.__('Build and time the variant.')
        }
      />
      {!isBuilt && model.isLive && (
        <div className="jp-Compilescope-autotuneTry">
          <button
            type="button"
            className="jp-Compilescope-button jp-mod-accept"
            onClick={() => void model.run()}
          >
            {trans.__('Build and time')}
          </button>
        </div>
      )}
    </div>
  );
}
