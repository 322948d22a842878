import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';
import { isCompiled } from '../../model/variants';
import type { ISubjectModel } from '../../interfaces/subject';
import { compilationTitle } from '../../words/compilations';
import { formatCount } from '../../words/format';
import type { Listed } from '../common/graphs';
import { graphsOf } from '../common/graphs';

/**
 * The selection that views share: the variant, and the compilation.
 */
export class Pickers extends ReactWidget {
  constructor(
    private _model: ISubjectModel,
    private _trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-Compilescope-pickers');
    _model.reportChanged.connect(this.update, this);
    _model.variantChanged.connect(this.update, this);
    _model.compilationChanged.connect(this.update, this);
  }

  /**
   * What the open view lists of several compilations; null if it shows one.
   */
  get lists(): Listed | null {
    return this._lists;
  }
  set lists(lists: Listed | null) {
    this._lists = lists;
    this.update();
  }

  protected override render(): JSX.Element | null {
    const { report, variant, compilation, hasAllGraphs } = this._model;
    const trans = this._trans;
    const variants = (report?.variants ?? []).filter(isCompiled);
    if (!report || variants.length === 0) {
      return null;
    }
    const shown = variants.find(({ name }) => name === variant);
    const compilations = shown?.compilations ?? [];
    const listed = this._lists
      ? graphsOf(this._model, variant, this._lists).length
      : 0;
    return (
      <>
        <Picker
          label={report.trace ? trans.__('Process') : trans.__('Variant')}
          caption={
            report.trace
              ? trans.__('The process whose compilations the views show')
              : trans.__(
                  'The variant that single-variant views show; the Code view shows it on one side'
                )
          }
          value={variant}
          onChange={name => {
            this._model.variant = name;
          }}
        >
          {variants.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </Picker>
        {compilations.length > 0 && (
          <Picker
            label={trans.__('Compilation')}
            caption={trans.__(
              'The compilation that single-compilation views show: one frame, compiled once'
            )}
            value={listed > 1 && hasAllGraphs ? '' : compilation}
            onChange={id => {
              if (id) {
                this._model.compilation = id;
              } else {
                this._model.showAllGraphs();
              }
            }}
          >
            {listed > 1 && (
              <option value="">
                {this._lists === 'kernels'
                  ? trans.__('all %1 with kernels', formatCount(listed))
                  : trans.__('all %1 with guards', formatCount(listed))}
              </option>
            )}
            {compilations.map(summary => (
              <option key={summary.id} value={summary.id}>
                {compilationTitle(summary, report.files, trans)}
              </option>
            ))}
          </Picker>
        )}
      </>
    );
  }

  private _lists: Listed | null = null;
}

function Picker(props: {
  label: string;
  caption: string;
  value: string;
  onChange: (value: string) => void;
  children: React.ReactNode;
}): JSX.Element {
  return (
    <label className="jp-Compilescope-picker" title={props.caption}>
      <span className="jp-Compilescope-pickerLabel">{props.label}</span>
      <select
        aria-label={props.label}
        value={props.value}
        onChange={event => props.onChange(event.target.value)}
      >
        {props.children}
      </select>
    </label>
  );
}
