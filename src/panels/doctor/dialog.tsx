import { Dialog, ReactWidget, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { ISubjectModel } from '../../interfaces/subject';
import { CheckupBody } from './body';

/**
 * Shows the checkup of a model's kernel in a dialog. It begins when the dialog
 * opens, and continues in the kernel when the dialog is closed.
 */
export async function showDoctor(
  model: ISubjectModel,
  trans: TranslationBundle
): Promise<void> {
  const body = ReactWidget.create(
    <CheckupBody request={restart => model.getCheckup(restart)} trans={trans} />
  );
  body.addClass('jp-Compilescope-doctor');
  await showDialog({
    title: trans.__('Compilescope Doctor'),
    body,
    buttons: [Dialog.okButton({ label: trans.__('Close') })]
  });
}
