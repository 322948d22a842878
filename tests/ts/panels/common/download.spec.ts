import { downloadBlob } from '../../../../src/download';

it('keeps the data until a busy browser has read it', () => {
  jest.useFakeTimers();
  const revoke = jest.fn();
  const click = jest.fn();
  URL.createObjectURL = () => 'blob:1';
  URL.revokeObjectURL = revoke;
  HTMLAnchorElement.prototype.click = click;
  downloadBlob('a.svg', new Blob(['<svg/>']));
  const [link] = click.mock.contexts as HTMLAnchorElement[];
  expect([link.href, link.download]).toEqual(['blob:1', 'a.svg']);
  jest.advanceTimersByTime(30_000);
  expect(revoke).not.toHaveBeenCalled();
  jest.runAllTimers();
  expect(revoke).toHaveBeenCalledWith('blob:1');
  jest.useRealTimers();
});
