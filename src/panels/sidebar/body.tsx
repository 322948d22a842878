import * as React from 'react';
import { Job } from './job';
import { Problems } from './problems';
import { Blank, Loading, Strip } from './states';
import { Subjects } from './subjects';
import { Switches } from './switches/switches';
import type { IPartProps } from './types';
import { Variants } from './variants/variants';
import { Verdict } from './verdict';
import { Tiers } from './tiers';
import { Watch } from './watch';

/**
 * The sidebar: a message while there is no report, otherwise the report.
 */
export function SidebarBody(props: IPartProps): JSX.Element {
  const { state, trans } = props;
  const isReady = state.isLive && state.status.kind === 'ready';
  if (state.subjects.length === 0) {
    return (
      <>
        <Blank {...props} />
        {isReady && <Watch {...props} />}
        {isReady && <Tiers {...props} />}
      </>
    );
  }
  const { report } = state;
  const isWatch = report?.subject.kind === 'watch';
  return (
    <>
      <Strip {...props} />
      <Subjects {...props} />
      {state.isLive && <Watch {...props} />}
      <Tiers {...props} />
      {report === null ? (
        <>
          {state.problem ? (
            <Problems {...props} />
          ) : (
            <Loading label={trans.__('Getting the report')} trans={trans} />
          )}
        </>
      ) : (
        <>
          {state.isLive && !isWatch && (
            <>
              <Switches {...props} />
              <Job {...props} />
            </>
          )}
          {!state.isLive && (
            <p className="jp-Compilescope-hint jp-mod-file">
              {state.isKept
                ? trans.__(
                    'Its kernel is gone: you can view and save the report, but not build or time variants.'
                  )
                : trans.__(
                    'From a file: you can view the report, but not build or time variants.'
                  )}
            </p>
          )}
          {!isWatch && (
            <>
              <Variants {...props} />
              <Verdict {...props} />
            </>
          )}
          <Problems {...props} />
          <footer
            className="jp-Compilescope-footer"
            title={report.overview?.environment}
          >
            {report.overview?.device}
          </footer>
        </>
      )}
    </>
  );
}
