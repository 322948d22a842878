"""Variants for a target: requested from its process, and added to the report like any other.

This calls no user code and does not hold torch's compile lock: a cell may run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

import cloudpickle
import msgspec

from ..analysis.target.roofline import estimate
from ..progress.progress import Monitor, Progress
from ..report import TargetReport, VariantReport
from ..report.devices import Device
from ..report.errors import CompilescopeError
from ..report.variant import Variant
from . import known_devices
from .call_packer import CallPacker
from .sources_request import SourcesReply, SourcesRequest
from .worker_pool import AT_MOST, WorkerPool, shared_pool

NOT_HERE = "Nothing runs for {}: it is not available. The times of its code are estimated."


def generate(
    call_packer: CallPacker, variants: Mapping[str, Variant], name: str, monitor: Monitor
) -> VariantReport:
    """The code of a variant for its target. What goes wrong is a problem of the variant.

    Parameters
    ----------
    variants
        All that are wanted, in order: processes for the coming targets start meanwhile.
    name
        Which of them.

    Raises
    ------
    Cancelled
        The monitor was canceled; the target's process has ended.
    """
    variant = variants[name]
    pool = shared_pool()
    monitor = _named(monitor, name)
    try:
        device = known_devices.find(variant.target or "")
        _warm_coming(pool, variants, name)
        request = SourcesRequest(name=name, variant=pickled(variant), call=call_packer.packed())
        payload = msgspec.msgpack.encode(request)
        answer = pool.request(variant.target or "", "sources", payload, monitor)
    except CompilescopeError as error:
        return VariantReport(name=name, requested=variant, stage="failed", problems=[error.problem])
    generated = msgspec.msgpack.decode(answer, type=SourcesReply)
    failed = any(problem.severity == "error" for problem in generated.problems)
    return VariantReport(
        name=name,
        requested=variant,
        stage="failed" if failed else "sources",
        config=generated.config,
        effective=generated.effective,
        cuda_graphs=generated.cuda_graphs,
        compilations=generated.compilations,
        target=_report(variant, device, generated, call_packer),
        problems=generated.problems,
    )


def refuse(variants: Mapping[str, Variant], what: str) -> None:
    """Refuses to run variants whose device is not here.

    Raises
    ------
    CompilescopeError
        One of them is for a target.
    """
    for name, variant in variants.items():
        if variant.target is not None:
            raise CompilescopeError(
                f"The variant {name!r} cannot be {what}.",
                NOT_HERE.format(known_devices.find(variant.target).name),
                "Name variants without a target.",
            )


def _warm_coming(pool: WorkerPool, variants: Mapping[str, Variant], name: str) -> None:
    """Starts the processes of this variant's target and of the next, as many as the pool holds."""
    order = list(variants)
    coming = [variants[later].target for later in order[order.index(name) :]]
    targets = list(dict.fromkeys(known_devices.normalized(target) for target in coming if target))
    # The one that is needed now comes last: the pool ends the least recently used ones first.
    for target in reversed(targets[:AT_MOST]):
        # An unknown target is reported for its own variant.
        with contextlib.suppress(CompilescopeError):
            pool.warm(target)


def _report(
    variant: Variant, device: Device, generated: SourcesReply, call_packer: CallPacker
) -> TargetReport:
    is_here = known_devices.normalized(variant.target or "") == known_devices.THIS_GPU
    report = TargetReport(name=variant.target or "", device=device, is_here=is_here)
    if generated.compilations:
        report.estimate = estimate(
            generated.compilations, device, requested=variant, tf32=call_packer.rounds_float32
        )
    else:
        report.absent["estimate"] = "Nothing was compiled."
    return report


def pickled(variants: object) -> bytes:
    """A variant, or several, for another process, which reads them with ``pickle.loads``.

    Raises
    ------
    CompilescopeError
        An option cannot be pickled.
    """
    try:
        return bytes(cloudpickle.dumps(variants))
    except Exception as error:
        raise CompilescopeError(
            "The variant's options cannot be sent to the target's process.",
            f"{type(error).__name__}: {error}.",
            "Leave out the option that cannot be pickled.",
        ) from error


def _named(monitor: Monitor, variant: str) -> Monitor:
    """A monitor whose steps are of this variant."""

    def step(now: Progress) -> None:
        monitor.step(now.step, variant=variant, fraction=now.fraction)

    return monitor.within(step)
