"""Kernels for a GPU that is not there, interpreted and compared with their operators."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Sequence
from typing import Any

import cloudpickle
import compilescope as cs
import msgspec
import pytest
import torch
from compilescope.isolation.global_state import SavedModes
from compilescope.progress.progress import Monitor, Progress
from compilescope.report import Compilation, Kernel, TargetReport, VariantReport
from compilescope.report.target import KernelCheck
from compilescope.targets import checking, known_devices, target_variants
from compilescope.targets.call_packer import CallPacker
from compilescope.targets.check_request import (
    CheckReply,
    CheckRequest,
    GraphsReply,
    GraphsRequest,
    Limits,
)
from compilescope.targets.unsupported_kernels import LIBRARY
from compilescope.targets.worker_pool import shared_pool
from compilescope.torch_api.targets.described_graphs import LoweredGraph

from . import check_subjects as subjects

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(known_devices.unavailable()), reason=known_devices.unavailable()),
]

PATIENT = Limits(launch_s=300.0, total_s=900.0)
"""A busy machine takes its time."""


def rows(*size: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.zeros(*size, dtype=dtype)


def weights(*size: int) -> torch.Tensor:
    return torch.zeros(*size, requires_grad=True)


def indices(*size: int) -> torch.Tensor:
    return torch.zeros(*size, dtype=torch.int64)


HALVES = rows(32, 32, dtype=torch.bfloat16)
HEADS = rows(1, 2, 128, 32, dtype=torch.float16)
ASSUME = "; tl.assume(tl.program_id(0) < 0)"
TEMPLATES = {"max_autotune": True, "max_autotune_gemm_backends": "TRITON"}


@pytest.mark.parametrize(
    ("target", "fn", "args", "settings"),
    [
        ("h100", subjects.reduced, (rows(16, 200), rows(40, 3000)), {}),
        ("h100", subjects.scanned, (rows(8, 100),), {}),
        ("h100", subjects.functions, (rows(32, 32),), {}),
        ("h100", subjects.narrow, (HALVES, HALVES), {}),
        ("h100", subjects.whole, (indices(32, 32), indices(32, 32)), {}),
        ("h100", subjects.indexed, (rows(50, 16), indices(20), rows(20, 16)), {}),
        ("h100", subjects.from_the_end, (rows(50, 16), indices(20)), {}),
        ("h100", subjects.drawn, (rows(40, 33),), {}),
        ("h100", subjects.trained, (weights(32, 64), weights(64, 96)), {}),
        ("mi300x", subjects.trained, (weights(32, 64), weights(64, 96)), {}),
        (
            "h100",
            subjects.unread,
            (weights(16, 64), weights(64, 64), weights(64, 64), weights(64)),
            {},
        ),
        ("h100", subjects.any_size, (rows(37, 50),), {"dynamic": True}),
        ("h100", subjects.step, (rows(32, 32), rows(32, 32), rows(32, 32)), {}),
        ("h100", subjects.convolved, (rows(2, 3, 8, 8), rows(4, 3, 3, 3), rows(4)), {}),
        ("mi300x", subjects.product, (HALVES, HALVES), {"options": TEMPLATES}),
        ("h100", subjects.flexible, (HEADS, HEADS, HEADS), {}),
        ("h100", subjects.logarithm, (rows(16, 16),), {}),
    ],
)
def test_kernels_agree_with_their_operators(
    target: str, fn: Callable[..., Any], args: Sequence[Any], settings: dict[str, Any]
) -> None:
    variant = checked(fn, args, target=target, **settings)
    assert variant.problems == []
    kernels = generated(variant)
    assert kernels
    assert {kernel.name: check_text(kernel) for kernel in kernels} == {
        kernel.name: "agrees" for kernel in kernels
    }
    for kernel in kernels:
        assert kernel.check is not None
        assert kernel.check.launches >= 1
        assert kernel.check.error is not None
        assert kernel.check.tolerance is not None
        assert "Triton's interpreter" in kernel.check.how


@pytest.mark.parametrize(
    ("fn", "args", "right", "wrong", "said"),
    [
        (subjects.scaled, (rows(32, 32),), "2.0, tl.float32", "2.001, tl.float32", "instead of"),
        (subjects.scaled, (rows(30, 31),), "xindex < xnumel", "xindex < 900", "instead of"),
        (subjects.scaled, (rows(32, 32),), "in_ptr0 + (x0)", "in_ptr0 + (x0 + 1)", "memory"),
        (subjects.scaled, (rows(32, 32),), "x0 = xindex", f"x0 = xindex{ASSUME}", "to assume"),
        (subjects.summed, (rows(40, 3000),), "tl_math.sin", "tl_math.cos", "instead of"),
        (subjects.drawn, (rows(40, 33),), "0.3, tl.float32", "0.31, tl.float32", "instead of"),
        # Right for the positive numbers of a second run: that run takes back no difference.
        (subjects.logarithm, (rows(16, 16),), "log(tmp0)", "log(tl_math.abs(tmp0))", "instead of"),
    ],
)
def test_a_wrong_kernel_is_found(
    fn: Callable[..., Any], args: Sequence[Any], right: str, wrong: str, said: str
) -> None:
    graphs = lowered(fn, args)
    if right not in graphs[0].wrapper:
        pytest.skip(f"this torch generates no {right!r}")
    assert outcomes(graphs) == {"agrees"}
    graphs[0].wrapper = graphs[0].wrapper.replace(right, wrong)
    check = [verdict for verdict in ask_check(graphs).values() if verdict.outcome == "differs"]
    assert check
    assert said in check[0].why


def test_a_fault_in_one_kernel_is_not_told_of_the_next() -> None:
    graphs = lowered(subjects.trained, (weights(32, 64), weights(64, 96)))
    forward = graphs[0].wrapper
    assert "libdevice.rsqrt" in forward
    graphs[0].wrapper = forward.replace("libdevice.rsqrt", "libdevice.sqrt")
    verdicts = [verdict.outcome for verdict in ask_check(graphs).values()]
    assert verdicts.count("differs") == 1
    assert verdicts.count("agrees") == len(verdicts) - 1


@pytest.mark.skipif(
    torch.__version__.startswith("2.11."),
    reason="a target's C++ wrapper of torch 2.11 holds no Triton kernels",
)
def test_both_wrappers_share_a_check() -> None:
    call_packer = CallPacker(subjects.scaled, (rows(16, 17),), {}, SavedModes().now())
    python = generated_for("h100", call_packer, "python")
    cpp = generated_for("h100", call_packer, "cpp", cpp_wrapper=True)
    checking.add_check(python, call_packer.packed(), shared_pool(), Monitor(), limits=PATIENT)
    steps: list[str] = []
    monitor = Monitor(lambda now: steps.append(now.step))
    checking.add_check(cpp, call_packer.packed(), shared_pool(), monitor, limits=PATIENT)
    assert steps == []
    assert [check_text(kernel) for kernel in generated(cpp)] == ["agrees"]
    # A kernel that only the C++ wrapper has.
    (kernel,) = generated(cpp)
    kernel.source += "\n    pass"
    checking.add_check(cpp, call_packer.packed(), shared_pool(), monitor, limits=PATIENT)
    assert check_text(kernel) == f"not checked: {checking.OTHER_BODY}"


class Unable:
    """A pool whose processes generate no Python wrapper, so that no kernel is checked."""

    def __init__(self) -> None:
        self.kinds: list[str] = []

    def request(self, target: str, kind: str, *rest: Any, **named: Any) -> bytes:
        self.kinds.append(kind)
        no_graph = GraphsReply(graphs=pickle.dumps([]), why="torch generates no Python wrapper")
        return msgspec.msgpack.encode(no_graph if kind == "graphs" else CheckReply(checks={}))


def test_a_shared_check_keeps_its_reason_and_is_of_these_kernels() -> None:
    pool: Any = Unable()
    for name, source, asked in (
        ("python", "def f(): 1", 2),
        ("cpp", "def f(): 1", 2),
        # The subject's module has changed, of which its call holds only the name.
        ("other", "def f(): 2", 4),
    ):
        kernel = Kernel(name="f", language="triton", source=source)
        variant = VariantReport(
            name=name,
            requested=cs.Variant(target="h100"),
            target=TargetReport(name="h100", device=known_devices.find("h100")),
            compilations=[Compilation(id="0/0", kernels=[kernel])],
        )
        checking.add_check(variant, b"the same call", pool, Monitor())
        assert check_text(kernel) == "not checked: torch generates no Python wrapper"
        assert len(pool.kinds) == asked


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (Limits(elements=100), "the graph's tensors have 544 elements; the limit is 100."),
        (Limits(launch_s=0.0), "Triton's interpreter was not done within 0 s"),
        (Limits(total_s=0.0), "other kernels took the 0 s that a check may take"),
        (Limits(blocks=0), "blocks; the limit is 0"),
    ],
)
def test_what_is_too_large_or_too_slow_says_so(limits: Limits, why: str) -> None:
    variant = checked(subjects.scaled, (rows(16, 17),), limits=limits)
    (kernel,) = generated(variant)
    assert check_text(kernel).startswith("not checked: ")
    assert why in check_text(kernel)
    assert variant.problems == []


def test_a_kernel_that_cannot_be_interpreted_says_so() -> None:
    options = {"triton.cooperative_reductions": True}
    variant = checked(subjects.summed, (rows(4, 100000),), options=options)
    (kernel,) = generated(variant)
    assert "its blocks wait for each other" in check_text(kernel)


def test_a_library_call_that_is_not_here_is_told() -> None:
    heads = rows(2, 2, 32, 16, dtype=torch.float16)
    variant = checked(subjects.attended, (heads, heads, heads))
    assert {check_text(kernel) for kernel in generated(variant)} == {"agrees"}
    hows = [kernel.check.how for kernel in generated(variant) if kernel.check is not None]
    assert any("random values stand in for its results" in how for how in hows)
    others = [kernel for kernel in kernels_of(variant) if kernel.language == "extern"]
    assert {check_text(other) for other in others} == {f"not checked: {LIBRARY}"}


OPERATOR = """
import torch

SCALE = {scale}

@torch.library.custom_op("compilescope_tests::{name}", mutates_args=())
def scaled(x: torch.Tensor) -> torch.Tensor:
    return x * SCALE

@scaled.register_fake
def _(x):
    return torch.empty_like(x)

def f(x):
    return torch.ops.compilescope_tests.{name}(x.sin()).cos()
"""


@pytest.mark.parametrize(
    ("name", "scale", "stand_in"),
    [
        ("by_two", "2.0", ""),
        (
            "by_a_tensor",
            "torch.full((16,), 2.0)",
            "the values of tensors are not sent): random values stand in for its results",
        ),
    ],
)
def test_an_operator_of_a_notebook_is_called(name: str, scale: str, stand_in: str) -> None:
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(OPERATOR.format(name=name, scale=scale), space)
    before, after = generated(checked(space["f"], (rows(8, 16),)))
    assert check_text(after) == "agrees"
    assert after.check is not None
    assert ("stand in" in after.check.how) == bool(stand_in)
    assert stand_in in after.check.how
    missing = "not checked: it works for compilescope_tests.by_a_tensor.default (it holds a tensor"
    assert check_text(before).startswith(missing if stand_in else "agrees")


def test_an_interpreter_that_is_killed_is_told_and_replaced() -> None:
    call_packer = CallPacker(subjects.scaled, (rows(16, 19),), {}, SavedModes().now())
    variant = generated_for("h100", call_packer, "python")

    def kill(now: Progress) -> None:
        if "under Triton's interpreter" in now.step:
            os.kill(shared_pool().pids()["interpreter"], signal.SIGKILL)

    monitor = Monitor(kill)
    # It is ended in the middle of something that it would be at for long.
    large = CallPacker(subjects.summed, (rows(4000, 4000),), {}, SavedModes().now())
    killed = generated_for("h100", large, "python")
    limits = msgspec.structs.replace(PATIENT, elements=1 << 26)
    checking.add_check(killed, large.packed(), shared_pool(), monitor, limits=limits)
    for kernel in generated(killed):
        assert check_text(kernel).startswith(
            "not checked: The check failed: The process started to check kernels"
        )
        assert "SIGKILL" in check_text(kernel)
    (problem,) = killed.problems
    assert problem.severity == "warning"
    checking.add_check(variant, call_packer.packed(), shared_pool(), Monitor(), limits=PATIENT)
    assert [check_text(kernel) for kernel in generated(variant)] == ["agrees"]


def checked(
    fn: Callable[..., Any],
    args: Sequence[Any],
    *,
    target: str = "h100",
    limits: Limits = PATIENT,
    **settings: Any,
) -> VariantReport:
    call_packer = CallPacker(fn, args, {}, SavedModes().now())
    variant = generated_for(target, call_packer, "python", **settings)
    checking.add_check(variant, call_packer.packed(), shared_pool(), Monitor(), limits=limits)
    return variant


def generated_for(
    target: str, call_packer: CallPacker, name: str, **settings: Any
) -> VariantReport:
    wanted = {name: cs.Variant(target=target, **settings)}
    return target_variants.generate(call_packer, wanted, name, Monitor())


def lowered(fn: Callable[..., Any], args: Sequence[Any]) -> list[LoweredGraph]:
    """The graphs of a subject, as they go to the interpreter."""
    call_packer = CallPacker(fn, args, {}, SavedModes().now())
    variant = cloudpickle.dumps(cs.Variant(target="h100"))
    graphs_asked = GraphsRequest(variant=variant, call=call_packer.packed())
    answer = shared_pool().request(
        "h100", "graphs", msgspec.msgpack.encode(graphs_asked), Monitor()
    )
    decoded = msgspec.msgpack.decode(answer, type=GraphsReply)
    assert decoded.why == ""
    graphs: list[LoweredGraph] = pickle.loads(decoded.graphs)
    return graphs


def ask_check(graphs: list[LoweredGraph]) -> dict[str, KernelCheck]:
    check_asked = CheckRequest(graphs=pickle.dumps(graphs), limits=PATIENT)
    payload = msgspec.msgpack.encode(check_asked)
    answer = shared_pool().request("h100", "check", payload, Monitor(), role="interpreter")
    return msgspec.msgpack.decode(answer, type=CheckReply).checks


def outcomes(graphs: list[LoweredGraph]) -> set[str]:
    return {verdict.outcome for verdict in ask_check(graphs).values()}


def kernels_of(variant: VariantReport) -> list[Kernel]:
    return [kernel for compilation in variant.compilations for kernel in compilation.kernels]


def generated(variant: VariantReport) -> list[Kernel]:
    return [kernel for kernel in kernels_of(variant) if kernel.language == "triton"]


def check_text(kernel: Kernel) -> str:
    assert kernel.check is not None
    why = kernel.check.why
    return f"{kernel.check.outcome}: {why}" if why else kernel.check.outcome
