import * as React from 'react';
import { isOfAnotherGraph } from '../../model/wrappers';
import type { Decision, Launch, SourceLine } from '../../protocol/types';
import { DECISIONS_TITLE } from '../../protocol/types';
import { AbsentValue, Badge, DecisionList, Fact, SourceLink } from '../common';
import {
  formatBytes,
  formatMicroseconds,
  formatQuantity
} from '../../words/format';
import type { IViewContext } from '../views';
import { Compiled } from './compiled';
import { Descriptors } from './descriptors';
import { Estimate } from '../common/estimate';
import { languageTitle, resourceText, sumText } from './phrases';
import { LeastTime } from './targetColumns';
import { directionTitle } from '../../words/directions';
import { Plan } from './plan';
import { ReproducerPart } from '../common/reproducer';
import type { IRow } from './rows';

/**
 * The maximum number of lines of the user's code that are listed.
 */
const MAX_SOURCES = 12;

/**
 * The details of one kernel.
 *
 * @param props.onSource - Shows its source; null without a source.
 */
export function Details(props: {
  row: IRow;
  context: IViewContext;
  origin: object;
  onSource: (() => void) | null;
  onLaunch: (launch: Launch) => void;

  /**
   * The name of the device that the code is for, if it is not available; null
   * if it is the device of the arguments.
   */
  target: string | null;

  /**
   * The decisions about it without that device.
   */
  decisions: readonly Decision[];
  onForm: (form: string, config: string) => void;
}): JSX.Element {
  const { row, context, origin, onSource, onLaunch, target } = props;
  const { trans } = context;
  const { kernel, sources } = row;
  const reasons = Object.entries(kernel.absent);
  const symbols = Object.entries(kernel.estimated_for);
  const unknown = trans.__('Not estimated for this kernel');
  const [isReproduced, setReproduced] = React.useState(false);
  return (
    <section
      className="jp-Compilescope-kernel"
      aria-label={trans.__('Kernel %1', kernel.name)}
    >
      <header>
        <h3>
          <code>{kernel.name}</code>
        </h3>
        <Badge>{languageTitle(kernel.language, trans)}</Badge>
        <Badge>{directionTitle(kernel.direction, trans)}</Badge>
        {kernel.descriptors.length > 0 && <Badge>{trans.__('TMA')}</Badge>}
        {onSource ? (
          <button
            type="button"
            className="jp-Compilescope-button"
            onClick={onSource}
          >
            {trans.__('Open source')}
          </button>
        ) : (
          <span className="jp-Compilescope-muted">
            {kernel.language === 'extern'
              ? trans.__('Extern kernel: no generated source.')
              : trans.__('The source is not in the report.')}
          </span>
        )}
        {context.model.isLive && (
          <button
            type="button"
            className="jp-Compilescope-button"
            title={trans.__(
              'A program that runs this kernel alone, tried in a new process.'
            )}
            aria-expanded={isReproduced}
            onClick={() => setReproduced(!isReproduced)}
          >
            {trans.__('Standalone program')}
          </button>
        )}
      </header>
      <dl>
        <Fact label={trans.__('Launches')}>{row.launches.length}</Fact>
        {kernel.time && (
          <Fact label={trans.__('Time')}>
            {kernel.time.text.split('\n').join(' · ')}
          </Fact>
        )}
        {target !== null && (
          <Fact label={trans.__('Time on %1', target)}>
            <LeastTime row={row} trans={trans} />
          </Fact>
        )}
        <Fact label={trans.__('Reads and writes')}>
          <Estimate
            value={row.bytes.value}
            of={sumText(row.bytes, formatBytes, trans)}
            format={formatBytes}
            why={kernel.absent.estimated_bytes ?? unknown}
            trans={trans}
          />
        </Fact>
        {row.operations.value !== 0 && (
          <>
            <Fact label={trans.__('Operations')}>
              <Estimate
                value={row.operations.value}
                of={sumText(row.operations, formatQuantity, trans)}
                format={formatQuantity}
                why={kernel.absent.estimated_operations ?? unknown}
                trans={trans}
              />
            </Fact>
            <Fact label={trans.__('Operations per byte')}>
              <Estimate
                value={row.intensity}
                format={formatQuantity}
                why={unknown}
                trans={trans}
              />
            </Fact>
          </>
        )}
        {symbols.length > 0 && (
          <Fact label={trans.__('Estimated for')}>
            <code>
              {symbols.map(([name, value]) => `${name} = ${value}`).join(', ')}
            </code>
          </Fact>
        )}
        {kernel.grid && (
          <Fact label={trans.__('Grid')}>
            <code>{kernel.grid}</code>
          </Fact>
        )}
        {Object.entries(target === null ? kernel.resources : {})
          .map(([name, value]) => resourceText(name, value))
          .map(([label, text]) => (
            <Fact key={label} label={label}>
              {text}
            </Fact>
          ))}
      </dl>
      {target !== null && kernel.language === 'triton' && (
        <Compiled
          kernel={kernel}
          target={target}
          onForm={props.onForm}
          trans={trans}
        />
      )}
      {isReproduced && (
        <ReproducerPart
          part={{
            variant: context.model.variant,
            compilation: row.compilation,
            kernel: kernel.name
          }}
          context={context}
        />
      )}
      <div className="jp-Compilescope-kernelParts">
        {props.decisions.length > 0 && (
          <Part title={DECISIONS_TITLE}>
            <DecisionList decisions={props.decisions} />
          </Part>
        )}
        {kernel.descriptors.length > 0 && (
          <Part title={trans.__('TMA descriptors')}>
            <Descriptors descriptors={kernel.descriptors} trans={trans} />
          </Part>
        )}
        {kernel.modules.length > 0 && (
          <Part title={trans.__('Modules')}>
            <p className="jp-Compilescope-kernelOps">
              {kernel.modules.map(module => (
                <code key={module}>{module}</code>
              ))}
            </p>
          </Part>
        )}
        <Plan kernel={kernel} trans={trans} />
        {kernel.ops.length > 0 && (
          <Part title={trans.__('Fused operators')}>
            <p className="jp-Compilescope-kernelOps">
              {kernel.ops.map((op, index) => (
                <code key={index}>{op}</code>
              ))}
            </p>
          </Part>
        )}
        <Part title={trans.__('Launches in the Python wrapper')}>
          <Launches launches={row.python} onOpen={onLaunch} context={context} />
        </Part>
        <Part title={trans.__('Launches in the C++ wrapper')}>
          <Launches launches={row.cpp} onOpen={onLaunch} context={context} />
        </Part>
        <Part title={trans.__('Your code')}>
          <Sources
            sources={sources}
            why={
              kernel.absent.sources ??
              trans.__('torch records no line of your code for it.')
            }
            context={context}
            origin={origin}
          />
        </Part>
      </div>
      {reasons.length > 0 && (
        <ul className="jp-Compilescope-hint">
          {reasons.map(([name, why]) => (
            <li key={name}>
              {name}: {why}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Part(props: {
  title: string;
  children: React.ReactNode;
}): JSX.Element {
  return (
    <div>
      <h4>{props.title}</h4>
      {props.children}
    </div>
  );
}

function Launches(props: {
  launches: readonly Launch[];
  onOpen: (launch: Launch) => void;
  context: IViewContext;
}): JSX.Element {
  const { launches, onOpen } = props;
  // The estimates of equal launches are shown once, above.
  const isEach = launches.some(
    launch => launch.estimated_bytes !== launches[0].estimated_bytes
  );
  const { trans } = props.context;
  if (launches.length === 0) {
    return (
      <AbsentValue
        why={trans.__('This wrapper does not launch it, or was not generated')}
      />
    );
  }
  return (
    <ul className="jp-Compilescope-kernelLaunches">
      {launches.map((launch, index) => (
        <li key={index}>
          {isOfAnotherGraph(launch) ? (
            <span>{launch.line}</span>
          ) : (
            <button
              type="button"
              className="jp-Compilescope-link jp-mod-code"
              aria-label={trans.__(
                'Show line %1 of variant %2 in the code',
                launch.line,
                launch.variant
              )}
              onClick={() => onOpen(launch)}
            >
              {launch.line}
            </button>
          )}
          {launch.time && (
            <span
              className="jp-Compilescope-launchTime"
              title={launch.time.text}
            >
              {formatMicroseconds(launch.time.us)}
            </span>
          )}
          <code title={launch.text}>{launch.text}</code>
          {isEach && launch.estimated_bytes !== null && (
            <Estimate
              value={launch.estimated_bytes}
              format={formatBytes}
              why=""
              trans={trans}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

function Sources(props: {
  sources: readonly SourceLine[];
  why: string;
  context: IViewContext;
  origin: object;
}): JSX.Element {
  const { sources, why, context, origin } = props;
  const [isWhole, setWhole] = React.useState(false);
  if (sources.length === 0) {
    return <p className="jp-Compilescope-muted">{why}</p>;
  }
  const shown = isWhole ? sources : sources.slice(0, MAX_SOURCES);
  return (
    <>
      <ul className="jp-Compilescope-kernelSources">
        {shown.map((where, index) => (
          <li key={index}>
            <SourceLink
              where={where}
              context={context}
              origin={origin}
              isWithCode
            />
          </li>
        ))}
      </ul>
      {shown.length < sources.length && (
        <button
          type="button"
          className="jp-Compilescope-link"
          onClick={() => setWhole(true)}
        >
          {context.trans.__('%1 more', sources.length - shown.length)}
        </button>
      )}
    </>
  );
}
