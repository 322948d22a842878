import { FULL, overviewStage } from './overviewSupport';

describe('What the Overview suggests to change', () => {
  let page: ReturnType<typeof overviewStage>;

  beforeEach(() => {
    page = overviewStage();
  });

  afterEach(() => page.remove());

  it('tries what is a setting, and says where other code belongs', () => {
    const context = page.drawOverview(FULL);
    const [graphs, , size] = FULL.suggestions!;
    page.click(page.button('Try it'));
    expect(page.onTry).toHaveBeenLastCalledWith(graphs.requested);
    page.click(page.button('Try dynamic=True'));
    expect(page.onTry).toHaveBeenLastCalledWith(size.requested);
    expect(page.text()).toContain(
      'Paste the code before the call (cell line 13).'
    );
    const shown = page
      .all('.jp-Compilescope-do button')
      .filter(element => element.textContent === 'Show');
    page.click(shown[0]);
    expect(context.open).toHaveBeenLastCalledWith('verdict');
    page.click(shown[1]);
    expect(page.model.showVariant).toHaveBeenLastCalledWith('cpp');
    expect(context.open).toHaveBeenLastCalledWith('changes');
    page.click(shown[2]);
    expect(context.open).toHaveBeenLastCalledWith('recompiles');
    expect([page.model.variant, page.model.compilation]).toEqual([
      'in the cell',
      '0/2'
    ]);
  });

  it('tries by a study what no variant can have', () => {
    const blocks = { ...FULL.suggestions![1], study: 'blocks', of: 'python' };
    page.drawOverview({ ...FULL, suggestions: [blocks] });
    page.click(page.button('Try it'));
    expect(page.model.startStudies).toHaveBeenLastCalledWith(
      ['blocks'],
      ['python']
    );
    page.model.isLive = false;
    page.drawOverview({ ...FULL, suggestions: [blocks] });
    expect(() => page.button('Try it')).toThrow();
  });

  it('shows code in what to change as code, fenced or not', () => {
    const first = FULL.suggestions![0];
    const what =
      'Register it:\n```python\n@op.register_fake\ndef _(x): ...\n```';
    page.drawOverview({
      ...FULL,
      suggestions: [{ ...first, what, why: 'Use `op`.' }]
    });
    const [item] = page.all('.jp-Compilescope-overviewWhat');
    expect(item.textContent).not.toContain('`');
    const code = [...item.querySelectorAll('code')].map(
      element => element.textContent
    );
    expect(code).toEqual(['@op.register_fake\ndef _(x): ...', 'op']);
  });

  it('leads to each of the lines to change', () => {
    const first = FULL.suggestions![0];
    const lines = [3, 7].map(line => ({
      file: '/tmp/model.py',
      line,
      function: 'forward',
      code: 'torch._dynamo.graph_break()'
    }));
    page.drawOverview({ ...FULL, suggestions: [{ ...first, lines }] });
    const links = page.all('.jp-Compilescope-suggestionLines button');
    expect(links.map(link => link.textContent)).toEqual([
      'model.py:3',
      'model.py:7'
    ]);
    page.click(links[1]);
    expect(page.model.select).toHaveBeenLastCalledWith(
      expect.objectContaining({ source: { file: '/tmp/model.py', line: 7 } })
    );
  });

  it('cuts no reason, however many suggestions there are', () => {
    const first = FULL.suggestions![0];
    const why = `${'The first step creates its state. '.repeat(9)}Make one in eager.`;
    page.drawOverview({
      ...FULL,
      suggestions: Array(9).fill({ ...first, why })
    });
    for (const item of page.all('.jp-Compilescope-overviewWhat')) {
      expect(item.textContent).toContain(why);
    }
  });
});
