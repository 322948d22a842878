import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Problems, problemsOf } from '../panels/sidebar/problems';
import { signalsOf, stateOf } from '../panels/sidebar/state';
import type {
  IPartProps,
  ISidebarActions,
  ISidebarState
} from '../panels/sidebar/types';
import { Tiers } from '../panels/sidebar/tiers';
import { Variants } from '../panels/sidebar/variants/variants';
import { Verdict } from '../panels/sidebar/verdict';
import type { ViewTarget } from '../panels/views';
import type { ISubjectModel } from '../interfaces/subject';

/**
 * What the sidebar tells of a report: variants, times, tiers, problems. Below the views,
 * in a narrow window, it is one line until it is opened: the Overview tells the same.
 */
export class Aside extends ReactWidget {
  constructor(
    private _model: ISubjectModel,
    private _trans: TranslationBundle,
    private _open: (view: ViewTarget) => void
  ) {
    super();
    this.addClass('jp-Compilescope-sidebar');
    this.addClass('jp-Compilescope-page-aside');
    this.addClass('jp-mod-folded');
    this.node.setAttribute('role', 'complementary');
    for (const signal of signalsOf(_model)) {
      signal.connect(this.update, this);
    }
  }

  protected override render(): JSX.Element {
    const props: IPartProps = {
      state: stateOf(this._model),
      actions: this._actions,
      trans: this._trans
    };
    const hasVariants = (props.state.report?.variants.length ?? 0) > 0;
    const isTimed = props.state.report?.variants.some(
      variant => variant.median_us !== null
    );
    const isFolded = this.hasClass('jp-mod-folded');
    const title = this._title(props.state);
    this.node.setAttribute('aria-label', title);
    const { number } = problemsOf(props.state);
    return (
      <>
        <button
          type="button"
          className="jp-Compilescope-page-fold"
          aria-expanded={!isFolded}
          onClick={this._fold}
        >
          <span aria-hidden="true">{isFolded ? '▴' : '▾'}</span> {title}
          {number > 0 && (
            <>
              {' '}
              <span className="jp-Compilescope-count">{number}</span>
            </>
          )}
        </button>
        {hasVariants && <Variants {...props} />}
        {isTimed && <Verdict {...props} />}
        <Tiers {...props} />
        <Problems {...props} />
      </>
    );
  }

  /**
   * What the sidebar shows of such a report.
   */
  private _title({ report }: ISidebarState): string {
    return report?.trace
      ? this._trans.__('Processes and problems')
      : this._trans.__('Variants and problems');
  }

  private _fold = (): void => {
    this.toggleClass('jp-mod-folded');
    this.update();
    // The style sheet says how high it may be.
    this.parent?.fit();
  };

  private _nothing = (): void => {
    // A page has no kernel to ask.
  };

  private _actions: ISidebarActions = {
    selectSubject: this._nothing,
    setRequested: this._nothing,
    showVariant: name => this._model.showVariant(name),
    goTo: ({ file, line }) =>
      this._model.select({ source: { file, line }, origin: this }),
    run: this._nothing,
    resume: this._nothing,
    runAgain: this._nothing,
    cancel: this._nothing,
    openView: (view, variant) => {
      if (variant) {
        this._model.variant = variant;
      }
      this._open(view);
    },
    save: this._nothing,
    forget: this._nothing,
    pinTier: this._nothing,
    setWatch: this._nothing,
    showWatched: this._nothing,
    load: this._nothing,
    retry: this._nothing
  };
}
