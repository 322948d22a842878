import { servedPath } from '../../../src/notebook/reveal';

describe('servedPath', () => {
  it.each([
    ['/srv/work/a/b.py', '/srv/work', 'a/b.py'],
    ['/srv/work/b.py', '/srv/work/', 'b.py'],
    ['/srv/worker/b.py', '/srv/work', null],
    ['/usr/lib/python3/torch/nn.py', '/srv/work', null],
    ['/home/me/project/b.py', '~/project', 'b.py'],
    ['/root/project/b.py', '~/project', 'b.py'],
    ['/home/me/b.py', '~', 'b.py'],
    ['/home/me/other/project/b.py', '~/project', null],
    ['C:\\Users\\me\\project\\b.py', '~\\project', 'b.py'],
    ['/tmp/ipykernel_7/1.py', '~', null],
    ['<string>', '/srv/work', null]
  ])('%s under %s is %s', (file, root, path) => {
    expect(servedPath(file, root)).toBe(path);
  });
});
