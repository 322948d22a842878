import * as fs from 'fs';
import { joinPage, splitPage } from '../../src/model/file/page';

const PLAIN = '<script type="application/json" id="report">';
const TAG = '<script type="application/gzip" id="packed-report">';

it('takes the page of a large report apart, for pages that hold theirs as it is', () => {
  const split = splitPage(`<p>${TAG}H4sI</script></p>`)!;
  expect(split.isPacked).toBe(true);
  expect(split.report).toBe('H4sI');
  expect(joinPage(split.page, 'f', '{"a":"<"}')).toBe(
    '<p><script type="application/json" id="report">{"a":"\\u003c"}</script></p>'
  );
});

it('takes no tag in the page’s own script for the report', () => {
  const script = fs.readFileSync(
    'kernel/compilescope/views/built/page.js',
    'utf8'
  );
  expect(script).toContain(TAG);
  const page = (tag: string, report: string) =>
    `<p>${tag}${report}</script></p><script>${script}</script>`;
  expect(splitPage(page(PLAIN, '{"a":1}'))).toMatchObject({
    report: '{"a":1}',
    isPacked: false
  });
  const split = splitPage(page(TAG, 'H4sI'))!;
  expect(split).toMatchObject({ report: 'H4sI', isPacked: true });
  expect(joinPage(split.page, 'f', '{}')).toBe(page(PLAIN, '{}'));
});
