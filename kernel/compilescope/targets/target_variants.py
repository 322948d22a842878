"""Variants for a target: requested from its process, and added to the report like any other.

This calls no user code and does not hold torch's compile lock: a cell may run.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import cloudpickle
import msgspec

from ..analysis.target.roofline import estimate
from ..progress.progress import Monitor, Progress
from ..report import TargetReport, VariantReport
from ..report.devices import Device
from ..report.errors import CompilescopeError
from ..report.problem import Problem
from ..report.variant import Variant
from ..torch_api.process.float32_precision import rounds_float32
from . import known_devices, packed_call
from .sources_request import SourcesReply, SourcesRequest
from .whole_call import SentCall, WholeCall
from .worker_pool import AT_MOST, WorkerPool, shared_pool

NOT_HERE = "Nothing runs for {}: it is not available. The times of its code are estimated."


class Shipment:
    """A subject's call, packed when it is first needed, with torch as it was when this was made."""

    def __init__(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        modes: Sequence[Any],
    ) -> None:
        self._call = (fn, args, kwargs)
        self._modes = modes
        # Inductor's settings are context variables: another thread must take them from here.
        self._context = contextvars.copy_context()
        self._lock = threading.Lock()
        self._packed: bytes | None = None
        self._refusal: Problem | None = None
        self.rounds_float32 = rounds_float32()
        """Whether float32 products may be rounded to TF32."""

    def packed(self) -> bytes:
        """The call as `packed_call.pack` makes it.

        Raises
        ------
        CompilescopeError
            It cannot travel.
        """
        with self._lock:
            if self._packed is None:
                self._packed = self._context.copy().run(self._pack)
            return self._packed

    def packed_now(self) -> bytes:
        """As `packed`, with the objects as they are now.

        Raises
        ------
        CompilescopeError
            It cannot travel.
        """
        return self._context.copy().run(self._pack)

    def packed_whole(self) -> SentCall:
        """The call with its values, for a process that runs it.

        Call it on the thread that calls the subject: nothing may change its objects meanwhile. A
        refusal is remembered, so that cells do not wait for it again.

        Raises
        ------
        CompilescopeError
            It cannot travel.
        MemoryError
            Too little memory is free now.
        """
        if (refusal := self._refusal) is not None:
            raise CompilescopeError(refusal.what, refusal.why, refusal.remedy)
        whole = WholeCall()
        try:
            call = self._context.copy().run(packed_call.pack, *self._call, self._modes, whole)
        except BaseException as error:
            whole.values.close()
            if isinstance(error, CompilescopeError):
                self._refusal = error.problem
            raise
        return SentCall(call, whole.values)

    def forget_refusal(self) -> None:
        """Has `packed_whole` try again: the subject's code was changed."""
        self._refusal = None

    def packed_arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bytes:
        """The arguments of another call, packed like this one.

        Raises
        ------
        CompilescopeError
            They cannot travel.
        """
        return self._context.copy().run(packed_call.pack, None, args, kwargs, self._modes)

    def _pack(self) -> bytes:
        return packed_call.pack(*self._call, self._modes)


def generate(
    shipment: Shipment, variants: Mapping[str, Variant], name: str, monitor: Monitor
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
        request = SourcesRequest(name=name, variant=pickled(variant), call=shipment.packed())
        payload = msgspec.msgpack.encode(request)
        answer = pool.ask(variant.target or "", "sources", payload, monitor)
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
        target=_report(variant, device, generated, shipment),
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
    variant: Variant, device: Device, generated: SourcesReply, shipment: Shipment
) -> TargetReport:
    is_here = known_devices.normalized(variant.target or "") == known_devices.THIS_GPU
    report = TargetReport(name=variant.target or "", device=device, is_here=is_here)
    if generated.compilations:
        report.estimate = estimate(
            generated.compilations, device, requested=variant, tf32=shipment.rounds_float32
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
