import { EditorView } from '@codemirror/view';
import { EditorLanguageRegistry } from '@jupyterlab/codemirror';
import { MessageLoop } from '@lumino/messaging';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import { CodePanel } from '../../../src/panels/code';
import type {
  ArtifactResult,
  Decision,
  Region,
  Step,
  Steps
} from '../../../src/protocol/types';
import type { ILinked, ISelection } from '../../../src/interfaces/selection';
import type { ISubjectModel } from '../../../src/interfaces/subject';
import {
  artifact,
  artifactResult,
  compilation,
  region,
  report,
  SidesModel,
  variant
} from '../support/code';
import {
  kernelOf,
  launchOf,
  launchTime,
  linked,
  selection
} from '../support/structs';

const PYTHON = 'def call(args):\n    k0(buf0)\n    return buf0\n';
const CPP = 'void call() {\n  k0(buf0.data_ptr());\n}\n';

const texts: Record<string, [string, Region[]]> = {
  'python python': [
    PYTHON,
    [region('launch', 2, 2, 'launch:1', { kernel: 'k0', nodes: ['add'] })]
  ],
  'again python': [PYTHON, []],
  'other python': [PYTHON.replace('return buf0', 'return buf1'), []],
  'cpp kernel.inference.k0': ['// kernel k0', []],
  'cpp cpp': [CPP, [region('launch', 2, 2, 'launch:1', { kernel: 'k0' })]]
};

/** As much of a model as the view looks at. */
class Model extends SidesModel {
  override report = {
    ...report([
      ...['python', 'again', 'other'].map(name =>
        variant(name, [compilation('0/0', [artifact('python')])])
      ),
      variant(
        'cpp',
        [
          compilation('0/0', [
            artifact('cpp', 'code', 'cpp'),
            artifact('kernel.inference.k0', 'kernel', 'cpp')
          ])
        ],
        {
          cpp_wrapper: true
        }
      ),
      variant('eager', [], { backend: null })
    ]),
    sides: { left: 'python', right: 'cpp' }
  };
  selection = selection();
  linked = linked();
  linkedChanged = new Signal<this, ILinked>(this);
  selectionChanged = new Signal<this, ISelection>(this);

  getCompilation = jest.fn(async (..._: unknown[]) => ({
    kernels: [
      kernelOf('k0', { launches: [launchOf('launch:1', launchTime(12))] })
    ],
    decisions: [] as Decision[],
    steps: [] as Steps[]
  }));

  select(change: Partial<ISelection>): void {
    this.selection = selection(change);
    this.selectionChanged.emit(this.selection);
  }

  async getArtifact(
    variant: string,
    _: string,
    name: string
  ): Promise<ArtifactResult> {
    const [text, regions] = texts[`${variant} ${name}`];
    return artifactResult(name, text, regions);
  }
}

/** Waits until something holds: promises, React and frames take their turns. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) {
    await new Promise(resolve => setTimeout(resolve, 5));
  }
}

describe('CodePanel', () => {
  let model: Model;
  let panel: CodePanel;

  beforeAll(() => {
    // jsdom lays nothing out, and so has no observer of sizes.
    globalThis.ResizeObserver ??= class {
      observe() {}
      unobserve() {}
      disconnect() {}
    };
    Range.prototype.getClientRects ??= () => [] as unknown as DOMRectList;
  });

  beforeEach(async () => {
    model = new Model();
    const languages = new EditorLanguageRegistry();
    EditorLanguageRegistry.getDefaultLanguages().forEach(language =>
      languages.addLanguage(language)
    );
    panel = new CodePanel({
      model: model as unknown as ISubjectModel,
      languages
    });
    Widget.attach(panel, document.body);
    await until(() => summary().includes('1 launch'));
  });

  afterEach(() => panel.dispose());

  const all = (selector: string) =>
    [...panel.node.querySelectorAll<HTMLElement>(selector)].filter(
      node => !node.closest('.lm-mod-hidden')
    );
  const show = async (left: string, right: string) => {
    model.selectedVariants = { left, right };
    await until(() =>
      [left, right].every((name, i) => pickers()[i * 2]?.value === name)
    );
  };
  const pickers = () =>
    all('select').map(select => select as HTMLSelectElement);
  const marked = () =>
    all('.jp-Compilescope-code-strong').map(n => n.textContent?.trim());
  const pressed = () => all('button[aria-pressed="true"]')[0]?.textContent;
  const lineOfCursor = (side: number) => {
    const content = all('.cm-content')[side];
    const view = content && EditorView.findFromDOM(content);
    return view?.state.doc.lineAt(view.state.selection.main.head).number;
  };
  const summary = () =>
    all('.jp-Compilescope-code-summary')[0]?.textContent ?? '';

  it('shows the Python wrapper left and the C++ wrapper right, aligned', () => {
    const [left, right] = all('.cm-content');
    expect(left.textContent).toContain('def call(args)');
    expect(right.textContent).toContain('void call()');
    expect(pressed()).toBe('Aligned');
    expect(summary()).toContain('1 launch');
  });

  it('says, where it is too narrow to align, what to do', async () => {
    const text = () => all('[role="toolbar"]')[0].textContent;
    expect(text()).not.toContain('Widen the panel');
    MessageLoop.sendMessage(panel, new Widget.ResizeMessage(700, 900));
    await until(() => pressed() === 'Independent');
    expect(text()).toContain('Widen the panel to align both sides');
  });

  it('says beside a launch how long it takes, once that was measured', async () => {
    const times = () =>
      all('.jp-Compilescope-code-times span').map(node => node.textContent);
    expect(times()).toEqual([]);
    expect(model.getCompilation).not.toHaveBeenCalled();
    model.report.variants.find(({ name }) => name === 'python')!.studied = [
      'kernels'
    ];
    model.report.revision++;
    model.reportChanged.emit();
    await until(() => times().length > 0);
    expect(times()).toEqual(['12.0 µs']);
    expect(model.getCompilation.mock.calls).toEqual([
      ['python', '0/0', ['kernels']]
    ]);
    await show('again', 'cpp');
    await until(() => times().length === 0);
  });

  it('says beside the lines what the steps cost, once that was measured', async () => {
    const step = (kind: Step['kind'], line: number, us: number): Step => ({
      ...{ kind, start: line, end: line, key: `${kind}:1`, label: '' },
      ...{ kernel: '', sources: [], us, interval_us: null, how: '' }
    });
    const wrapper = (artifact: Steps['artifact'], steps: Step[]): Steps => ({
      ...{ artifact, direction: 'inference', steps, whole_us: 30, sum_us: 25 },
      kinds: steps.map(({ kind, us }) => ({
        kind,
        count: 1,
        us,
        share: us! / 25
      })),
      ...{ agrees: true, why: '' }
    });
    const costs = () =>
      all('.jp-Compilescope-code-cost.jp-mod-first').map(node => [
        node.textContent,
        node.style.getPropertyValue('--cs-share')
      ]);
    const costText = () =>
      all('.jp-Compilescope-code-statusCost')[0]?.textContent;
    expect(all('.jp-Compilescope-code-legend ul')).toEqual([]);
    model.getCompilation.mockImplementation(async name => ({
      kernels: [],
      decisions: [],
      steps: [
        name === 'cpp'
          ? wrapper('cpp', [step('entry', 1, 2), step('launch', 2, 6)])
          : wrapper('python', [step('launch', 2, 20), step('return', 3, 1)])
      ]
    }));
    for (const item of model.report.variants) {
      item.studied = ['steps'];
    }
    model.report.revision++;
    model.reportChanged.emit();
    await until(() => costs().length === 4);
    // One scale for both sides.
    expect(costs()).toEqual([
      ['20.0 µs', '100%'],
      ['1.00 µs', '5%'],
      ['2.00 µs', '10%'],
      ['6.00 µs', '30%']
    ]);
    await until(() => all('.jp-Compilescope-code-legend li').length === 3);
    expect(
      all('.jp-Compilescope-code-legend li').map(item => item.textContent)
    ).toEqual([
      'entry – left, 2.00 µs right',
      'kernel launch 20.0 µs left, 6.00 µs right',
      'return 1.00 µs left, – right'
    ]);
    // New costs are no move of the cursor, which is at no step.
    expect(costText()).toBeUndefined();
    model.select({ key: 'launch:1' });
    await until(
      () =>
        costText() ===
        'Host time of the step “kernel launch”: 20.0 µs left, 6.00 µs right'
    );
    // The cursor's line counts, also one that nothing can be selected at.
    const view = EditorView.findFromDOM(all('.cm-content')[0])!;
    view.dispatch({ selection: { anchor: view.state.doc.line(3).from } });
    await until(
      () => costText() === 'Host time of the step “return”: 1.00 µs left'
    );
    expect(all('.jp-Compilescope-hidden[aria-live]')[0].textContent).toContain(
      'the step “return”'
    );
    await show('other', 'eager');
    await until(() => costs().length === 2);
  });

  it('marks a selection on both sides and says what it is', async () => {
    model.select({ key: 'launch:1' });
    expect(marked()).toEqual(['k0(buf0)', 'k0(buf0.data_ptr());']);
    const status = () =>
      all('.jp-Compilescope-code-selected')[0]?.textContent ?? '';
    await until(() => status().includes('k0') && status().includes('add'));
    model.select({});
    expect(marked()).toEqual([]);
  });

  it('marks what a node or a kernel that is selected elsewhere leads to', () => {
    model.select({ kernel: 'k0' });
    expect(marked()).toEqual([]);
    model.linked = linked({ keys: new Set(['launch:1']) });
    model.linkedChanged.emit(model.linked);
    expect(marked()).toEqual(['k0(buf0)', 'k0(buf0.data_ptr());']);
    model.linked = linked();
    model.select({});
    expect(marked()).toEqual([]);
  });

  it('keeps the selection when a variant is exchanged', async () => {
    model.select({ key: 'launch:1' });
    await show('cpp', 'python');
    await until(() => marked().join() === 'k0(buf0.data_ptr());,k0(buf0)');
  });

  it('selects what is jumped to by key, and lets go on Escape', () => {
    const content = all('.cm-content')[0];
    const press = (key: string) =>
      content.dispatchEvent(
        new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
      );
    press('n');
    expect(model.selection.key).toBe('launch:1');
    expect(model.selection.origin === panel).toBe(true);
    press('Escape');
    expect(model.selection.key).toBeNull();
  });

  it('shows two variants of one artifact as a diff', async () => {
    await show('python', 'other');
    await until(() => summary() === '1 change');
    expect(pressed()).toBe('Diff');
    expect(all('.cm-mergeView')).toHaveLength(1);
  });

  it('says when two texts are identical', async () => {
    await show('python', 'again');
    await until(() => summary().includes('Identical'));
  });

  it('says why there is no text', async () => {
    await show('python', 'eager');
    await until(() => all('.jp-Compilescope-code-message').length === 1);
    const message = all('.jp-Compilescope-code-message')[0].textContent;
    expect(message).toContain('without torch.compile');
    expect(all('.cm-content')).toHaveLength(1);
  });

  it('turns to the text and the line that another view asks for', async () => {
    const artifacts = () => [pickers()[1].value, pickers()[3].value];
    const text = { variant: 'cpp', compilation: '0/0', artifact: 'cpp' };
    model.select({ key: 'launch:1', text: { ...text, line: 2 } });
    await until(() => lineOfCursor(1) === 2);
    expect(marked()).toEqual(['k0(buf0)', 'k0(buf0.data_ptr());']);
    model.select({
      text: { ...text, artifact: 'kernel.inference.k0', line: null }
    });
    await until(() => artifacts()[1] === 'kernel.inference.k0');
    expect(artifacts()[0]).toBe('python');
    await until(() => all('.cm-content')[1].textContent!.includes('kernel k0'));
    model.select({ text: { ...text, line: 3 } });
    await until(() => artifacts()[1] === 'cpp' && lineOfCursor(1) === 3);
  });

  it('turns to the compilation that is asked for, whatever a side shows', async () => {
    const compilations = () =>
      all('select[aria-label$="compilation"]').map(
        select => (select as HTMLSelectElement).value
      );
    const twice = ['0/0', '1/0'].map(id =>
      compilation(id, [artifact('python')])
    );
    model.report = report([variant('python', twice), variant('again', twice)]);
    model.report.revision++;
    model.reportChanged.emit();
    const text = { artifact: 'python', line: null };
    const ask = (id: string, beside: object) =>
      model.select({
        text: { ...text, variant: 'again', compilation: id, ...beside }
      });
    ask('1/0', { beside: 'python', besideVariant: 'python' });
    await until(() => compilations().join() === '1/0,1/0');
    // The model shows this one all along.
    ask('0/0', {});
    await until(() => compilations().join() === '1/0,0/0');
    ask('1/0', { beside: 'python', besideCompilation: '0/0' });
    await until(() => compilations().join() === '0/0,1/0');
  });

  it('names every control', () => {
    const controls = all('button, select, [contenteditable]');
    expect(controls.length).toBeGreaterThan(10);
    for (const control of controls) {
      const name =
        control.getAttribute('aria-label') || control.textContent?.trim();
      expect(name).toBeTruthy();
    }
  });

  it('hears nothing after it is disposed', () => {
    panel.dispose();
    expect(() => {
      model.select({ key: 'launch:1' });
      model.reportChanged.emit();
    }).not.toThrow();
  });
});
