import { nullTranslator } from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';
import { SubjectModel } from '../model/subject';
import { Aside } from './aside';
import { fillPage } from './frame';
import { Header } from './header';
import type { ViewTarget } from '../panels/views';
import { parameter } from './address';
import { shellOf } from './shell';
import { ThemeSwitch } from './themeSwitch';

/**
 * Fill the page with the views of what is looked at, and not changed.
 *
 * @param created - When it was made, as ISO 8601; empty if that is not known.
 * @param view - The view to begin with, where the page's address names none.
 * @returns The model that they show, which has no connection yet, and what fills the page.
 */
export function showModel(created: string, view?: ViewTarget): IShown {
  const trans = nullTranslator.load('jupyterlab_compilescope');
  const model = new SubjectModel();
  const shell = shellOf(
    model,
    trans,
    (parameter('view') as ViewTarget) || view
  );
  const page = fillPage(
    [
      new Header({ model, created, trans }),
      shell.pickers,
      new ThemeSwitch(trans)
    ],
    new Aside(model, trans, target => shell.open(target)),
    shell,
    false
  );
  page.disposed.connect(() => model.dispose());
  return { model, page };
}

/**
 * What a page shows.
 */
export interface IShown {
  model: SubjectModel;
  page: Widget;
}
