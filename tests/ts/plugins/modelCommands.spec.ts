import { nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';
import {
  addModelCommands,
  CommandIDs
} from '../../../src/plugins/modelCommands';
import { problem, RequestError } from '../../../src/protocol/client';
import type { ICompilescope } from '../../../src/tokens';
import { ViewModel } from '../support/views';

it('says why a report was not saved, and what to do', async () => {
  const commands = new CommandRegistry();
  const refusal = problem({
    what: 'The page can only be made in a kernel.',
    why: 'This report is from a file.',
    remedy: 'Run compilescope.load("FILE") in a notebook.'
  });
  const save = () => Promise.reject(new RequestError(refusal, 'reply'));
  const service = {
    current: Object.assign(new ViewModel(), { save }),
    currentChanged: new Signal({})
  } as unknown as ICompilescope;
  const added = addModelCommands(commands, service, nullTranslator.load(''));
  const done = commands.execute(CommandIDs.saveReport, { format: 'html' });
  const said = () => document.querySelector('.jp-Dialog')?.textContent ?? '';
  while (!said().includes('The report was not saved')) {
    await new Promise(resolve => setTimeout(resolve));
  }
  expect(said()).toContain(refusal.what + refusal.why + refusal.remedy);
  document.querySelector<HTMLElement>('.jp-Dialog-button')!.click();
  await done;
  added.dispose();
});
