import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Startup, VariantReport } from '../../protocol/types';
import { FIRST_CALL_PARTS } from '../../protocol/types';
import { AbsentValue } from '../common';
import { formatBytes, formatSeconds } from '../../words/format';
import { TABLES } from '../../words/tables';
import { FirstBar, partClass } from '../common/firstBar';
import { declaredHeads } from '../common/tables/declared';
import { Figures } from '../common/tables/figures';

/**
 * A first call of a variant.
 */
interface IFirst {
  readonly name: string;
  readonly startup: Startup;
}

/**
 * First calls in new processes, and after how many calls a variant pays off.
 */
export function StartupsPart(props: {
  variants: readonly VariantReport[];
  trans: TranslationBundle;
}): JSX.Element {
  const { variants, trans } = props;
  const firsts = variants.flatMap(({ name, startups }): IFirst[] =>
    startups.map(startup => ({ name, startup }))
  );
  const paybacks = variants.flatMap(({ name, paybacks }) =>
    paybacks.flatMap(({ text }) => (text ? [{ name, text }] : []))
  );
  return (
    <>
      {paybacks.length > 0 && (
        <ul className="jp-Compilescope-paybacks">
          {paybacks.map(({ name, text }) => (
            <li key={`${name} ${text}`}>
              <strong>{name}</strong> {text}
            </li>
          ))}
        </ul>
      )}
      {firsts.length > 0 ? (
        <FirstCalls firsts={firsts} trans={trans} />
      ) : (
        <p className="jp-Compilescope-hint">
          {variants.find(variant => variant.absent.startups)?.absent.startups ??
            trans.__(
              'The first call with cold and with warm caches, each in a new process, with and without precompiled C++ headers.'
            )}
        </p>
      )}
    </>
  );
}

function FirstCalls(props: {
  firsts: readonly IFirst[];
  trans: TranslationBundle;
}): JSX.Element {
  const { firsts, trans } = props;
  const parts = Object.keys(FIRST_CALL_PARTS).filter(part =>
    firsts.some(({ startup }) => (startup.parts[part] ?? 0) > 0)
  );
  const longest = Math.max(
    ...firsts.map(({ startup }) => startup.first_call_s ?? 0)
  );
  const hasHeaders = firsts.some(({ startup }) => startup.headers_s !== null);
  const firstHeads = declaredHeads('startups', trans, {
    header_build: hasHeaders && {}
  });
  return (
    <Figures
      label={trans.__('First calls as a table')}
      name="startups"
      caption={trans.__('First calls, each in a new process')}
      heads={firstHeads.flatMap(head =>
        head && head.spoken
          ? [
              head,
              ...parts.map(part => ({
                label: (
                  <>
                    <span className={partClass(part)} aria-hidden="true" />
                    {FIRST_CALL_PARTS[part]}
                  </>
                ),
                isNumber: true
              }))
            ]
          : [head]
      )}
    >
      {firsts.map((first, index) => (
        <FirstCall
          key={index}
          first={first}
          parts={parts}
          longest={longest}
          hasHeaders={hasHeaders}
          trans={trans}
        />
      ))}
    </Figures>
  );
}

function FirstCall(props: {
  first: IFirst;
  parts: readonly string[];
  longest: number;
  hasHeaders: boolean;
  trans: TranslationBundle;
}): JSX.Element {
  const { first, parts, longest, trans } = props;
  const { name, startup } = first;
  const { problem } = startup;
  const { caches, headers } = TABLES.startups(trans);
  const seconds = (value: number | null | undefined) =>
    value ? formatSeconds(value) : '–';
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{caches.words[startup.cache]}</td>
      <td>
        {headers.words[startup.precompiled_headers ? 'precompiled' : 'plain']}
      </td>
      <td className="jp-mod-number">
        {startup.first_call_s === null ? (
          <AbsentValue why={problem?.what ?? trans.__('Not measured')} />
        ) : (
          <strong>{formatSeconds(startup.first_call_s)}</strong>
        )}
      </td>
      {problem ? (
        <td colSpan={parts.length + 1 + Number(props.hasHeaders)}>
          <span className="jp-mod-down">{problem.what}</span> {problem.why}
        </td>
      ) : (
        <>
          <td>
            <FirstBar parts={startup.parts} longest={longest} />
          </td>
          {parts.map(part => (
            <td key={part} className="jp-mod-number">
              {seconds(startup.parts[part])}
            </td>
          ))}
          {props.hasHeaders && (
            <td className="jp-mod-number">{seconds(startup.headers_s)}</td>
          )}
        </>
      )}
      <td className="jp-mod-number">{seconds(startup.imports_s)}</td>
      <td className="jp-mod-number">
        {startup.memory_bytes === null
          ? '–'
          : formatBytes(startup.memory_bytes)}
      </td>
    </tr>
  );
}
