import {
  caretDownIcon,
  ellipsesIcon,
  ReactWidget
} from '@jupyterlab/ui-components';
import * as React from 'react';
import type { IView } from '../views';
import { describe, ViewMenu } from './menu';
import { useOneLine } from './oneLine';
import type { IBadge, ITabOptions, ITabState } from './tabTypes';

/**
 * The tabs of the views. The arrow keys move along them; Enter or a click opens
 * a view, as it may have to fetch its data.
 */
export class Tabs extends ReactWidget {
  constructor(private _options: ITabOptions) {
    super();
    this.addClass('jp-Compilescope-tabs');
  }

  override dispose(): void {
    this._menu?.dispose();
    super.dispose();
  }

  /**
   * The current tabs.
   */
  set state(state: ITabState) {
    this._state = state;
    this.update();
  }

  protected override render(): JSX.Element | null {
    return (
      this._state && (
        <TabRow
          {...this._options}
          {...this._state}
          showMenu={(anchor, listed) => this._showMenu(anchor, listed)}
        />
      )
    );
  }

  private _showMenu(anchor: HTMLElement, listed: readonly IView[]): void {
    this._menu?.dispose();
    this._menu = new ViewMenu(this._options, this._state!, listed);
    this._menu.openAt(anchor);
  }

  private _menu: ViewMenu | null = null;
  private _state: ITabState | null = null;
}

function TabRow(
  props: ITabOptions &
    ITabState & {
      showMenu: (anchor: HTMLElement, listed: readonly IView[]) => void;
    }
): JSX.Element {
  const { views, tabs, current, counts, nothing, trans } = props;
  const list = React.useRef<HTMLDivElement>(null);
  const hidden = useOneLine(list);
  const listed = views.filter(
    view => !tabs.includes(view) || hidden.has(props.tabId(view.id))
  );
  return (
    <>
      <div
        ref={list}
        className="jp-Compilescope-tabList"
        role="tablist"
        aria-label={trans.__('Views')}
        onKeyDown={walk}
      >
        {tabs.map((view, index) => (
          <button
            key={view.id}
            type="button"
            role="tab"
            id={props.tabId(view.id)}
            className={classes('jp-Compilescope-tab', {
              'jp-mod-first': index > 0 && view.group !== tabs[index - 1].group,
              'jp-mod-nothing': view.id in nothing
            })}
            aria-selected={view.id === current}
            aria-controls={props.panelId(view.id)}
            tabIndex={view.id === current ? 0 : -1}
            title={describe(view, nothing[view.id], trans)}
            onClick={() => props.open(view.id)}
          >
            <Label view={view} trans={trans} />
            <Badge count={counts[view.id]} />
          </button>
        ))}
      </div>
      {(listed.length > 0 || props.beside) && (
        <button
          type="button"
          className="jp-Compilescope-tabMenu"
          aria-haspopup="menu"
          aria-label={trans.__('More views')}
          title={trans.__('More views')}
          onClick={event => props.showMenu(event.currentTarget, listed)}
        >
          <span className="jp-Compilescope-tabMenuLabel">
            {trans.__('More')}
          </span>
          <caretDownIcon.react
            tag="span"
            elementSize="normal"
            className="jp-Compilescope-tabMenuCaret"
          />
          <ellipsesIcon.react
            tag="span"
            elementSize="normal"
            className="jp-Compilescope-tabMenuDots"
          />
        </button>
      )}
    </>
  );
}

/**
 * A view's name; if space is limited a short one is shown, and screen readers
 * still read the full one.
 */
function Label({ view, trans }: Pick<ITabOptions, 'trans'> & { view: IView }) {
  const label = view.label(trans);
  const short = view.shortLabel?.(trans);
  return (
    <>
      <span
        className={classes('jp-Compilescope-tabLabel', {
          'jp-mod-long': short !== undefined
        })}
        data-label={label}
      >
        {label}
      </span>
      {short !== undefined && (
        <span
          className="jp-Compilescope-tabLabel jp-mod-short"
          data-label={short}
          aria-hidden="true"
        />
      )}
    </>
  );
}

function Badge({ count }: { count: IBadge | undefined }): JSX.Element | null {
  return count ? (
    <span className="jp-Compilescope-tabCount" title={count.text}>
      <span aria-hidden="true">{count.number}</span>
      <span className="jp-Compilescope-hidden">{`, ${count.text}`}</span>
    </span>
  ) : null;
}

/**
 * Moves the focus along the tabs. Only the open tab is in the tab order of the
 * page, so that Tab moves on to the view.
 */
function walk(event: React.KeyboardEvent<HTMLElement>): void {
  const tabs = [
    ...event.currentTarget.querySelectorAll<HTMLElement>('button:not([hidden])')
  ];
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

function classes(
  name: string,
  modifiers: Readonly<Record<string, boolean>>
): string {
  const set = Object.keys(modifiers).filter(modifier => modifiers[modifier]);
  return [name, ...set].join(' ');
}
