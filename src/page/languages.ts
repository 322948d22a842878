import { cpp } from '@codemirror/lang-cpp';
import { python } from '@codemirror/lang-python';
import type { LanguageSupport } from '@codemirror/language';
import type { ILanguages } from '../code/editor/languages';

const SUPPORT: Readonly<Record<string, () => LanguageSupport>> = {
  cpp,
  python
};

/**
 * The two languages of generated code.
 */
export const languages: ILanguages = {
  findByName: find,
  findByExtension: name => (typeof name === 'string' ? find(name) : null),
  getLanguage: language => {
    const name = typeof language === 'string' ? language : language.name;
    return Promise.resolve(find(name));
  }
};

function find(name: string): ReturnType<ILanguages['findByName']> {
  const support = SUPPORT[name];
  return support ? { name, mime: '', support: support() } : null;
}
