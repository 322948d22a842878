import { nullTranslator } from '@jupyterlab/translation';
import * as React from 'react';
import {
  DeclaredCells,
  declaredColumns,
  declaredHeads
} from '../../../../src/panels/common/tables/declared';
import { stage } from '../../support/views';

const trans = nullTranslator.load('jupyterlab_compilescope');

describe('a table that the kernel declares', () => {
  const page = stage();

  it('has its heads in the declared order, but for what is left out', () => {
    const heads = declaredHeads('entries', trans, {
      interval: false,
      speedup: { label: 'over C' }
    });
    expect(heads).toMatchObject([
      { label: 'entry point', isNumber: false },
      { label: 'median', isNumber: true },
      { spoken: 'median' },
      false,
      { label: 'over C', isNumber: true }
    ]);
  });

  it('puts cells into that order', () => {
    page.draw(
      <table>
        <tbody>
          <tr>
            <DeclaredCells
              table="files"
              trans={trans}
              cells={{
                size: <td>12 B</td>,
                kind: false,
                file: <th>a.so</th>
              }}
            />
          </tr>
        </tbody>
      </table>
    );
    const [row] = page.all('tr');
    expect([...row.children].map(element => element.textContent)).toEqual([
      'a.so',
      '12 B'
    ]);
  });

  it('puts columns of a long table into that order', () => {
    const render = () => null;
    const columns = declaredColumns('files', trans, {
      size: { width: '80px', render },
      file: { width: '1fr', render, label: 'path' },
      kind: false
    });
    expect(columns).toMatchObject([
      { id: 'file', label: 'path', width: '1fr', isNumber: false },
      { id: 'size', label: 'size', width: '80px', isNumber: true }
    ]);
  });
});
