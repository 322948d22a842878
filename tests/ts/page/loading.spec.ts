import { readReport } from '../../../src/model/file';
import { fillInPlaceOf, showProblem } from '../../../src/page/loading';

describe('the line of a page that is loading', () => {
  let line: HTMLElement;

  beforeEach(() => {
    line = document.createElement('p');
    line.textContent = 'The report is loading.';
    document.body.replaceChildren(line);
  });

  it('goes when the page is filled', () => {
    fillInPlaceOf(line, () => undefined);
    expect(line.isConnected).toBe(false);
  });

  it('says what is wrong with a damaged report', () => {
    expect(() =>
      fillInPlaceOf(line, () => {
        readReport('{"schema_version": 1, "subj');
      })
    ).toThrow();
    expect(document.body.textContent).toMatch(/was cut off.*Save the report/);
    expect(line.getAttribute('role')).toBe('alert');
  });

  it('says what keeps a report from being unpacked', () => {
    showProblem(line, 'incorrect header check.');
    expect(document.body.textContent).toBe(
      'The report in this page cannot be shown: incorrect header check.'
    );
  });
});
