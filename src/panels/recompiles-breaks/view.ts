import type { Message } from '@lumino/messaging';
import { Panel, Widget } from '@lumino/widgets';
import { BreaksView } from './breaks/view';
import { RecompilesView } from './recompiles/view';
import { ShapesView } from './shapes/view';
import { WatchedNote } from './watchedNote';
import type { ISectioned, IViewContext } from '../views';
import type { Count } from '../../protocol/types';
import { eventCountsOf } from '../../words/eventCounts';

type Section = 'recompiles' | 'breaks' | 'shapes';

/**
 * Recompiles, graph breaks and dynamic sizes: sections that scroll together.
 * Their headings stay visible, and link to them.
 */
export class RecompilesAndBreaksView extends Panel implements ISectioned {
  constructor(private _context: IViewContext) {
    super();
    const { model, trans } = _context;
    this.addClass('jp-Compilescope-sections');
    this.addWidget(new WatchedNote(_context));
    this._add(
      'recompiles',
      trans.__('Recompiles'),
      new RecompilesView(_context)
    );
    this._add('breaks', trans.__('Graph breaks'), new BreaksView(_context));
    this._add('shapes', trans.__('Symbolic shapes'), new ShapesView(_context));
    model.reportChanged.connect(this._count, this);
    model.variantChanged.connect(this._count, this);
    this._count();
    // The user scrolls: stop scrolling for them.
    for (const event of ['wheel', 'pointerdown', 'keydown']) {
      this.node.addEventListener(event, () => (this._section = null), {
        capture: true,
        passive: true
      });
    }
  }

  /**
   * Scrolls to a section. The content above it may still be loading: the
   * section is kept in place until the user scrolls.
   */
  showSection(section: string): void {
    this._section =
      section === 'breaks' || section === 'shapes' ? section : null;
    this._scroll();
    if (section === 'recompiles') {
      this.node.scrollTop = 0;
    }
  }

  override dispose(): void {
    this._sizes.disconnect();
    super.dispose();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._scroll();
  }

  private _add(section: Section, label: string, view: Widget): void {
    const heading = new Widget({ node: document.createElement('h2') });
    heading.addClass('jp-Compilescope-sectionHead');
    const button = heading.node.appendChild(document.createElement('button'));
    button.type = 'button';
    button.append(label);
    button.addEventListener('click', () => this.showSection(section));
    const count = button.appendChild(document.createElement('span'));
    count.className = 'jp-Compilescope-tabCount';
    this._parts.set(section, { view, count });
    this.addWidget(heading);
    this.addWidget(view);
    this._sizes.observe(view.node);
  }

  private _count(): void {
    const { model } = this._context;
    const counts: Partial<Record<Section, Count | null>> = eventCountsOf(model);
    for (const [section, { count }] of this._parts) {
      // A report's summary does not count symbols.
      const counted = counts[section] ?? { number: 0, text: '' };
      count.hidden = counted.number === 0;
      count.textContent = String(counted.number);
      count.title = counted.text;
    }
  }

  private _scroll(): void {
    const part = this._section && this._parts.get(this._section);
    if (part) {
      // The heading is sticky, so the section's position is that of its view.
      const { top } = part.view.node.getBoundingClientRect();
      const head = part.view.node.previousElementSibling!.clientHeight;
      this.node.scrollTop += top - head - this.node.getBoundingClientRect().top;
    }
  }

  private _parts = new Map<Section, { view: Widget; count: HTMLElement }>();
  private _section: Section | null = null;
  private _sizes = new ResizeObserver(() => this._scroll());
}
