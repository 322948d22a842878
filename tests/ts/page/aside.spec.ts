import { nullTranslator } from '@jupyterlab/translation';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { SubjectModel } from '../../../src/model/subject';
import { Aside } from '../../../src/page/aside';

it('is folded in a narrow window until it is opened', async () => {
  const trans = nullTranslator.load('compilescope');
  const aside = new Aside(new SubjectModel(), trans, jest.fn());
  Widget.attach(aside, document.body);
  await aside.renderPromise;
  const button = aside.node.querySelector('button')!;
  expect(button.getAttribute('aria-expanded')).toBe('false');
  expect(aside.hasClass('jp-mod-folded')).toBe(true);
  button.click();
  expect(aside.hasClass('jp-mod-folded')).toBe(false);
  MessageLoop.flush();
  await aside.renderPromise;
  expect(button.getAttribute('aria-expanded')).toBe('true');
  aside.dispose();
});
