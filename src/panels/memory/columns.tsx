import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Buffer, Memory } from '../../protocol/types';
import type { IColumn } from '../common';
import { AbsentValue, compareNumbers } from '../common';
import { formatBytes, formatCount } from '../../words/format';
import { Elided } from '../common/tables/elided';
import type { IRow } from './rows';

/**
 * The number of characters at the end of a weight's name that are always kept.
 */
const TAIL = 12;

/**
 * The columns of the table of buffers.
 */
export function columnsOf(
  memory: Memory,
  trans: TranslationBundle
): IColumn<IRow>[] {
  const step = (place: number) => memory.steps[place] ?? '';
  return [
    {
      id: 'name',
      label: trans.__('Buffer'),
      width: 'minmax(130px, 2fr)',
      text: ({ buffer }) => buffer.title || buffer.name,
      render: ({ buffer }) => (
        <code>
          <Elided
            text={buffer.title || buffer.name}
            tail={TAIL}
            title={
              buffer.title ? `${buffer.title}\n${buffer.name}` : buffer.name
            }
          />
        </code>
      )
    },
    {
      id: 'kind',
      label: trans.__('Kind'),
      width: '70px',
      from: 480,
      render: ({ buffer }) => kindTitle(buffer.kind, trans)
    },
    {
      id: 'bytes',
      label: trans.__('Size'),
      width: '76px',
      isNumber: true,
      isDescendingFirst: true,
      compare: (a, b) => compareNumbers(a.buffer.bytes, b.buffer.bytes),
      render: ({ buffer }) =>
        buffer.bytes === null ? (
          <AbsentValue why={trans.__('The wrapper does not state its size')} />
        ) : (
          <span title={formatCount(buffer.bytes)}>
            {formatBytes(buffer.bytes)}
          </span>
        )
    },
    {
      id: 'shape',
      label: trans.__('Shape'),
      width: 'minmax(130px, 2fr)',
      text: ({ buffer }) => shapeOf(buffer),
      from: 630,
      render: ({ buffer }) => (
        <code title={trans.__('Strides (%1)', buffer.stride.join(', '))}>
          {shapeOf(buffer)}
        </code>
      )
    },
    {
      id: 'from',
      label: trans.__('From'),
      title: trans.__('The first launch that uses it'),
      width: '40px',
      from: 540,
      isNumber: true,
      compare: (a, b) => a.buffer.born - b.buffer.born,
      render: ({ buffer }) => (
        <span title={step(buffer.born)}>{buffer.born}</span>
      )
    },
    {
      id: 'to',
      label: trans.__('To'),
      title: trans.__('The last launch that uses it'),
      width: '40px',
      isNumber: true,
      compare: (a, b) => a.buffer.dies - b.buffer.dies,
      render: ({ buffer }) => (
        <span title={step(buffer.dies)}>{buffer.dies}</span>
      )
    },
    {
      id: 'reuses',
      label: trans.__('Reuses'),
      title: trans.__('The buffer whose memory it reuses'),
      width: '60px',
      render: ({ buffer }) => buffer.reuses && <code>{buffer.reuses}</code>
    },
    {
      id: 'nodes',
      label: trans.__('Nodes'),
      title: trans.__('The nodes whose values it holds'),
      width: 'minmax(80px, 1fr)',
      from: 720,
      render: ({ buffer }) => (
        <span title={buffer.nodes.join('\n')}>{buffer.nodes.join(', ')}</span>
      )
    }
  ];
}

function shapeOf({ dtype, shape }: Buffer): string {
  return `${dtype}[${shape.join(', ')}]`;
}

/**
 * The purpose of a buffer, in words.
 */
export function kindTitle(
  kind: Buffer['kind'],
  trans: TranslationBundle
): string {
  switch (kind) {
    case 'input':
      return trans.__('input');
    case 'constant':
      return trans.__('constant');
    case 'temporary':
      return trans.__('temporary');
    case 'output':
      return trans.__('output');
  }
}
