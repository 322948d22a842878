import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Kernel, KernelConfig } from '../../protocol/types';
import { FORMS } from '../../protocol/types';
import { AbsentValue } from '../common';
import { formatBytes, formatShare } from '../../words/format';
import { TABLES } from '../../words/tables';
import { CHECK_KINDS } from './check';
import { limitText } from './phrases';
import { TableHead } from '../common/tables/figures';

/**
 * The number of characters of a check's text shown at first: torch's own errors
 * are long.
 */
const MAX_TEXT = 240;

/**
 * A launch configuration as a row: the figures of the usual one are the
 * kernel's.
 */
interface IConfig {
  readonly name: string;

  /**
   * As in the name of an artifact; empty for the usual configuration.
   */
  readonly asked: string;
  readonly compiled: Pick<
    Kernel | KernelConfig,
    'assembly' | 'limit' | 'resources'
  >;
  readonly why: string;
}

/**
 * The results of compiling a kernel for a device that is not available, in
 * every launch configuration, and whether it computes the right values.
 *
 * @param props.onForm - Shows a compiled form of a configuration.
 */
export function Compiled(props: {
  kernel: Kernel;
  target: string;
  onForm: (form: string, config: string) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { kernel, target, onForm, trans } = props;
  const { absent, check } = kernel;
  const configs = configsOf(kernel, trans);
  return (
    <div className="jp-Compilescope-compiled">
      <h4>{trans.__('Compiled for %1', target)}</h4>
      {configs.length > 0 ? (
        <Configs configs={configs} onForm={onForm} trans={trans} />
      ) : (
        <p className="jp-Compilescope-muted">
          {absent.assembly ??
            trans.__('Not compiled yet: use the button above.')}
        </p>
      )}
      <h4>{trans.__('Checked without the device')}</h4>
      {check ? (
        <p
          className={`jp-Compilescope-kernelCheck jp-mod-${CHECK_KINDS[check.outcome]}`}
        >
          <strong>{check.outcome}</strong>{' '}
          <ShortenedText text={check.text} trans={trans} />
        </p>
      ) : (
        <p className="jp-Compilescope-muted">
          {absent.check ?? trans.__('Not checked yet.')}
        </p>
      )}
    </div>
  );
}

function Configs(props: {
  configs: readonly IConfig[];
  onForm: (form: string, config: string) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { configs, onForm, trans } = props;
  const { registers, spills, shared_bytes, occupancy } = TABLES.kernels(trans);
  return (
    <div
      className="jp-Compilescope-wide"
      role="group"
      aria-label={trans.__('Launch configurations')}
      tabIndex={0}
    >
      <table
        className="jp-Compilescope-configs"
        aria-label={trans.__('Launch configurations')}
      >
        <TableHead
          heads={[
            trans.__('configuration'),
            ...[registers, spills, shared_bytes, occupancy].map(
              ({ title, note }) => ({ label: title, title: note })
            )
          ]}
        />
        <tbody>
          {configs.map(config => (
            <Row
              key={config.name}
              config={config}
              onForm={onForm}
              trans={trans}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row(props: {
  config: IConfig;
  onForm: (form: string, config: string) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { config, onForm, trans } = props;
  const { asked, compiled, name, why } = config;
  const { limit, resources } = compiled;
  const figure = (
    field: string,
    show: (value: number) => React.ReactNode = value => value
  ) => {
    const value = resources[field] as number | undefined;
    return (
      <td className="jp-mod-number">
        {value === undefined ? (
          <AbsentValue why={trans.__('Not reported by the compiler')} />
        ) : (
          show(value)
        )}
      </td>
    );
  };
  return (
    <tr>
      <th scope="row">
        <code>{name}</code>
        {asked === '' && (
          <span
            className="jp-Compilescope-muted"
            title={trans.__(
              'Configurations are not timed here; this is the first that torch would try'
            )}
          >
            {' '}
            {trans.__('first')}
          </span>
        )}
        <span className="jp-Compilescope-configForms">
          {Object.keys(FORMS)
            .filter(form => form in compiled.assembly)
            .map(form => (
              <button
                key={form}
                type="button"
                className="jp-Compilescope-link"
                aria-label={trans.__('Open the %1 of %2', FORMS[form], name)}
                title={trans.__('Open the %1 beside the source', FORMS[form])}
                onClick={() => onForm(form, asked)}
              >
                {SHORT[form] ?? form.toUpperCase()}
              </button>
            ))}
        </span>
      </th>
      {why ? (
        <td colSpan={4} className="jp-Compilescope-configWhy">
          {trans.__('Cannot be compiled: %1', why)}
        </td>
      ) : (
        <>
          {figure('registers')}
          {figure('spills', value =>
            value > 0 ? (
              <span className="jp-Compilescope-spills">
                {formatBytes(value)}
              </span>
            ) : (
              value
            )
          )}
          {figure('shared_bytes', formatBytes)}
          {figure('occupancy', value => (
            <span title={limitText(limit, trans)}>{formatShare(value)}</span>
          ))}
        </>
      )}
    </tr>
  );
}

/**
 * Forms whose names fit into a cell unabbreviated are not listed here.
 */
const SHORT: Record<string, string> = { llir: 'LLVM' };

function configsOf(kernel: Kernel, trans: TranslationBundle): IConfig[] {
  if (kernel.configs.length > 0) {
    return kernel.configs.map(config => ({
      name: config.name,
      asked: config.usual ? '' : config.name,
      compiled: config.usual ? kernel : config,
      why: config.why
    }));
  }
  const isMade = Object.keys(kernel.assembly).length > 0;
  return isMade
    ? [{ name: trans.__('the only one'), asked: '', compiled: kernel, why: '' }]
    : [];
}

/**
 * A text of which the beginning is shown, and the rest on request.
 */
function ShortenedText(props: {
  text: string;
  trans: TranslationBundle;
}): JSX.Element {
  const { text, trans } = props;
  const [isWhole, setWhole] = React.useState(false);
  return text.length <= MAX_TEXT || isWhole ? (
    <>{text}</>
  ) : (
    <>
      {text.slice(0, MAX_TEXT)}…{' '}
      <button
        type="button"
        className="jp-Compilescope-link"
        onClick={() => setWhole(true)}
      >
        {trans.__('more')}
      </button>
    </>
  );
}
