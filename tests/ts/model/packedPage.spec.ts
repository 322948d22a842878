import { joinPage, splitPage } from '../../../src/model/file/page';

const TAG = '<script type="application/gzip" id="packed-report">';

it('takes the page of a large report apart, for pages that hold theirs as it is', () => {
  const split = splitPage(`<p>${TAG}H4sI</script></p>`)!;
  expect(split.isPacked).toBe(true);
  expect(split.report).toBe('H4sI');
  expect(joinPage(split.page, 'f', '{"a":"<"}')).toBe(
    '<p><script type="application/json" id="report">{"a":"\\u003c"}</script></p>'
  );
});
