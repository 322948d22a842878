import { nullTranslator } from '@jupyterlab/translation';
import { SubjectModel } from '../model/subject';
import { Aside } from './aside';
import { fillPage } from './frame';
import { Header } from './header';
import { shellOf } from './shell';
import { ThemeSwitch } from './switch';

/**
 * Fill the page with the views of what is looked at, and not changed.
 *
 * @param created - When it was made, as ISO 8601; empty if that is not known.
 * @returns The model that they show; it has no connection yet.
 */
export function showModel(created: string): SubjectModel {
  const trans = nullTranslator.load('jupyterlab_compilescope');
  const model = new SubjectModel();
  const shell = shellOf(model, trans);
  fillPage(
    [
      new Header({ model, created, trans }),
      shell.pickers,
      new ThemeSwitch(trans)
    ],
    new Aside(model, trans),
    shell
  );
  return model;
}
