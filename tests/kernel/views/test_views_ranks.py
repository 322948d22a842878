"""CUDA graphs and ranks as text and HTML; collectives and differences from plain structs."""

from __future__ import annotations

from compilescope.analysis.changes.ranks import compare
from compilescope.analysis.wrapper.collectives import find_collectives
from compilescope.report import (
    Code,
    Compilation,
    CudaGraphs,
    Graph,
    Guard,
    Node,
    Partition,
    Rank,
    Region,
    Report,
    Skip,
    Subject,
    VariantReport,
)
from compilescope.report.variant import Variant
from compilescope.views.html import report as html
from compilescope.views.text import report as text

SETTING = "torch._inductor.config.graph_partition = False"


def compilation(reduction: str, device: str = "cpu") -> Compilation:
    def node(name: str, operator: str, args: str, *inputs: str) -> Node:
        target = f"torch.ops._c10d_functional.{operator}.default"
        return Node(
            name=name, op="call_function", target=target, args=args, inputs=list(inputs),
            shape=["4", "s0"], dtype="float32",
        )  # fmt: skip

    def launch(label: str, line: int) -> Region:
        return Region(kind="launch", start=line - 1, end=line, key=f"l{line}", label=label)

    nodes = [
        node("all_reduce", "all_reduce", f"x, '{reduction}', '0'", "x"),
        node("wait_tensor", "wait_tensor", "all_reduce", "all_reduce"),
    ]
    compiled = Compilation(
        id="0/0",
        graphs={"post_grad": Graph(stage="post_grad", text=f"on {device}", nodes=nodes)},
        guards=[Guard(expression=f"check({device}, 140231231231231)")],
    )
    shim = "aoti_torch_cpu__c10d_functional_"
    compiled.code = Code(
        cpp=f"Guard device_guard({device.partition(':')[2] or 0});",
        regions={
            "cpp": [
                launch("aoti_torch_cpu__c10d_functional_all_reduce_coalesced", 2),
                launch(f"{shim}all_reduce_", 4),
                launch("cpp_fused_sin_0", 6),
                launch(f"{shim}wait_tensor", 9),
            ]
        },
    )
    return compiled


def ranked(rank: int, reduction: str, device: str) -> Report:
    compiled = compilation(reduction, device)
    report = Report(
        subject=Subject(id=f"g-{rank}", name="step"),
        variants=[
            VariantReport(name="cpp", requested=Variant(cpp_wrapper=True), compilations=[compiled])
        ],
        rank=Rank(rank=rank, size=2, backend="nccl", device=device, group="g"),
    )
    assert report.rank is not None
    report.rank.collectives = find_collectives(compiled, "cpp")
    return report


def test_a_collective_is_found_in_the_cpp_wrapper() -> None:
    (collective,) = find_collectives(compilation("sum"), "cpp")
    assert (collective.line, collective.waited, collective.between) == (4, 9, 1)
    assert (collective.reduction, collective.group, collective.bytes) == ("sum", "0", None)


def test_the_number_of_the_device_is_no_difference_and_another_reduction_is() -> None:
    same = [ranked(0, "sum", "cuda:0"), ranked(1, "sum", "cuda:1")]
    compare(same)
    assert all(variant.rank is not None and variant.rank.same for variant in same), same[0].rank
    assert "Rank 0 of 2, nccl on cuda:0 \u00b7 Same code on every rank" in text.render(same[0])
    assert "Same code as on rank 0" in text.render(same[1])
    other = [ranked(0, "sum", "cuda:0"), ranked(1, "max", "cuda:1")]
    compare(other)
    assert other[1].rank is not None
    (difference,) = other[1].rank.differences
    assert (difference.kind, difference.serious, difference.other) == ("collectives", True, 0)
    output = text.render(other[1])
    outcome = "1 difference from other ranks, 1 may hang or corrupt data"
    assert f"Rank 1 of 2, nccl on cuda:1 \u00b7 {outcome}" in output
    assert "all_reduce max float32[4, s0] in 0/0 inference, line 4" in output
    page = html.render(other[1], full=True)
    assert "1 may hang" in page
    assert "waited for in line 9" in page


def test_cuda_graphs_are_told() -> None:
    graphs = CudaGraphs(
        outcome="skipped",
        skips=[Skip(reason="graph <partition>", meaning="Not in parts.", setting=SETTING)],
        partitions=[Partition(name="the inference graph", captured=False, kernels=2)],
    )
    counted = CudaGraphs(outcome="captured", captured=1, replayed=2, calls=4)
    report = Report(
        subject=Subject(id="s", name="f"),
        variants=[
            VariantReport(name="cpp", requested=Variant(cpp_wrapper=True), cuda_graphs=graphs),
            VariantReport(name="python", requested=Variant(), cuda_graphs=counted),
        ],
    )
    output = text.render(report)
    assert "cpp: CUDA graphs: not captured" in output
    assert SETTING in output
    assert "in 4 calls: 1 recorded, 2 replayed, 0 recorded again" in output
    page = html.render(report, full=True)
    assert "graph &lt;partition&gt;" in page
    assert "graph <partition>" not in page
