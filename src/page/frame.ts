import { MessageLoop } from '@lumino/messaging';
import { Panel, SplitPanel, Widget } from '@lumino/widgets';

/**
 * Below this width, in pixels, the variants and the views are stacked.
 */
const STACK_BELOW = 900;

/**
 * Fill the page: a header, and below it the views and the panel next to them.
 *
 * @param isAsideFirst - Whether that panel is above the views on a narrow page, as one
 * that starts the work is, unlike one that repeats the result.
 * @returns What fills the page; disposing of it empties the page.
 */
export function fillPage(
  header: readonly Widget[],
  aside: Widget,
  views: Widget,
  isAsideFirst: boolean
): Widget {
  const top = new Panel();
  top.addClass('jp-Compilescope-page-top');
  for (const widget of header) {
    top.addWidget(widget);
  }
  const split = new SplitPanel();
  split.addClass('jp-Compilescope-page-body');
  split.addWidget(aside);
  split.addWidget(views);
  const page = new Panel();
  page.addClass('jp-Compilescope-page');
  page.addWidget(top);
  page.addWidget(split);
  Widget.attach(page, document.body);
  const arrange = () => {
    const isNarrow = window.innerWidth < STACK_BELOW;
    const isBelow = isNarrow && !isAsideFirst;
    if (split.widgets.indexOf(aside) !== Number(isBelow)) {
      split.insertWidget(Number(isBelow), aside);
    }
    split.orientation = isNarrow ? 'vertical' : 'horizontal';
    // Style sheets limit sizes by the page's width.
    split.fit();
    split.setRelativeSizes(isBelow ? [3, 1] : isNarrow ? [2, 3] : [1, 4]);
    page.update();
  };
  window.addEventListener('resize', arrange);
  page.disposed.connect(() => window.removeEventListener('resize', arrange));
  // What the split is left with changes with the header too, once it has text.
  const observer = new ResizeObserver(() =>
    MessageLoop.postMessage(split, Widget.ResizeMessage.UnknownSize)
  );
  observer.observe(split.node);
  page.disposed.connect(() => observer.disconnect());
  arrange();
  return page;
}
