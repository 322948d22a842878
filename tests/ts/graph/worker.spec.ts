import { fromText } from '../../../src/graph/worker/factory';

it('Workers out of one text share its address', () => {
  const createObjectURL = jest.fn(() => 'blob:1');
  Object.assign(URL, { createObjectURL });
  const worker = jest.fn();
  Object.assign(globalThis, { Worker: worker });
  const make = fromText('self.close()');
  expect(createObjectURL).not.toHaveBeenCalled();
  make();
  make();
  expect(createObjectURL).toHaveBeenCalledTimes(1);
  expect(worker.mock.calls).toEqual([['blob:1'], ['blob:1']]);
});
