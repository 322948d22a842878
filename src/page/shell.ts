import { nullTranslator } from '@jupyterlab/translation';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { SubjectModel } from '../model/subject';
import { loadView } from '../panels/loaders';
import { ReportShell } from '../panels/shell';
import { VIEWS } from '../panels/views';
import { languages } from './languages';

/**
 * The views of a model, in a page that has no JupyterLab around it.
 */
export function shellOf(
  model: SubjectModel,
  trans: TranslationBundle
): ReportShell {
  return new ReportShell({
    views: VIEWS,
    load: loadView,
    context: {
      model,
      translator: nullTranslator,
      trans,
      languages,
      reveal: null
    }
  });
}
