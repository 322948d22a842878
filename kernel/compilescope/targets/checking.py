"""Checks a target's kernels without the device: interprets them and compares with operators."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import NamedTuple

import cloudpickle
import msgspec

from .. import extras
from ..analysis.target.check_words import add_check_words
from ..progress.progress import Monitor
from ..report import Kernel, VariantReport
from ..report.errors import CompilescopeError
from ..report.problem import Problem
from ..report.target import KernelCheck
from .check.bodies import body
from .check_request import CheckReply, CheckRequest, GraphsReply, GraphsRequest, Limits
from .unsupported_kernels import why_left_out
from .worker_pool import WorkerPool

OTHER_BODY = (
    "The C++ wrapper cannot be run without the device, and the Python wrapper has no such kernel"
)

_MAX_RESULTS = 8


class _Result(NamedTuple):
    variant: str
    """The name of the variant that was checked. Another request for it checks it once more."""
    missing: str
    """Why graphs are missing, where some are."""
    checks: CheckReply


_results: OrderedDict[str, _Result] = OrderedDict()
"""The last results: variants that differ only in the wrapper share them."""


def add_check(
    variant: VariantReport,
    call: bytes,
    pool: WorkerPool,
    monitor: Monitor,
    *,
    limits: Limits | None = None,
) -> None:
    """Checks the kernels of a target's variant, and puts the verdicts into the report.

    Parameters
    ----------
    call
        The subject's, as `packed_call.pack` made it.
    limits
        How much is checked; kernels beyond the limits say so.

    Raises
    ------
    CompilescopeError
        The target's process failed. A failure of the interpreter's process leaves the kernels
        unchecked and becomes a problem of the variant.
    Cancelled
        The monitor was canceled.
    """
    assert variant.target is not None, "it is a target's variant"
    try:
        _check_kernels(variant, call, pool, monitor, limits or Limits())
    finally:
        add_check_words(variant)


def _check_kernels(
    variant: VariantReport, call: bytes, pool: WorkerPool, monitor: Monitor, limits: Limits
) -> None:
    kernels = [kernel for compilation in variant.compilations for kernel in compilation.kernels]
    checkable = []
    for kernel in kernels:
        if why := why_left_out(kernel):
            kernel.check = KernelCheck(outcome="not checked", why=why)
        else:
            checkable.append(kernel)
    if checkable and (missed := extras.missed("numpy")):
        for kernel in checkable:
            kernel.check = KernelCheck(outcome="not checked", why=missed)
        variant.problems.append(
            Problem(
                severity="warning",
                what="The kernels were not checked.",
                why=missed,
                remedy="Install it, then ask for the study of the check again.",
            )
        )
    elif checkable:
        _check_by_interpreter(variant, checkable, call, pool, monitor, limits)


def _check_by_interpreter(
    variant: VariantReport,
    kernels: list[Kernel],
    call: bytes,
    pool: WorkerPool,
    monitor: Monitor,
    limits: Limits,
) -> None:
    assert variant.target is not None, "it is a target's variant"
    alike = msgspec.structs.replace(variant.requested, cpp_wrapper=False)
    packed = cloudpickle.dumps(alike)
    # The packed call has only the names of a module's functions: the kernels show a change of them.
    bodies = sorted({body(kernel.source) for kernel in kernels})
    key = _key(call, packed, msgspec.msgpack.encode((variant.target.device, limits, bodies)))
    result = _results.get(key)
    if result is None or result.variant == variant.name:
        request = GraphsRequest(variant=packed, call=call)
        answer = pool.request(
            variant.target.name, "graphs", msgspec.msgpack.encode(request), monitor
        )
        graphs = msgspec.msgpack.decode(answer, type=GraphsReply)
        check = CheckRequest(graphs=graphs.graphs, call=call, limits=limits)
        payload = msgspec.msgpack.encode(check)
        try:
            answer = pool.request(
                variant.target.name, "check", payload, monitor, role="interpreter"
            )
        except CompilescopeError as error:
            _mark_failed(variant, kernels, error.problem)
            return
        checks = msgspec.msgpack.decode(answer, type=CheckReply)
        result = _results[key] = _Result(variant.name, graphs.why, checks)
        while len(_results) > _MAX_RESULTS:
            _results.popitem(last=False)
    for kernel in kernels:
        verdict = result.checks.checks.get(body(kernel.source))
        why = result.missing or OTHER_BODY
        kernel.check = verdict or KernelCheck(outcome="not checked", why=why)
    _add_problem(variant, kernels)


def _key(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def _mark_failed(variant: VariantReport, kernels: list[Kernel], problem: Problem) -> None:
    for kernel in kernels:
        kernel.check = KernelCheck(outcome="not checked", why=f"The check failed: {problem.what}")
    variant.problems.append(
        Problem(
            severity="warning",
            what="The kernels were not checked: their interpreter's process failed.",
            why=" ".join(part for part in (problem.what, problem.why) if part),
            remedy="Ask again; smaller arguments take less time and memory.",
            detail=problem.detail,
        )
    )


def _add_problem(variant: VariantReport, kernels: list[Kernel]) -> None:
    """A kernel that differs is a problem of the variant."""
    for kernel in kernels:
        if kernel.check is None or kernel.check.outcome != "differs":
            continue
        problem = Problem(
            severity="error",
            what=f"{kernel.name} does not compute what its operators do.",
            why=f"{kernel.check.how}: {kernel.check.why}.",
            remedy="Compare its source with the graph's nodes; torch's issues may know of it.",
            where=kernel.sources[0] if kernel.sources else None,
        )
        if problem not in variant.problems:
            variant.problems.append(problem)
