"""A call inspected on two ranks, each a process of its own: collectives, and what differs."""

from __future__ import annotations

import contextlib

import cloudpickle
import psutil
import pytest
import torch.distributed as dist
from compilescope import CompilescopeError, ranks
from compilescope.distributed.remote_report import RemoteSubject
from compilescope.report import Rank, Report
from compilescope.report.saving.storage import from_json
from compilescope.report.variant import Variant
from compilescope.session.lazy import session
from compilescope.session.session import Session
from torch.testing._internal.distributed.fake_pg import FakeStore

from .. import rank_subjects

pytestmark = pytest.mark.slow

# The processes need not find the tests.
cloudpickle.register_pickle_by_value(rank_subjects)

PATIENCE_S = 300.0
TRACED = {"traced": Variant(backend="aot_eager")}
"""Compiled, but by no C++ compiler."""


def rank_of(report: Report) -> Rank:
    assert report.rank is not None
    return report.rank


def test_a_model_that_trains_under_ddp_is_built_on_both_ranks() -> None:
    # Its own hook reduces the gradients; without one DDP calls the same.
    reports = ranks(rank_subjects.make_hooked_ddp, variants="python", timeout_s=PATIENCE_S)
    assert [rank_of(report).rank for report in reports] == [0, 1]
    assert len({rank_of(report).group for report in reports}) == 1
    for report in reports:
        variant = report.variant("python")
        assert variant.stage == "built", (variant.problems, report.problems)
        assert variant.accuracy
        assert all(error.ok for error in variant.accuracy)
        assert variant.timing is not None
        assert variant.timing.ratio is not None
        assert report.problems == []
        # Dynamo leaves DDP's own forward to eager, and compiles the model's.
        assert "backward" in variant.compilations[-1].graphs
        (called,) = rank_of(report).collectives
        assert called.outside
        assert (called.operator, called.direction) == ("c10d.allreduce_", "backward")
        assert rank_of(report).same, rank_of(report).differences
        assert isinstance(session().inspection(report.subject.id), RemoteSubject)
        assert from_json(report.to_json()).rank == report.rank
    with pytest.raises(CompilescopeError, match="rank 0 of 2, which has ended"):
        session().panel_jobs.run(reports[0].subject.id)


def test_a_model_that_fsdp_spreads_is_called_many_times() -> None:
    # Between a forward and its backward the model holds whole parameters: each call begins anew.
    for report in ranks(rank_subjects.make_fsdp, variants=TRACED, timeout_s=PATIENCE_S):
        assert report.problems == []
        variant = report.variant("traced")
        assert (variant.stage, variant.timing is not None) == ("built", True), variant.problems
        assert {error.path.rpartition(".")[2] for error in variant.accuracy} == {"output", "grad"}
        assert len(variant.accuracy) == 5
        assert all(error.ok for error in variant.accuracy)
        called = [
            (collective.operator, collective.direction)
            for collective in rank_of(report).collectives
        ]
        assert set(called) == {
            ("c10d._allgather_base_", "forward"),
            ("c10d._allgather_base_", "backward"),
            ("c10d._reduce_scatter_base_", "backward"),
        }
        assert rank_of(report).same, rank_of(report).differences


def test_an_optimizer_s_step_on_fsdp_s_parameters_has_sources() -> None:
    # Their gradients are parts of one larger tensor, which torch cannot copy.
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        fn, args = rank_subjects.make_fsdp_step()
        report = Session().inspect(fn, args, {}, variants=["python"], run=False)
    finally:
        dist.destroy_process_group()
    variant = report.variant("python")
    assert variant.problems == []
    assert any(compilation.code.python for compilation in variant.compilations)


def test_tensor_parallel_layers_have_sources_of_both_wrappers() -> None:
    # Their device mesh is an input of the graph, and no tensor.
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    try:
        fn, args = rank_subjects.make_tensor_parallel()
        report = Session().inspect(fn, args, {}, variants=["python", "cpp"], run=False)
    finally:
        dist.destroy_process_group()
    for variant in report.variants:
        assert variant.problems == []
        (compilation,) = variant.compilations
        assert any("all_reduce" in kernel.name for kernel in compilation.kernels)
        assert compilation.code.backward is not None
    assert report.variant("cpp").compilations[0].code.cpp


def test_a_rank_that_alone_is_wrong_keeps_no_other_waiting() -> None:
    right, wrong = ranks(
        rank_subjects.make_off_on_one,
        variants={"unwritten": Variant(backend="eager"), **TRACED},
        timeout_s=PATIENCE_S,
    )
    # A disk that is full on one rank: none builds the variant, and the next one is built by all.
    unwritten = [report.variant("unwritten") for report in (right, wrong)]
    assert [variant.stage for variant in unwritten] == ["failed", "failed"]
    assert [variant.problems[-1].what for variant in unwritten] == [
        "This variant was not built, as another rank has no folder to build it in.",
        "The disk of /cache is full.",
    ]
    # What is off is compared with the result in float64 too: one call more, which all make.
    for report, off in ((right, 0.0), (wrong, 1.0)):
        assert report.problems == []
        variant = report.variant("traced")
        assert (variant.stage, variant.timing is not None) == ("built", True)
        assert variant.accuracy[0].max_abs == off
        assert variant.accuracy[0].reference_abs == off
        assert len(variant.problems) == int(off)


def test_ranks_that_call_something_else_are_told_of() -> None:
    first, second = ranks(
        rank_subjects.make_uneven, variants="python", run=False, timeout_s=PATIENCE_S
    )
    collectives = rank_of(first).collectives
    assert [collective.operator.split(".")[1].rstrip("_") for collective in collectives] == [
        "all_gather_into_tensor",
        "reduce_scatter_tensor",
        "all_reduce",
    ]
    assert [collective.bytes for collective in collectives] == [256, 64, 4]
    assert [collective.reduction for collective in collectives] == ["", "sum", "sum"]
    code = first.variant("python").compilations[0].code.python
    assert code is not None
    lines = code.split("\n")
    for item in collectives:
        assert item.line is not None
        assert item.waited is not None
        assert item.operator.split(".")[1].rstrip("_") in lines[item.line - 1]
        assert "wait_tensor" in lines[item.waited - 1]
        assert item.sources[-1].function == "sharded"
    assert not rank_of(first).same
    serious = [difference for difference in rank_of(first).differences if difference.serious]
    assert [difference.kind for difference in serious] == ["collectives"]
    assert "sum" in serious[0].here
    assert "max" in serious[0].there
    kinds = {difference.kind for difference in rank_of(second).differences}
    assert {"graph", "guards", "collectives"} <= kinds


def test_a_rank_that_dies_ends_the_others_and_says_so() -> None:
    reports = ranks(rank_subjects.make_dying, variants="python", run=False, timeout_s=PATIENCE_S)
    assert "exit code 3" in reports[1].problems[0].what
    assert rank_of(reports[1]).size == 2
    mine = psutil.Process().children(recursive=True)
    assert not [process for process in mine if _is_of_a_rank(process)]


def _is_of_a_rank(process: psutil.Process) -> bool:
    # What has ended since it was listed has no command.
    with contextlib.suppress(psutil.Error):
        return "compilescope.distributed.process" in " ".join(process.cmdline())
    return False


@pytest.mark.parametrize(
    ("size", "backend", "what"),
    [(0, "gloo", "size is 0"), (2, "carrier-pigeon", "no backend"), (99, "gloo", "size is 99")],
)
def test_what_cannot_be_is_refused(size: int, backend: str, what: str) -> None:
    with pytest.raises(CompilescopeError, match=what):
        ranks(rank_subjects.make_ddp, size, backend=backend)
