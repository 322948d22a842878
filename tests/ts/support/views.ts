import { nullTranslator } from '@jupyterlab/translation';
import { MessageLoop } from '@lumino/messaging';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import type * as React from 'react';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import type { IViewContext } from '../../../src/panels/views';
import type {
  JobState,
  Problem,
  ReportSummary,
  StudyChoice,
  WatchState
} from '../../../src/protocol/types';
import type { ILinked, ISelection } from '../../../src/interfaces/selection';
import type { ISubjectModel } from '../../../src/interfaces/subject';
import { report, settle } from './fakes';
import { linked, selection } from './structs';

/**
 * As much of a model as the views look at; it notes what is asked of it.
 */
export class ViewModel {
  subject = 'f';
  variant = 'python';
  compilation = '0/0';
  hasAllGraphs = true;
  showAllGraphs = jest.fn();
  isLive = true;
  pending = false;
  job: JobState | null = null;
  jobSince = 0;
  problem: Problem | null = null;
  isKept = false;
  isEarlier = () => this.isKept;
  status = { kind: 'ready' };
  subjects: unknown[] = [{ subject: { id: 'f' } }];
  offered: string | null = null;
  dismissOffer = jest.fn();
  report: ReportSummary | null = report('f');
  selection: ISelection = selection();
  linked: ILinked = linked();
  setRequested = jest.fn();
  run = jest.fn(() => Promise.resolve());
  resume = jest.fn(() => Promise.resolve());
  cancel = jest.fn(() => Promise.resolve());
  startStudies = jest.fn(() => Promise.resolve());
  getStudyChoices = jest.fn((): Promise<Record<string, StudyChoice[]>> =>
    Promise.resolve({})
  );
  getVariant = jest.fn();
  getCompilation = jest.fn();
  getArtifact = jest.fn();
  statusChanged = new Signal<this, void>(this);
  reportChanged = new Signal<this, void>(this);
  variantChanged = new Signal<this, void>(this);
  compilationChanged = new Signal<this, void>(this);
  selectionChanged = new Signal<this, void>(this);
  jobChanged = new Signal<this, void>(this);
  problemChanged = new Signal<this, void>(this);
  subjectsChanged = new Signal<this, void>(this);
  linkedChanged = new Signal<this, void>(this);
  watch: WatchState | null = null;
  watchChanged = new Signal<this, void>(this);
  choicesChanged = new Signal<this, void>(this);
  requestedChanged = new Signal<this, void>(this);

  select = jest.fn((change: Partial<ISelection>) => {
    this.selection = selection(change);
  });
}

/**
 * A model that says when its compilation changes.
 */
export function pickedModel(): ViewModel {
  const model = new ViewModel();
  let compilation = '0/0';
  const turn = (id: string, hasAllGraphs: boolean) => {
    compilation = id;
    model.hasAllGraphs = hasAllGraphs;
    model.compilationChanged.emit();
  };
  model.showAllGraphs.mockImplementation((id = compilation) => turn(id, true));
  return Object.defineProperty(model, 'compilation', {
    get: () => compilation,
    set: (id: string) => turn(id, false)
  });
}

/**
 * A context whose `open` and `reveal` are the test's.
 */
export function contextOf(model: ViewModel) {
  const translator = nullTranslator;
  return {
    model: model as unknown as ISubjectModel,
    translator,
    trans: translator.load('jupyterlab_compilescope'),
    open: jest.fn(),
    reveal: jest.fn()
  } as unknown as IViewContext & { open: jest.Mock; reveal: jest.Mock };
}

/**
 * A place in the page that React draws into.
 */
export function stage() {
  (globalThis as Record<string, unknown>).IS_REACT_ACT_ENVIRONMENT = true;
  globalThis.ResizeObserver ??= class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
  const host = document.body.appendChild(document.createElement('div'));
  const root = createRoot(host);
  const all = (selector: string) => [
    ...host.querySelectorAll<HTMLElement>(selector)
  ];
  return {
    host,
    all,
    draw: (element: React.ReactElement) => act(() => root.render(element)),
    text: () => host.textContent ?? '',
    button: (name: string | RegExp) => {
      const button = all('button').find(element => {
        const label =
          element.getAttribute('aria-label') ?? element.textContent ?? '';
        return typeof name === 'string' ? label === name : name.test(label);
      });
      if (!button) {
        throw new Error(`there is no button ${name}`);
      }
      return button;
    },
    click: (element: Element) =>
      act(() => {
        element.dispatchEvent(new MouseEvent('click', { bubbles: true }));
      }),
    press: (element: Element, key: string) =>
      act(() => {
        element.dispatchEvent(
          new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
        );
      }),
    choose: (select: Element, value: string) =>
      act(() => {
        const { set } = Object.getOwnPropertyDescriptor(
          Object.getPrototypeOf(select),
          'value'
        )!;
        set!.call(select, value);
        const type = select instanceof HTMLSelectElement ? 'change' : 'input';
        select.dispatchEvent(new Event(type, { bubbles: true }));
      }),
    remove: () => {
      act(() => root.unmount());
      host.remove();
    }
  };
}

/**
 * Let a view draw what its model has answered.
 */
export async function drawn(): Promise<void> {
  await act(async () => {
    await settle();
    MessageLoop.flush();
    await settle();
  });
}

/**
 * A view in the page; `attach` puts another one there.
 */
export function viewStage() {
  let view: Widget;
  const all = (selector: string) => [
    ...view.node.querySelectorAll<HTMLElement>(selector)
  ];
  const send = async (node: Element, event: Event) => {
    await act(async () => {
      node.dispatchEvent(event);
    });
    await drawn();
  };
  return {
    all,
    attach: async (widget: Widget) => {
      (globalThis as Record<string, unknown>).IS_REACT_ACT_ENVIRONMENT = true;
      view = widget;
      act(() => Widget.attach(view, document.body));
      await drawn();
    },
    click: (node: Element) =>
      send(node, new MouseEvent('click', { bubbles: true })),
    press: (node: Element, key: string) =>
      send(
        node,
        new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
      ),
    remove: () => act(() => view.dispose())
  };
}

/**
 * What would be an element, if it were taken for markup.
 */
export const HOSTILE = '<img src=x onerror="globalThis.pwned=1">';
