import { nullTranslator } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { FillSwitch } from '../../../src/page/fillSwitch';

/**
 * A port that notes what is sent through it.
 */
class Port extends EventTarget {
  readonly sent: unknown[] = [];

  postMessage(message: unknown): void {
    this.sent.push(message);
  }
}

describe('FillSwitch', () => {
  it('leaves the window on Escape, even before the answer to its click', async () => {
    const port = new Port();
    const fill = new FillSwitch(
      port as unknown as MessagePort,
      { isDark: false, isFull: false, canFill: true },
      nullTranslator.load('compilescope')
    );
    Widget.attach(fill, document.body);
    await fill.renderPromise;
    fill.node.querySelector('button')!.click();
    document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
    expect(port.sent).toEqual([
      { kind: 'fill', isFull: true },
      { kind: 'fill', isFull: false }
    ]);
    fill.dispose();
  });
});
