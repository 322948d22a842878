import * as React from 'react';
import type { IFigure } from '../../../src/charts';
import { asText, Chart } from '../../../src/charts';
import { stage } from '../support/views';

const on = jest.fn();
const plotly = {
  react: jest.fn<Promise<void>, [HTMLElement, ...unknown[]]>(),
  purge: jest.fn(),
  Fx: { unhover: jest.fn() }
};

jest.mock('../../../src/charts/plotly', () => ({
  ...jest.requireActual('../../../src/charts/plotly'),
  loadPlotly: async () => plotly
}));

/**
 * Frames that pass when the test says so.
 */
const frames: FrameRequestCallback[] = [];

async function frame(): Promise<void> {
  frames.splice(0).forEach(callback => callback(0));
  await jest.advanceTimersByTimeAsync(0);
}

const figure = (name: string) => (): IFigure => ({
  traces: [{ type: 'bar', x: [1], y: [name] }],
  layout: { xaxis: { title: 'seconds' } }
});

const drawn = () =>
  plotly.react.mock.calls.map(
    ([, traces]) => (traces as { y: string[] }[])[0].y[0]
  );

describe('Chart', () => {
  let page: ReturnType<typeof stage>;

  beforeEach(() => {
    jest.clearAllMocks();
    plotly.react.mockImplementation(async host => {
      Object.assign(host, { on });
    });
    jest.useFakeTimers();
    frames.length = 0;
    window.requestAnimationFrame = callback => frames.push(callback);
    window.cancelAnimationFrame = id => {
      delete frames[id - 1];
    };
    for (const [name, value] of [
      ['clientWidth', 600],
      ['clientHeight', 300]
    ] as const) {
      Object.defineProperty(HTMLElement.prototype, name, {
        configurable: true,
        get: () => value
      });
    }
    page = stage();
  });

  afterEach(() => {
    page.remove();
    jest.useRealTimers();
    for (const name of ['clientWidth', 'clientHeight']) {
      Reflect.deleteProperty(HTMLElement.prototype, name);
    }
  });

  const draw = (make: () => IFigure) =>
    page.draw(<Chart make={make} label="times" height={300} isLive />);

  it('draws once a frame, what is newest', async () => {
    for (const name of ['a', 'b', 'c']) {
      draw(figure(name));
    }
    expect(plotly.react).not.toHaveBeenCalled();
    await frame();
    expect(drawn()).toEqual(['c']);
  });

  it('waits for a plot that is not done', async () => {
    let finish: () => void = () => undefined;
    plotly.react.mockImplementationOnce(
      host =>
        new Promise(resolve => {
          Object.assign(host, { on });
          finish = resolve;
        })
    );
    draw(figure('a'));
    await frame();
    draw(figure('b'));
    draw(figure('c'));
    await frame();
    expect(drawn()).toEqual(['a']);
    finish();
    await jest.advanceTimersByTimeAsync(0);
    await frame();
    await frame();
    expect(drawn()).toEqual(['a', 'c']);
  });

  it('rests after a drawing, as long as the theme stays', async () => {
    plotly.react.mockImplementation(async host => {
      Object.assign(host, { on });
      jest.advanceTimersByTime(50);
    });
    draw(figure('a'));
    await frame();
    await frame();
    draw(figure('b'));
    await jest.advanceTimersByTimeAsync(349);
    await frame();
    expect(drawn()).toEqual(['a']);
    await jest.advanceTimersByTimeAsync(1);
    await frame();
    await frame();
    expect(drawn()).toEqual(['a', 'b']);
    document.body.dataset.jpThemeName = 'another';
    await frame();
    await frame();
    expect(drawn()).toEqual(['a', 'b', 'b']);
    delete document.body.dataset.jpThemeName;
  });

  it('does not rest if no measurement runs', async () => {
    plotly.react.mockImplementation(async host => {
      Object.assign(host, { on });
      jest.advanceTimersByTime(50);
    });
    for (const name of ['a', 'b']) {
      page.draw(<Chart make={figure(name)} label="times" height={300} />);
      await frame();
      await frame();
    }
    expect(drawn()).toEqual(['a', 'b']);
  });

  it('has a click look for the point that is under the pointer then', async () => {
    draw(figure('a'));
    await frame();
    const host = page.all('.jp-Compilescope-chart')[0];
    host.dispatchEvent(new Event('pointerdown', { bubbles: true }));
    expect(plotly.Fx.unhover).not.toHaveBeenCalled();
    document.body.dispatchEvent(new Event('pointerup', { bubbles: true }));
    document.body.dispatchEvent(new Event('pointerup', { bubbles: true }));
    expect(plotly.Fx.unhover).toHaveBeenCalledTimes(1);
  });

  it('is as large as its element, and named', async () => {
    draw(figure('a'));
    await frame();
    const layout = plotly.react.mock.calls[0][2] as Record<string, never>;
    expect(layout).toMatchObject({
      width: 600,
      height: 300,
      xaxis: { title: { text: 'seconds' }, fixedrange: true },
      yaxis: { automargin: true }
    });
    expect(page.all('[role=img]')[0].getAttribute('aria-label')).toBe('times');
  });

  it('is drawn again in the colors of another theme', async () => {
    draw(figure('a'));
    await frame();
    document.body.dataset.jpThemeName = 'another';
    await frame();
    await frame();
    expect(drawn()).toEqual(['a', 'a']);
    delete document.body.dataset.jpThemeName;
  });

  it('tells what is clicked', async () => {
    const onClick = jest.fn();
    page.draw(
      <Chart make={figure('a')} label="times" height={300} onClick={onClick} />
    );
    await frame();
    const [[event, click]] = on.mock.calls;
    expect(event).toBe('plotly_click');
    click({ points: [{ customdata: 'cell-3' }] });
    click({ points: [{}] });
    expect(onClick.mock.calls).toEqual([['cell-3']]);
  });

  it('says why it could not be drawn', async () => {
    plotly.react.mockRejectedValueOnce(new Error('no canvas'));
    draw(figure('a'));
    await React.act(frame);
    expect(page.text()).toContain('no canvas');
    await React.act(frame);
    draw(figure('b'));
    await jest.advanceTimersByTimeAsync(3000);
    await React.act(frame);
    expect(drawn().at(-1)).toBe('b');
    expect(page.text()).toBe('');
  });

  it('leaves nothing behind', async () => {
    draw(figure('a'));
    await frame();
    draw(figure('b'));
    page.draw(<></>);
    expect(plotly.purge).toHaveBeenCalledTimes(1);
    await frame();
    expect(drawn()).toEqual(['a']);
  });
});

it('shows names as text', () => {
  expect(asText('<b>a</b> & b')).toBe('&lt;b&gt;a&lt;/b&gt; &amp; b');
});
