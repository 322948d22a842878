import { nullTranslator } from '@jupyterlab/translation';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { SubjectModel } from '../model/subject';
import { loadView } from '../panels/loaders';
import { ReportShell } from '../panels/shell';
import type { ViewTarget } from '../panels/views';
import { VIEWS } from '../panels/views';
import { languages } from './languages';

/**
 * The views of a model, in a page that has no JupyterLab around it.
 *
 * @param view - The one to begin with; the first, unless it is given.
 */
export function shellOf(
  model: SubjectModel,
  trans: TranslationBundle,
  view?: ViewTarget
): ReportShell {
  return new ReportShell({
    views: VIEWS,
    load: loadView,
    view,
    context: {
      model,
      translator: nullTranslator,
      trans,
      languages,
      reveal: null
    }
  });
}
