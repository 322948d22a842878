import * as React from 'react';
import { Job } from './job';
import { Problems } from './problems';
import { Blank, Loading, Strip } from './states';
import { Subjects } from './subjects';
import { Switches } from './switches';
import type { IPartProps } from './types';
import { Variants } from './variants';
import { Verdict } from './verdict';

/**
 * The sidebar: a message while there is nothing, else the report.
 */
export function SidebarBody(props: IPartProps): JSX.Element {
  const { state, trans } = props;
  if (state.subjects.length === 0) {
    return <Blank {...props} />;
  }
  const { report } = state;
  return (
    <>
      <Strip {...props} />
      <Subjects {...props} />
      {report === null ? (
        <>
          {state.problem && <Problems {...props} />}
          <Loading label={trans.__('Getting the report')} />
        </>
      ) : (
        <>
          <Switches {...props} />
          <Job {...props} />
          <Variants {...props} />
          <Verdict {...props} />
          <Problems {...props} />
          <footer className="jp-Compilescope-footer">
            {[
              `torch ${report.environment.torch}`,
              report.subject.device,
              report.environment.cpu
            ]
              .filter(Boolean)
              .join(' · ')}
          </footer>
        </>
      )}
    </>
  );
}
