import { addIcon, closeIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { IconButton } from '../common/button';
import type { IShape } from './plan';

/**
 * The sets of arguments: the report's own call, and those entered here.
 */
export function Shapes(props: {
  /**
   * The call's subject, and its own arguments by name.
   */
  name: string;
  parameters: readonly string[];

  /**
   * The report's call as text, one line per argument.
   */
  call: readonly string[];
  shapes: readonly IShape[];
  onChange: (shapes: readonly IShape[]) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { name, parameters, call, shapes, onChange, trans } = props;
  const set = (place: number, change: Partial<IShape>) =>
    onChange(
      shapes.map((shape, at) =>
        at === place ? { ...shape, ...change } : shape
      )
    );
  const add = () => {
    // The report's own call remains one of them.
    const first = { name: trans.__('as called'), args: parameters.join(', ') };
    const before =
      shapes.length === 0 && parameters.length > 0 ? [first] : shapes;
    onChange([...before, { name: '', args: '' }]);
  };
  return (
    <div className="jp-Compilescope-shapes">
      {shapes.length === 0 && (
        <p className="jp-Compilescope-muted">
          {call.length > 0
            ? trans.__('As called: %1', call.join('; '))
            : trans.__('As called')}
        </p>
      )}
      {shapes.map((shape, place) => (
        <div
          key={place}
          role="group"
          aria-label={trans.__('Shape %1', place + 1)}
        >
          <input
            type="text"
            value={shape.name}
            placeholder={trans.__('name')}
            aria-label={trans.__('Name of shape %1', place + 1)}
            autoComplete="off"
            spellCheck={false}
            onChange={event => set(place, { name: event.currentTarget.value })}
          />
          <span className="jp-Compilescope-call">
            <code aria-hidden="true">{name}(</code>
            <input
              type="text"
              value={shape.args}
              placeholder={trans.__('arguments, as in a call')}
              aria-label={trans.__(
                'Arguments of shape %1, as in a call of %2',
                place + 1,
                name
              )}
              autoComplete="off"
              spellCheck={false}
              onChange={event =>
                set(place, { args: event.currentTarget.value })
              }
            />
            <code aria-hidden="true">)</code>
          </span>
          <IconButton
            icon={closeIcon}
            label={trans.__('Remove shape %1', place + 1)}
            onClick={() => onChange(shapes.filter((_, at) => at !== place))}
          />
        </div>
      ))}
      <button
        type="button"
        className="jp-Compilescope-button"
        title={trans.__(
          'You can use variables of the notebook and of the call'
        )}
        onClick={add}
      >
        <addIcon.react tag="span" width="14px" height="14px" />
        {trans.__('Add a shape')}
      </button>
    </div>
  );
}
