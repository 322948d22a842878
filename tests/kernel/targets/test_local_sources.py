"""Code for this machine that another process generates while the kernel is free."""

from __future__ import annotations

import contextvars
import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.builds.capture_fingerprint import fingerprint
from compilescope.builds.capture_graphs import Captured
from compilescope.capture.records import Record
from compilescope.inspection.inspection import Inspection
from compilescope.progress.progress import Cancelled, Monitor
from compilescope.session.session import Session
from compilescope.targets.worker.world import ThisMachine
from compilescope.targets.worker_pool import shared_pool
from torch._inductor import config as inductor_config
from torch._inductor import lowering
from torch.nn.attention import SDPBackend, sdpa_kernel

from .. import target_subjects as subjects
from ..compared_texts import texts
from ..jobs_aside import assert_main_thread_is_free

pytestmark = pytest.mark.slow

DYNAMIC = cs.Variant(dynamic=True)
CPP = cs.Variant(dynamic=True, cpp_wrapper=True)
NAME = "python dynamic"

IDS = torch.randint(0, 64, (3, 5))
X = torch.randn(8, 16)


def inspected(fn: Callable[..., Any], args: Sequence[Any]) -> Inspection:
    """A call whose kernel has the capture of the usual variant."""
    inspection = Inspection(fn, args)
    inspection.sources.capture({"python": cs.Variant()}, Monitor())
    return inspection


def nested(scale: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """A function that other processes do not find by its name, and with globals of its module."""

    def fn(x: torch.Tensor) -> torch.Tensor:
        return (subjects.scaled(x) + torch.arange(x.shape[1])) * scale

    return fn


def loss(ids: torch.Tensor, model: torch.nn.Module) -> torch.Tensor:
    return torch.nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten())


def product(x: torch.Tensor) -> torch.Tensor:
    return x @ x.T


def with_sizes_of_meta(x: torch.Tensor) -> torch.Tensor:
    return x.relu() + torch.empty(3, device="meta").shape[0]


@pytest.mark.parametrize(
    ("fn", "args", "variant"),
    [
        (loss, (IDS, subjects.Tied()), DYNAMIC),
        (loss, (IDS, subjects.Tied()), CPP),
        (nested(3), (X,), DYNAMIC),
        (product, (X,), cs.Variant(dynamic=True, mode="max-autotune-no-cudagraphs")),
        (with_sizes_of_meta, (X,), DYNAMIC),
    ],
    ids=["python", "cpp", "nested function", "one candidate to measure", "a tensor without data"],
)
def test_another_process_generates_the_code_that_the_kernel_would(
    fn: Callable[..., Any], args: tuple[Any, ...], variant: cs.Variant
) -> None:
    inspection = inspected(fn, args)
    assert not inspection.sources.has_capture(variant)
    assert inspection.sources.may_generate_elsewhere(variant)
    assert inspection.sources.generate_elsewhere({"dynamic": variant}, Monitor())
    elsewhere = inspection.report.variant("dynamic")
    assert elsewhere.requested == variant
    assert not inspection.sources.has_capture(variant), "the kernel has captured nothing"
    inspection.sources.capture({"dynamic": variant}, Monitor())
    here = inspection._generation.sources("dynamic", variant)
    assert texts(elsewhere) == texts(here)


def replace_relu(graph: torch.fx.Graph) -> None:
    for node in graph.nodes:
        if node.target is torch.ops.aten.relu.default:
            node.target = torch.ops.aten.sigmoid.default


def test_passes_and_attention_backends_of_the_user_are_applied() -> None:
    attention = torch.nn.functional.scaled_dot_product_attention
    query = torch.randn(2, 4, 8, 16)
    with (
        inductor_config.patch(post_grad_custom_pre_pass=replace_relu),
        sdpa_kernel(SDPBackend.MATH),
    ):
        inspection = inspected(lambda x: attention(x, x, x).relu(), (query,))
        assert inspection.sources.generate_elsewhere({NAME: DYNAMIC}, Monitor())
        elsewhere = inspection.report.variant(NAME)
        inspection.sources.capture({NAME: DYNAMIC}, Monitor())
        here = inspection._generation.sources(NAME, DYNAMIC)
    graph = elsewhere.compilations[0].graphs["post_grad"].text
    assert "sigmoid" in graph
    assert "flash" not in graph
    assert texts(elsewhere) == texts(here)


def test_a_pass_that_cannot_travel_stays_in_the_kernel() -> None:
    lock = threading.Lock()

    def locked_pass(graph: torch.fx.Graph) -> None:
        with lock:
            replace_relu(graph)

    with inductor_config.patch(post_grad_custom_pre_pass=locked_pass):
        inspection = inspected(subjects.scaled, (X,))
    assert not inspection.sources.generate_elsewhere({NAME: DYNAMIC}, Monitor())


def test_a_lowering_of_the_user_stays_in_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    inspection = inspected(torch.sin, (X,))
    sine = torch.ops.aten.sin.default
    cosine = lowering.lowerings[torch.ops.aten.cos.default]
    monkeypatch.setitem(lowering.lowerings, sine, lambda x: cosine(x))
    assert not inspection.sources.generate_elsewhere({NAME: DYNAMIC}, Monitor())


def test_sets_in_guards_have_no_order() -> None:
    digests = {
        fingerprint(
            Captured(
                records=[
                    Record(
                        event="dynamo_cpp_guards_str",
                        metadata={},
                        payload=f"KINDS == {kinds}  # fn",
                    )
                ],
                context=contextvars.copy_context(),
            )
        )
        for kinds in (
            "frozenset({<class 'list'>, <function namedtuple at 0x7f00>})",
            "frozenset({<function namedtuple at 0x7e00>, <class 'list'>})",
        )
    }
    assert len(digests) == 1


def test_the_value_of_a_number_is_known_there() -> None:
    numbers = torch.tensor([5.0, 7.0], dtype=torch.float64)
    inspection = inspected(lambda x, number: x * number, (X, numbers[1]))
    assert inspection.sources.generate_elsewhere({NAME: DYNAMIC}, Monitor())
    (compilation,) = inspection.report.variant(NAME).compilations
    assert "7.0" in [symbol.value for symbol in compilation.symbols]


def test_deterministic_algorithms_fill_no_memory_there() -> None:
    world = ThisMachine()
    torch.use_deterministic_algorithms(True)
    try:
        tensor = world.tensor((1000, 1000), (1000, 1), torch.float32, device="cpu")
    finally:
        torch.use_deterministic_algorithms(False)
    assert not tensor.isnan().all()


def test_a_flip_that_needs_a_capture_leaves_the_main_thread_free() -> None:
    session = Session()
    report = session.inspect(subjects.scaled, (X,), variants="python", run=False)
    assert_main_thread_is_free(session, report, DYNAMIC)


def test_a_report_from_builds_needs_one_short_capture_in_the_kernel() -> None:
    session = Session()
    report = session.inspect(subjects.scaled, (X,), variants="python")  # it builds at once
    subject = report.subject.id
    inspection = session.inspection(subject)
    assert isinstance(inspection, Inspection)
    results: list[Any] = []
    asking = threading.Thread(
        target=lambda: results.append(session.panel_jobs.sources(subject, DYNAMIC))
    )
    asking.start()
    asking.join()
    ((name, job),) = results
    assert (job.state, job.aside) == ("queued", False)
    session.panel_jobs.run_pending()
    assert job.ended.wait(600)
    assert report.variant(name).stage == "sources"
    assert inspection.sources.has_capture(cs.Variant())
    assert not inspection.sources.has_capture(DYNAMIC)


def test_other_calls_are_compared_with_guards_of_the_other_process() -> None:
    inspection = inspected(loss, (IDS, subjects.Tied()))
    other = inspected(subjects.scaled, (X,))
    assert other.sources.generate_elsewhere({NAME: DYNAMIC}, Monitor())
    assert other.what_if(NAME, "torch.randn(3, 4)", {"torch": torch}).verdict == "reuse"
    grown = other.what_if(NAME, "torch.randn(1, 4)", {"torch": torch})
    assert grown.verdict == "recompile"
    assert grown.outcomes[0].actual == "L['x'].size()[0] = 1"
    with pytest.raises(cs.CompilescopeError, match="scaled cannot be called with these arguments"):
        other.what_if(NAME, "3, 4, 5", {})
    # A module in the arguments is another object there.
    assert inspection.sources.generate_elsewhere({NAME: DYNAMIC}, Monitor())
    with pytest.raises(cs.CompilescopeError, match="Run the variant, then ask again"):
        inspection.what_if(NAME, "ids, model", {})


@pytest.fixture
def edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, Path]]:
    """A module of the user's, and its file."""
    file = tmp_path / "edited_subject.py"
    file.write_text("def scaled(x):\n    return x.clamp(0, 50257)\n")
    monkeypatch.syspath_prepend(tmp_path)
    shared_pool().close()  # it keeps the folder of another test's module of this name
    yield importlib.import_module("edited_subject"), file
    del sys.modules["edited_subject"]


def test_code_of_a_file_that_was_changed_since_is_generated_in_the_kernel(
    edited: tuple[Any, Path],
) -> None:
    module, file = edited
    session = Session()
    report = session.inspect(module.scaled, (X,), variants="python", run=False)
    file.write_text("def scaled(x):\n    return x.clamp(0, 60257)\n")
    subject = report.subject.id
    name, job = session.panel_jobs.sources(subject, DYNAMIC)
    assert job is not None
    if job.aside:
        assert job.ended.wait(600)
        assert (job.state, job.needs_main_thread) == ("done", True)
        assert name not in [variant.name for variant in report.variants]
        name, job = session.panel_jobs.sources(subject, DYNAMIC)
    assert job is not None
    assert (job.state, job.aside) == ("queued", False)
    session.panel_jobs.run_pending()
    graph = report.variant(name).compilations[0].graphs["dynamo"]
    assert "50257" in graph.text


def test_called_code_that_was_changed_since_is_generated_in_the_kernel(
    edited: tuple[Any, Path],
) -> None:
    module, file = edited
    name = "scaled"

    def fn(x: torch.Tensor) -> torch.Tensor:
        called: torch.Tensor = getattr(module, name)(x)
        return called

    assert inspected(fn, (X,)).sources.generate_elsewhere({NAME: DYNAMIC}, Monitor())
    inspection = inspected(fn, (X,))
    # The graph of the usual variant is the same.
    file.write_text("def scaled(x):\n    return x.clamp(0, 50249 + x.shape[0])\n")
    assert not inspection.sources.generate_elsewhere({NAME: DYNAMIC}, Monitor())


def with_break(x: torch.Tensor) -> torch.Tensor:
    y = x.relu()
    torch._dynamo.graph_break()
    return y + 1


@torch._dynamo.disable
def until_found(x: torch.Tensor) -> torch.Tensor:
    while x[0, 0] != X[0, 0]:
        x = x.clone()
    return x


def with_code_before(x: torch.Tensor) -> torch.Tensor:
    return until_found(x) * 2


@pytest.mark.parametrize(
    ("fn", "args"),
    [(with_break, (X,)), (with_code_before, (X,)), (subjects.scaled, (X.to("meta"),))],
    ids=["graph break", "code before the graph", "not on a CPU"],
)
def test_calls_that_have_to_run_stay_in_the_kernel(
    fn: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    assert not inspected(fn, args).sources.may_generate_elsewhere(DYNAMIC)


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (lambda x: x.sum().item(), (X,)),
        (subjects.scaled, (torch.randn(8, 16, dtype=torch.complex64).real,)),
    ],
    ids=["value", "view of another dtype"],
)
def test_calls_that_cannot_be_traced_there_are_left_to_the_kernel(
    fn: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    inspection = inspected(fn, args)
    assert not inspection.sources.generate_elsewhere({NAME: DYNAMIC}, Monitor())


def test_what_cannot_travel_stays_in_the_kernel() -> None:
    lock = threading.Lock()

    def fn(x: torch.Tensor) -> torch.Tensor:
        return x + 1 if lock is not None else x

    inspection = inspected(fn, (X,))
    assert inspection.sources.may_generate_elsewhere(DYNAMIC)
    assert not inspection.sources.generate_elsewhere({NAME: DYNAMIC}, Monitor())
    assert not inspection.sources.may_generate_elsewhere(DYNAMIC), "it is not tried again"


def test_a_cancel_ends_the_process_and_the_next_request_starts_another() -> None:
    shared_pool().close()  # it keeps captures
    inspection = inspected(subjects.scaled, (X,))
    monitor = Monitor(lambda now: monitor.cancel() if "Dynamo" in now.step else None)
    with pytest.raises(Cancelled):
        inspection.sources.generate_elsewhere({NAME: DYNAMIC}, monitor)
    assert inspection.report.variants == []
    assert "local" not in shared_pool().pids()
    assert inspection.sources.generate_elsewhere({NAME: DYNAMIC}, Monitor())


def test_a_process_that_is_killed_leaves_the_work_to_the_kernel() -> None:
    shared_pool().close()
    inspection = inspected(subjects.scaled, (X,))
    steps: list[str] = []

    def kill(now: Any) -> None:
        steps.append(now.step)
        if "Dynamo" in now.step:
            os.kill(shared_pool().pids()["local"], signal.SIGKILL)

    assert not inspection.sources.generate_elsewhere({NAME: DYNAMIC}, Monitor(kill))
    assert "Dynamo is tracing the call" in steps
    assert inspection.report.variants == []
