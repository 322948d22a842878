import type { TranslationBundle } from '@jupyterlab/translation';
import { caretDownIcon, ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';
import type { IView, ViewId } from '../views';
import type { ICount } from './counts';
import { describe, ViewMenu } from './menu';

/**
 * The tabs of the views. Arrow keys walk along them; Enter or a click opens
 * one, since a view may have to fetch what it shows.
 */
export class Tabs extends ReactWidget {
  constructor(private _options: Tabs.IOptions) {
    super();
    this.addClass('jp-Compilescope-tabs');
  }

  override dispose(): void {
    this._menu?.dispose();
    super.dispose();
  }

  /**
   * What is shown.
   */
  set state(state: Tabs.IState) {
    this._state = state;
    this.update();
  }

  protected override render(): JSX.Element | null {
    return (
      this._state && (
        <TabRow
          {...this._options}
          {...this._state}
          showMenu={anchor => this._showMenu(anchor)}
        />
      )
    );
  }

  private _showMenu(anchor: HTMLElement): void {
    this._menu?.dispose();
    this._menu = new ViewMenu(this._options, this._state!);
    this._menu.openAt(anchor);
  }

  private _menu: ViewMenu | null = null;
  private _state: Tabs.IState | null = null;
}

/**
 * The namespace for `Tabs` statics.
 */
export namespace Tabs {
  /**
   * What tabs need.
   */
  export interface IOptions {
    views: readonly IView[];
    tabId: (view: ViewId) => string;
    panelId: (view: ViewId) => string;
    open: (view: ViewId) => void;

    /**
     * Opens a view in a panel of its own; null where there can be none.
     */
    beside: ((view: ViewId) => void) | null;
    trans: TranslationBundle;
  }

  /**
   * What changes.
   */
  export interface IState {
    current: ViewId;
    counts: Partial<Record<ViewId, ICount>>;

    /**
     * The views that have nothing to show, and why.
     */
    nothing: Partial<Record<ViewId, string>>;
  }
}

function TabRow(
  props: Tabs.IOptions &
    Tabs.IState & { showMenu: (anchor: HTMLElement) => void }
): JSX.Element {
  const { views, current, counts, nothing, trans } = props;
  const list = React.useRef<HTMLDivElement>(null);
  const cut = useCut(list);
  const isCut = cut.before || cut.after;
  React.useEffect(() => {
    const reveal = () => {
      const tab = list.current?.querySelector('[aria-selected="true"]');
      tab?.scrollIntoView?.({ block: 'nearest', inline: 'nearest' });
    };
    // Also when the panel becomes narrower.
    const observer = new ResizeObserver(reveal);
    observer.observe(list.current!);
    reveal();
    return () => observer.disconnect();
  }, [current, isCut]);
  return (
    <>
      <div
        ref={list}
        className={classes('jp-Compilescope-tabList', {
          'jp-mod-cutBefore': cut.before,
          'jp-mod-cutAfter': cut.after
        })}
        role="tablist"
        aria-label={trans.__('Views')}
        onKeyDown={walk}
        onWheel={roll}
      >
        {views.map((view, index) => (
          <button
            key={view.id}
            type="button"
            role="tab"
            id={props.tabId(view.id)}
            className={classes('jp-Compilescope-tab', {
              'jp-mod-first':
                index > 0 && view.group !== views[index - 1].group,
              'jp-mod-nothing': view.id in nothing
            })}
            aria-selected={view.id === current}
            aria-controls={props.panelId(view.id)}
            tabIndex={view.id === current ? 0 : -1}
            title={describe(view, nothing[view.id], trans)}
            onClick={() => props.open(view.id)}
          >
            {view.label(trans)}
            <Badge count={counts[view.id]} />
          </button>
        ))}
      </div>
      {(isCut || props.beside) && (
        <button
          type="button"
          className="jp-Compilescope-tabMenu"
          aria-haspopup="menu"
          aria-label={trans.__('All views')}
          title={trans.__('All views')}
          onClick={event => props.showMenu(event.currentTarget)}
        >
          <caretDownIcon.react tag="span" elementSize="normal" />
        </button>
      )}
    </>
  );
}

function Badge({ count }: { count: ICount | undefined }): JSX.Element | null {
  return count ? (
    <span className="jp-Compilescope-tabCount" title={count.text}>
      <span aria-hidden="true">{count.count}</span>
      <span className="jp-Compilescope-heard">{`, ${count.text}`}</span>
    </span>
  ) : null;
}

/**
 * Move the focus along the tabs. Only the open one is in the page's order, so
 * that Tab leads on to the view.
 */
function walk(event: React.KeyboardEvent<HTMLElement>): void {
  const tabs = [...event.currentTarget.querySelectorAll<HTMLElement>('button')];
  const at = tabs.indexOf(document.activeElement as HTMLElement);
  const next = {
    ArrowRight: (at + 1) % tabs.length,
    ArrowLeft: (at + tabs.length - 1) % tabs.length,
    Home: 0,
    End: tabs.length - 1
  }[event.key];
  if (next !== undefined) {
    event.preventDefault();
    tabs[next].focus();
  }
}

/**
 * A wheel that turns up and down moves the tabs, which have no other way to go.
 */
function roll(event: React.WheelEvent<HTMLElement>): void {
  event.currentTarget.scrollLeft += event.deltaY;
}

function classes(
  name: string,
  modifiers: Readonly<Record<string, boolean>>
): string {
  const set = Object.keys(modifiers).filter(each => modifiers[each]);
  return [name, ...set].join(' ');
}

/**
 * On which sides an element holds more than can be seen.
 */
function useCut(ref: React.RefObject<HTMLElement>): ICut {
  const [cut, set] = React.useState<ICut>({ before: false, after: false });
  React.useEffect(() => {
    const node = ref.current!;
    const look = () => {
      const { scrollLeft, scrollWidth, clientWidth } = node;
      const before = scrollLeft > 1;
      const after = scrollWidth > scrollLeft + clientWidth + 1;
      set(old =>
        old.before === before && old.after === after ? old : { before, after }
      );
    };
    const observer = new ResizeObserver(look);
    observer.observe(node);
    for (const child of node.children) {
      observer.observe(child);
    }
    node.addEventListener('scroll', look, { passive: true });
    look();
    return () => {
      observer.disconnect();
      node.removeEventListener('scroll', look);
    };
  }, [ref]);
  return cut;
}

interface ICut {
  readonly before: boolean;
  readonly after: boolean;
}
