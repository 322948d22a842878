"""Checks the kernels of graphs: in a process whose Triton is an interpreter."""

from __future__ import annotations

import functools
import math
import pickle
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch

from ...processes.folders import temporary
from ...report.target import KernelCheck
from ...torch_api.targets import interpreter
from ...torch_api.targets.described_graphs import LoweredGraph, Shape
from ..check import operators
from ..check.bodies import body
from ..check.cpu_wrapper import Wrapper
from ..check.errors import first_sentence
from ..check.examples import input_of
from ..check.judge import Judge
from ..check.verdict import not_checked, summary
from ..check_request import CheckReply, CheckRequest, Limits

_SEED = 20240229


def answer(world: Any, payload: bytes, step: Callable[[str], None]) -> bytes:
    """The answer to a `CheckRequest`."""
    _install()
    request = msgspec.msgpack.decode(payload, type=CheckRequest)
    graphs: list[LoweredGraph] = pickle.loads(request.graphs)
    if request.call:
        operators.load(request.call)
    until = time.monotonic() + request.limits.total_s
    by_body: dict[str, list[KernelCheck]] = {}
    saved: dict[str, dict[str, Any]] = {}
    with temporary("check") as folder:
        for number, graph in enumerate(graphs):
            place = folder / str(number)
            place.mkdir()
            saved_inputs = saved.get(graph.compile_id, {}) if graph.backward else {}
            checks, results = _checked(graph, saved_inputs, place, request.limits, until, step)
            if not graph.backward:
                saved[graph.compile_id] = results
            definitions = Wrapper(graph.wrapper).kernels
            for name, definition in definitions.items():
                by_body.setdefault(body(definition.source), []).append(checks[name])
    verdicts = {text: summary(checks) for text, checks in by_body.items()}
    return msgspec.msgpack.encode(CheckReply(checks=verdicts))


@functools.cache
def _install() -> None:
    torch.set_num_threads(1)
    interpreter.install()


def _checked(
    graph: LoweredGraph,
    saved_inputs: dict[str, Any],
    folder: Path,
    limits: Limits,
    until: float,
    step: Callable[[str], None],
) -> tuple[dict[str, KernelCheck], dict[str, Any]]:
    """The verdict on each kernel of a graph, and what the graph leaves for its backward."""
    kernels = Wrapper(graph.wrapper).kernels
    why = graph.problem or _too_large(graph, limits)
    if why:
        return {name: not_checked(why) for name in kernels}, {}
    checks, results, doubtful = _run(
        graph, saved_inputs, folder / "normal", limits, until, step, positive=False
    )
    if doubtful:
        # Logarithms of negative numbers or indices out of range: try small positive inputs.
        rechecked, positive, _ = _run(
            graph, saved_inputs, folder / "positive", limits, until, step, positive=True
        )
        checks |= {
            name: rechecked[name]
            for name in doubtful & set(checks)
            if _is_more_informative(rechecked[name], checks[name])
        }
        results = results or positive
    return checks, results


def _is_more_informative(check: KernelCheck, before: KernelCheck) -> bool:
    """Whether a verdict counts instead of an earlier one: a difference stays one."""
    if before.outcome == "agrees":
        return check.outcome != "not checked"
    return before.outcome == "not checked"


def _run(
    graph: LoweredGraph,
    saved_inputs: dict[str, Any],
    folder: Path,
    limits: Limits,
    until: float,
    step: Callable[[str], None],
    *,
    positive: bool,
) -> tuple[dict[str, KernelCheck], dict[str, Any], set[str]]:
    folder.mkdir()
    generator = torch.Generator().manual_seed(_SEED)
    judge = Judge(graph, folder, limits, until, generator, step)
    inputs = {}
    for node in graph.nodes:
        if node.op != "placeholder":
            continue
        if isinstance(node.value, Shape):
            value = input_of(graph, node, generator, positive=positive)
            earlier = saved_inputs.get(node.name)
            if isinstance(earlier, torch.Tensor) and _alike(earlier, node.value):
                value = earlier
            inputs[node.name] = value
        else:
            inputs[node.name] = saved_inputs.get(node.name, node.value)
    ended = ""
    outputs: tuple[Any, ...] = ()
    try:
        with torch.no_grad():
            outputs = judge.run(inputs)
    except Exception as error:  # noqa: BLE001 - the checks of the kernels after it say so
        reason = f"{type(error).__name__}: {first_sentence(error)}"
        ended = f"the wrapper cannot be run up to it here: {reason}"
    checks = {}
    for name in judge.wrapper.kernels:
        if name in judge.checks:
            check = checks[name] = summary(judge.checks[name])
            if judge.missing and check.outcome == "agrees":
                check.how += f"; {_stand_ins(list(judge.missing.values()))}"
        else:
            why = ended or "the wrapper did not launch it"
            checks[name] = not_checked(why)
    names = _output_names(graph)
    results = dict(zip(names, outputs, strict=False)) if len(names) == len(outputs) else {}
    return checks, results, judge.doubtful


def _stand_ins(missing: Sequence[str]) -> str:
    whose = "its" if len(missing) == 1 else "their"
    return f"this machine has no {', '.join(missing)}: random values stand in for {whose} results"


def _output_names(graph: LoweredGraph) -> list[str]:
    output = next(node for node in graph.nodes if node.op == "output")
    return [getattr(arg, "name", "") for arg in output.args[0]]


def _alike(tensor: torch.Tensor, shape: Shape) -> bool:
    return (
        tuple(tensor.shape) == shape.size
        and tensor.stride() == shape.stride
        and tensor.dtype == shape.dtype
    )


def _too_large(graph: LoweredGraph, limits: Limits) -> str:
    shapes = [node.value for node in graph.nodes if node.op == "placeholder"]
    shapes += [buffer.shape for buffer in graph.buffers.values()]
    count = sum(math.prod(shape.size) for shape in shapes if isinstance(shape, Shape))
    if count > limits.elements:
        return (
            f"the graph's tensors have {count:,} elements; the limit is {limits.elements:,}. "
            "Inspect the call with smaller arguments"
        )
    return ""
