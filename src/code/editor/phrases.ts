import type { TranslationBundle } from '@jupyterlab/translation';

/**
 * CodeMirror's own texts in the user's language, by their English wording.
 */
export function searchPhrases(
  trans: TranslationBundle
): Record<string, string> {
  return {
    Find: trans.__('Find'),
    next: trans.__('next'),
    previous: trans.__('previous'),
    all: trans.__('all'),
    'match case': trans.__('match case'),
    'by word': trans.__('by word'),
    regexp: trans.__('regexp'),
    close: trans.__('close'),
    'current match': trans.__('current match'),
    'on line': trans.__('on line'),
    'Go to line': trans.__('Go to line'),
    go: trans.__('go'),
    'Folded lines': trans.__('Folded lines'),
    'Unfolded lines': trans.__('Unfolded lines'),
    to: trans.__('to'),
    // `$` is CodeMirror's place for the number.
    '$ unchanged lines': trans.__('%1 unchanged lines', '$')
  };
}
