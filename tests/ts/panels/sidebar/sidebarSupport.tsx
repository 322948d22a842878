import { nullTranslator } from '@jupyterlab/translation';
import * as React from 'react';
import { NO_CHOICES } from '../../../../src/model/variants';
import { SidebarBody } from '../../../../src/panels/sidebar/body';
import type {
  ISidebarActions,
  ISidebarState
} from '../../../../src/panels/sidebar/types';
import { report, subjectSummary, variant } from '../../support/fakes';
import { stage } from '../../support/views';

/**
 * A page with the sidebar of a kernel that has inspected two calls, f and g.
 */
export function sidebarStage() {
  const page = stage();
  const trans = nullTranslator.load('jupyterlab_compilescope');
  const actions: jest.Mocked<ISidebarActions> = {
    selectSubject: jest.fn(),
    setRequested: jest.fn(),
    showVariant: jest.fn(),
    goTo: jest.fn(),
    run: jest.fn(),
    resume: jest.fn(),
    cancel: jest.fn(),
    runAgain: jest.fn(),
    openView: jest.fn(),
    save: jest.fn(),
    forget: jest.fn(),
    pinTier: jest.fn(),
    setWatch: jest.fn(),
    showWatched: jest.fn(),
    load: jest.fn(),
    retry: jest.fn()
  };

  function show(change: Partial<ISidebarState> = {}): void {
    const state: ISidebarState = {
      isLive: true,
      isKept: false,
      earlier: [],
      canRunAgain: false,
      status: { kind: 'ready' },
      subjects: [subjectSummary('f'), subjectSummary('g')],
      subject: 'f',
      choices: {
        ...NO_CHOICES,
        backends: ['eager', 'inductor'],
        modes: ['default', 'max-autotune']
      },
      report: report('f'),
      sides: { left: 'python', right: 'cpp' },
      requested: variant(),
      pending: false,
      job: null,
      jobSince: 0,
      problem: null,
      watch: null,
      tiers: [],
      compilation: '0/0',
      ...change
    };
    page.draw(<SidebarBody state={state} actions={actions} trans={trans} />);
  }

  return { ...page, actions, show };
}
