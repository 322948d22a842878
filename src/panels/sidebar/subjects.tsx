import { closeIcon, codeIcon, downloadIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Subject, SubjectSummary } from '../../protocol/types';
import { IconButton } from '../common/button';
import { formatPlace } from '../../words/format';
import { Section } from './section';
import type { IPartProps } from './types';

/**
 * The icon of each kind of subject.
 */
const SIGNS: Record<Subject['kind'], string> = {
  function: 'ƒ',
  lambda: 'λ',
  method: 'm',
  module: '◈',
  callable: '()',
  watch: '◉',
  trace: '≡',
  package: '▣'
};

/**
 * The inspected subjects, one of which is selected.
 */
export function Subjects({ state, actions, trans }: IPartProps): JSX.Element {
  const { subjects, subject, report } = state;
  const list = React.useRef<HTMLUListElement>(null);
  const index = subjects.findIndex(summary => summary.subject.id === subject);
  const onKeyDown = (event: React.KeyboardEvent) => {
    const next = {
      ArrowDown: Math.min(index + 1, subjects.length - 1),
      ArrowUp: Math.max(index - 1, 0),
      Home: 0,
      End: subjects.length - 1
    }[event.key];
    if (next === undefined) {
      return;
    }
    event.preventDefault();
    actions.selectSubject(subjects[next].subject.id);
    (list.current?.children[next] as HTMLElement | undefined)?.focus();
  };
  const isGone = state.status.kind === 'dead' || !state.isLive;
  return (
    <Section
      name="subjects"
      title={trans.__('Subjects')}
      actions={
        <>
          <IconButton
            icon={codeIcon}
            label={trans.__('Open the generated code')}
            onClick={() => actions.openView('code')}
            disabled={!report}
          />
          <IconButton
            icon={downloadIcon}
            label={trans.__('Save the report as HTML')}
            onClick={() => actions.save('html')}
            disabled={!report || (isGone && !state.isKept)}
          />
          <IconButton
            icon={closeIcon}
            label={trans.__('Forget the selected subject')}
            onClick={actions.forget}
            disabled={subject === null || (isGone && !state.isKept)}
          />
        </>
      }
    >
      <ul
        ref={list}
        className="jp-Compilescope-subjects"
        role="listbox"
        aria-label={trans.__('Inspected subjects')}
        onKeyDown={onKeyDown}
      >
        {subjects.map((summary, position) => (
          <Row
            key={summary.subject.id}
            heading={headingOf(subjects, position, trans)}
            summary={summary}
            files={report?.files ?? {}}
            isSelected={summary.subject.id === subject}
            isGone={state.status.kind === 'dead'}
            isEarlier={state.earlier.includes(summary.subject.id)}
            isReachable={position === Math.max(index, 0)}
            onSelect={actions.selectSubject}
            trans={trans}
          />
        ))}
      </ul>
    </Section>
  );
}

/**
 * The heading above the first of several ranks of one run.
 */
function headingOf(
  subjects: readonly SubjectSummary[],
  position: number,
  trans: TranslationBundle
): string {
  const { group, subject, ranks } = subjects[position];
  return group !== '' && subjects[position - 1]?.group !== group
    ? trans.__('%1 on %2 ranks', subject.name, ranks)
    : '';
}

function Row(props: {
  heading: string;
  summary: SubjectSummary;
  files: Record<string, string>;
  isSelected: boolean;
  isEarlier: boolean;
  isGone: boolean;
  isReachable: boolean;
  onSelect: (id: string) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { summary, isSelected, trans } = props;
  const { subject, problems } = summary;
  const { kind, where } = subject;
  return (
    <li
      className="jp-Compilescope-subject"
      role="option"
      aria-selected={isSelected}
      tabIndex={props.isReachable ? 0 : -1}
      onClick={() => props.onSelect(subject.id)}
      onKeyDown={event => {
        if (event.key === 'Enter' || event.key === ' ') {
          event.preventDefault();
          props.onSelect(subject.id);
        }
      }}
    >
      {props.heading && (
        <span className="jp-Compilescope-subjectRun">{props.heading}</span>
      )}
      <span className="jp-Compilescope-sign" title={kind} aria-label={kind}>
        {SIGNS[kind]}
      </span>
      <span className="jp-Compilescope-subjectTitle">
        <span className="jp-Compilescope-subjectName" title={subject.name}>
          {summary.rank === null
            ? subject.name
            : trans.__('rank %1', summary.rank)}
        </span>
        {problems > 0 && (
          <span
            className="jp-Compilescope-count jp-mod-warn"
            title={trans._n('%1 problem', '%1 problems', problems)}
          >
            {problems}
          </span>
        )}
        {where && (
          <span
            className="jp-Compilescope-muted"
            title={`${where.file}:${where.line}`}
          >
            {formatPlace(where, props.files, trans)}
          </span>
        )}
      </span>
      {props.isEarlier && (
        <span className="jp-Compilescope-earlier">
          {props.isGone
            ? trans.__('its kernel is gone')
            : trans.__('from before the restart')}
        </span>
      )}
      {isSelected && subject.arguments.length > 0 && (
        <ul
          className="jp-Compilescope-arguments"
          aria-label={trans.__('Arguments')}
        >
          {subject.arguments.map((argument, position) => (
            <li key={position} title={argument}>
              {argument}
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}
