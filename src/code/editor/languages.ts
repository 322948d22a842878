import type { Extension } from '@codemirror/state';
import { assemblySyntax } from './assembly';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';

/** The languages that the host has no name for, as the ones that read most like them. */
const SUBSTITUTES: Record<string, string> = {
  fx: 'python',
  triton: 'python'
};

/**
 * The syntax of generated code: the host's, our own for what kernels are compiled to; plain text for
 * what neither knows.
 */
export class Languages {
  constructor(registry: ILanguages) {
    this._registry = registry;
  }

  /** The extension for a language, by the name that an artifact carries. */
  async get(language: string): Promise<Extension> {
    const name = SUBSTITUTES[language] ?? language;
    let extension = this._loaded.get(name);
    if (!extension) {
      extension = this._load(name);
      this._loaded.set(name, extension);
    }
    return extension;
  }

  private async _load(name: string): Promise<Extension> {
    const assembly = assemblySyntax(name);
    if (assembly) {
      return assembly;
    }
    const registered =
      this._registry.findByName(name) ?? this._registry.findByExtension(name);
    const language =
      registered && (await this._registry.getLanguage(registered));
    return language?.support ?? [];
  }

  private _registry: ILanguages;
  private _loaded = new Map<string, Promise<Extension>>();
}

/**
 * Where the syntax of generated code comes from: JupyterLab's registry, or as
 * much of one as a page of its own brings along.
 */
export type ILanguages = Pick<
  IEditorLanguageRegistry,
  'findByName' | 'findByExtension' | 'getLanguage'
>;
