import { openSidebar, sidebar } from '../../helpers/compilescope';
import { openNotebook, runAll } from '../../helpers/notebook';
import { SHARED, shutDown } from '../../helpers/shared';
import {
  expectNames,
  expectText,
  openView,
  picture
} from '../../helpers/views';
import { expect, test } from '../../helpers/test';

/**
 * Two ranks of one run as `compilescope.ranks` leaves them, without running
 * them; the second reduces otherwise.
 */
const CELLS = [
  '%load_ext compilescope',
  `
from compilescope import report as r
from compilescope.analysis.changes.ranks import compare
from compilescope.analysis.settings.cuda_graph_words import add_graph_words
from compilescope.distributed.remote_report import RemoteSubject
from compilescope.session.session import get_session
from compilescope.report.variant import Variant

EVIL = "<img src=x onerror=\\"document.title='evil'\\">"
SETTING = "torch._inductor.config.graph_partition = False"

def rank(number, how):
    code = r.Code(python="def call(args):\\n" + "    work(args)\\n" * 80)
    compilation = r.Compilation(id="0/0", code=code)
    variant = r.VariantReport(name="python", requested=Variant(), compilations=[compilation])
    subject = r.Subject(id=f"run-{number}", name="step")
    report = r.Report(subject=subject, variants=[variant])
    call = r.Collective(
        operator="_c10d_functional.all_reduce_.default", compilation="0/0", variant="python",
        reduction=how, group="0", bytes=4096.0, shape=["32", "32"], dtype="float32",
        line=60, waited=70, between=2,
        sources=[r.SourceLine(file="train.py", line=7, function="step", code="all_reduce(x)")],
    )
    own = r.Collective(operator="c10d.allreduce_", variant="python", direction="backward",
                       outside=True, shape=["90"])
    report.rank = r.Rank(rank=number, size=2, backend="gloo", device="cpu", group="run",
                         collectives=[call, own])
    report.variants[0].compilations[0].guards.append(r.Guard(expression=f"{number} {EVIL}"))
    report.variants[0].cuda_graphs = r.CudaGraphs(
        outcome="skipped", why="cpp-wrapper does not support graph partition yet",
        skips=[r.Skip(reason="cpp-wrapper does not support graph partition yet",
                      compilation="0/0", meaning="It is not generated in parts.",
                      remedy="Have the graph captured as a whole.", setting=SETTING)],
        partitions=[r.Partition(name="the inference graph", captured=False, compilation="0/0",
                                kernels=2, why=EVIL)],
        how="Predicted from the code by torch's rules: nothing ran here.")
    add_graph_words(report.variants[0].cuda_graphs)
    return report

reports = [rank(0, "sum"), rank(1, "max")]
compare(reports)
for number, report in enumerate(reports):
    get_session()._add_inspection(RemoteSubject(report, f"rank {number} of 2"), focus=number == 0)
`
];

test.afterAll(({ request }) => shutDown(request));

test('two ranks: what they call together, and differ in', async ({ page }) => {
  const notebook = `${SHARED}/ranks.ipynb`;
  await openNotebook(page, SHARED, 'ranks.ipynb', CELLS);
  await runAll(page, CELLS.length);
  await openSidebar(page);
  const list = sidebar(page).getByRole('listbox', {
    name: 'Inspected subjects'
  });
  await expect(list).toContainText('step on 2 ranks');
  await list.getByText('rank 0', { exact: true }).click();
  const view = await openView(page, 'ranks', 'Ranks', notebook);
  await expect(view).toContainText('Rank 0 of 2, gloo on cpu');

  await test.step('what may hang stands first', async () => {
    const first = view.locator('.jp-Compilescope-rankDifferences > li').first();
    await expect(first).toContainText('may hang or corrupt data');
    await expect(first).toContainText('all_reduce_.default sum');
    await expect(
      view.getByRole('table', { name: 'Collectives of python' })
    ).toContainText('torch.distributed, backward');
    await expectNames(view);
    await expectText(page, view);
    await picture(page, view, 'ranks');
  });

  await test.step('the other rank, and the line that waits', async () => {
    await view.getByRole('button', { name: 'rank 1' }).click();
    await expect(view).toContainText('Rank 1 of 2');
    await view.getByRole('button', { name: '70', exact: true }).click();
    await expect(
      page.getByRole('tab', { name: 'Code', exact: true })
    ).toHaveAttribute('aria-selected', 'true');
  });

  await test.step('why there is no CUDA graph, and what changes that', async () => {
    const requested = await openView(page, 'requested', 'Settings', notebook);
    const section = requested.getByRole('region', { name: 'CUDA graphs' });
    await expect(section).toContainText('not captured');
    await expect(section).toContainText('graph_partition = False');
    await expect(section.locator('img')).toHaveCount(0);
    await section.scrollIntoViewIfNeeded();
    await picture(page, requested, 'cuda-graphs');
  });
});
