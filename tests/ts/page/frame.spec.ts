import { SplitPanel, Widget } from '@lumino/widgets';
import { fillPage } from '../../../src/page/frame';

describe('fillPage', () => {
  const { innerWidth } = window;

  beforeEach(() => {
    (globalThis as Record<string, unknown>).ResizeObserver = class {
      observe = jest.fn();
      disconnect = jest.fn();
    };
  });

  afterEach(() => {
    window.innerWidth = innerWidth;
  });

  it.each([
    ['beside the views', 1200, true, ['aside', 'views'], [0.2, 0.8]],
    ['above them in a cell', 600, true, ['aside', 'views'], [0.4, 0.6]],
    ['below them in a file', 600, false, ['views', 'aside'], [0.75, 0.25]]
  ])('puts the sidebar %s', (_, width, isFirst, order, sizes) => {
    window.innerWidth = width;
    const [aside, views] = ['aside', 'views'].map(id => {
      const widget = new Widget();
      widget.id = id;
      return widget;
    });
    const page = fillPage([], aside, views, isFirst);
    const split = aside.parent as SplitPanel;
    expect(split.widgets.map(({ id }) => id)).toEqual(order);
    expect(split.relativeSizes()).toEqual(sizes);
    page.dispose();
  });
});
