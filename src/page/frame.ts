import { MessageLoop } from '@lumino/messaging';
import { Panel, SplitPanel, Widget } from '@lumino/widgets';

/**
 * Below this width, in pixels, the views stand below the variants.
 */
const STACK_BELOW = 900;

/**
 * Fill the page: a header, and below it the views beside what goes with them.
 *
 * @returns What fills it; the page is empty again once that is disposed of.
 */
export function fillPage(
  header: readonly Widget[],
  aside: Widget,
  views: Widget
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
    split.orientation = isNarrow ? 'vertical' : 'horizontal';
    split.setRelativeSizes(isNarrow ? [1, 3] : [1, 4]);
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
