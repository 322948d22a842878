import * as React from 'react';
import type { Help, VariantReport, Verdict } from '../../protocol/types';
import { Badge, CodeBlock } from '../common';
import { Part } from '../common/study';
import type { IViewContext } from '../views';

/**
 * What limits each variant's time, and what usually helps. The verdict that all
 * views show comes first. Without any verdict, the section is omitted.
 */
export function Verdicts(props: {
  variants: readonly VariantReport[];
  context: IViewContext;
}): JSX.Element | null {
  const { variants, context } = props;
  const { model, trans } = context;
  const judged = variants
    .filter(variant => variant.verdict !== null)
    .sort(
      (a, b) =>
        Number(b.name === model.variant) - Number(a.name === model.variant)
    );
  const limit = model.report?.overview?.limit;
  const why = limit?.basis === 'unknown' ? limit.text : '';
  return judged.length === 0 && !why ? null : (
    <Part name="verdict" title={trans.__('Verdict')}>
      {judged.length === 0 ? (
        <p className="jp-Compilescope-hint">{why}</p>
      ) : (
        <div className="jp-Compilescope-verdicts">
          {judged.map(({ name, verdict }) => (
            <Card key={name} name={name} verdict={verdict!} context={context} />
          ))}
        </div>
      )}
    </Part>
  );
}

function Card(props: {
  name: string;
  verdict: Verdict;
  context: IViewContext;
}): JSX.Element {
  const { name, verdict, context } = props;
  const { trans } = context;
  return (
    <article className="jp-Compilescope-card">
      <header>
        <h4>{name}</h4>
        <Badge
          kind={verdict.bound === 'unclear' ? 'plain' : 'info'}
          title={verdict.meaning}
        >
          {verdict.title}
        </Badge>
        {verdict.estimated && (
          <Badge
            kind="warning"
            title={trans.__('Computed for a device that is not available')}
          >
            {trans.__('estimated, not measured')}
          </Badge>
        )}
      </header>
      <p>{verdict.evidence}</p>
      {verdict.helps.length > 0 && (
        <ul
          className="jp-Compilescope-helps"
          aria-label={trans.__('What usually helps')}
        >
          {verdict.helps.map((help, index) => (
            <li key={index}>
              <HelpItem help={help} context={context} />
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}

function HelpItem(props: { help: Help; context: IViewContext }): JSX.Element {
  const { help, context } = props;
  const { model, trans } = context;
  const isThere = model.report?.variants.some(
    variant => variant.name === help.variant
  );
  return (
    <>
      <p>
        <strong>{help.what}</strong>{' '}
        <MeasuredGain help={help} context={context} />
      </p>
      {help.why && <p className="jp-Compilescope-muted">{help.why}</p>}
      {help.code && (
        <CodeBlock
          code={help.code}
          label={trans.__('Code for %1', help.what)}
          trans={trans}
        />
      )}
      {help.variant && isThere && (
        <button
          type="button"
          className="jp-Compilescope-link"
          onClick={() => model.showVariant(help.variant)}
        >
          {trans.__('Show the variant %1', help.variant)}
        </button>
      )}
    </>
  );
}

/**
 * The measured gain, if there is one.
 */
function MeasuredGain(props: {
  help: Help;
  context: IViewContext;
}): JSX.Element {
  const { speedup } = props.help;
  const { trans } = props.context;
  if (speedup === null) {
    return (
      <span className="jp-Compilescope-muted">
        {trans.__('not measured here')}
      </span>
    );
  }
  const { standing, text, detail } = speedup;
  return (
    <Badge
      kind={
        standing === 'faster'
          ? 'good'
          : standing === 'slower'
            ? 'warning'
            : 'plain'
      }
      title={detail}
    >
      {trans.__('measured: %1', text)}
    </Badge>
  );
}
