import type { CommandRegistry } from '@lumino/commands';
import type { IDisposable } from '@lumino/disposable';
import { DisposableSet } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import { Dialog, showDialog } from '@jupyterlab/apputils';
import {
  closeIcon,
  downloadIcon,
  runIcon,
  stopIcon
} from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import { compilescopeIcon } from '../icons';
import { isActive, isKernelBusy } from '../model/jobs';
import { download } from '../download';
import { renderMessage } from '../panels/common/states/message';
import { showDoctor } from '../panels/doctor';
import { problemOf } from '../protocol/client';
import type { ISubjectModel } from '../interfaces/subject';
import type { ICompilescope } from '../tokens';

/**
 * The ids of the commands.
 */
export namespace CommandIDs {
  export const openCode = 'compilescope:open-code';
  export const openView = 'compilescope:open-view';
  export const showSidebar = 'compilescope:show-sidebar';
  export const run = 'compilescope:run';
  export const cancel = 'compilescope:cancel';
  export const runAgain = 'compilescope:run-again';
  export const toggleCppWrapper = 'compilescope:toggle-cpp-wrapper';
  export const saveReport = 'compilescope:save-report';
  export const forget = 'compilescope:forget';
  export const openTrace = 'compilescope:open-trace';
  export const openAsked = 'compilescope:open-asked-trace';
  export const doctor = 'compilescope:doctor';
  export const interruptKernel = 'compilescope:interrupt-kernel';
  export const restartKernel = 'compilescope:restart-kernel';
  export const clearOutputs = 'compilescope:clear-outputs';
  export const reconnectKernel = 'compilescope:reconnect-to-kernel';
  export const changeKernel = 'compilescope:change-kernel';
  export const shutdownKernel = 'compilescope:shutdown-kernel';
}

/**
 * The schema of commands without arguments.
 */
export const NO_ARGUMENTS = {
  args: { type: 'object', properties: {}, additionalProperties: false }
} as const;

/**
 * Add the commands that act on the current model.
 */
export function addModelCommands(
  commands: CommandRegistry,
  service: ICompilescope,
  trans: TranslationBundle
): IDisposable {
  const model = () => service.current;
  const isReady = () =>
    model()?.status.kind === 'ready' && model()?.report !== null;
  // A report from a file can be looked at and saved, not built or changed.
  const isLive = () => isReady() && model()?.isLive === true;
  const disposables = new DisposableSet();
  disposables.add(
    commands.addCommand(CommandIDs.run, {
      label: trans.__('Build and Time the Variants'),
      caption: trans.__(
        'Build every variant of the selected subject, check it against eager, time it'
      ),
      icon: runIcon,
      describedBy: NO_ARGUMENTS,
      isEnabled: () => isLive() && !isKernelBusy(model()?.job ?? null),
      execute: () => model()?.run()
    })
  );
  disposables.add(
    commands.addCommand(CommandIDs.cancel, {
      label: trans.__('Cancel Building and Timing'),
      caption: trans.__('Stop compilescope’s current job in the kernel'),
      icon: stopIcon,
      describedBy: NO_ARGUMENTS,
      isEnabled: () => isActive(model()?.job ?? null),
      execute: () => model()?.cancel()
    })
  );
  disposables.add(
    commands.addCommand(CommandIDs.toggleCppWrapper, {
      label: trans.__('Use the C++ Wrapper'),
      caption: trans.__('Toggle cpp_wrapper for the selected subject'),
      icon: compilescopeIcon,
      describedBy: NO_ARGUMENTS,
      isToggleable: true,
      isToggled: () => model()?.requested.cpp_wrapper ?? false,
      isEnabled: isLive,
      execute: () =>
        model()?.setRequested({ cpp_wrapper: !model()?.requested.cpp_wrapper })
    })
  );
  disposables.add(
    commands.addCommand(CommandIDs.saveReport, {
      label: args => {
        const isPage = args.format === 'html';
        if (args.redact) {
          return isPage
            ? trans.__('Save the Report as HTML, without Paths and Code')
            : trans.__('Save the Report as JSON, without Paths and Code');
        }
        return isPage
          ? trans.__('Save the Report as HTML')
          : trans.__('Save the Report as JSON');
      },
      caption: trans.__('Download the whole report of the selected subject'),
      icon: downloadIcon,
      describedBy: {
        args: {
          type: 'object',
          properties: {
            format: {
              type: 'string',
              enum: ['json', 'html'],
              description: trans.__('The format of the file')
            },
            redact: {
              type: 'boolean',
              description: trans.__('Whether to leave paths and code out')
            }
          }
        }
      },
      isEnabled: args =>
        args.redact === true ? isLive() : isReady() || model()?.isKept === true,
      execute: async args => {
        try {
          const file = await model()?.save(
            args.format === 'html' ? 'html' : 'json',
            args.redact === true
          );
          if (file) {
            download(file.filename, file.text);
          }
        } catch (error) {
          await showWhyUnsaved(error, trans);
        }
      }
    })
  );
  disposables.add(
    commands.addCommand(CommandIDs.forget, {
      label: trans.__('Forget the Selected Subject'),
      caption: trans.__('Delete the subject, its report and its captures'),
      icon: closeIcon,
      describedBy: NO_ARGUMENTS,
      isEnabled: isLive,
      execute: () => model()?.forget()
    })
  );
  disposables.add(
    commands.addCommand(CommandIDs.doctor, {
      label: trans.__('Check the Environment of torch.compile'),
      caption: trans.__(
        'Check the kernel’s compiler, headers, Triton, caches and versions'
      ),
      icon: compilescopeIcon,
      describedBy: NO_ARGUMENTS,
      isEnabled: () =>
        model()?.status.kind === 'ready' && model()?.isLive === true,
      execute: async () => {
        const current = model();
        if (current) {
          await showDoctor(current, trans);
        }
      }
    })
  );
  disposables.add(new Notifier(commands, service));
  return disposables;
}

/**
 * Say why a report was not saved, and what to do: in a dialog, as notifications
 * cut off what is longer than 140 characters.
 */
async function showWhyUnsaved(
  error: unknown,
  trans: TranslationBundle
): Promise<void> {
  await showDialog({
    title: trans.__('The report was not saved'),
    body: new Widget({ node: renderMessage(problemOf(error), trans) }),
    buttons: [Dialog.okButton({ label: trans.__('Close') })]
  });
}

/**
 * Tells the command registry when what the commands depend on has changed.
 */
class Notifier implements IDisposable {
  constructor(
    private _commands: CommandRegistry,
    private _service: ICompilescope
  ) {
    _service.currentChanged.connect(this._follow, this);
    this._follow();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    Signal.clearData(this);
  }

  private _follow(): void {
    this._each(this._model, signal => signal.disconnect(this._notify, this));
    this._model = this._service.current;
    this._each(this._model, signal => signal.connect(this._notify, this));
    this._notify();
  }

  private _each(
    model: ISubjectModel | null,
    action: (signal: ISubjectModel['jobChanged']) => void
  ): void {
    if (model && !model.isDisposed) {
      const { jobChanged, reportChanged, statusChanged, requestedChanged } =
        model;
      for (const signal of [
        jobChanged,
        reportChanged,
        statusChanged,
        requestedChanged
      ]) {
        action(signal as unknown as ISubjectModel['jobChanged']);
      }
    }
  }

  private _notify(): void {
    for (const id of [
      CommandIDs.run,
      CommandIDs.cancel,
      CommandIDs.toggleCppWrapper,
      CommandIDs.saveReport,
      CommandIDs.forget,
      CommandIDs.doctor
    ]) {
      this._commands.notifyCommandChanged(id);
    }
  }

  private _isDisposed = false;
  private _model: ISubjectModel | null = null;
}
