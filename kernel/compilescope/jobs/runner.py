"""What can be done to a subject's variants, and doing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Literal

import msgspec

from ..inspection.inspection import Inspection
from ..inspection.layers_unasked import BREAKDOWN, variant_to_break_down
from ..isolation.global_state import in_force
from ..isolation.thread_switching import generating, responsive
from ..progress.progress import Cancelled, Monitor
from ..report import is_record
from ..report.variant import Variant

Kind = Literal["build", "measure", "study"]


class Work(msgspec.Struct, kw_only=True, frozen=True):
    """What a job is to do. Two of the same are one."""

    kind: Kind = "build"
    build: bool = True
    """Of the kind ``build``: not the sources alone."""
    breakdown: bool = False
    """Of the kind ``build``: then where a call's time goes, if that takes seconds."""
    seconds: float = 10.0
    """Of measuring."""
    again: bool = False
    """Measures anew, also where it could go on."""
    studies: tuple[str, ...] = ()


def usual(inspection: Inspection, kind: Kind) -> dict[str, Variant]:
    """The variants of a report that work is about when none is named."""
    found = [variant for variant in inspection.report.variants if not is_record(variant)]
    if kind != "build":
        found = [
            variant for variant in found if variant.stage != "failed" and variant.requested.backend
        ]
    if kind == "measure":
        found = [variant for variant in found if variant.requested.target is None]
    if kind == "study":
        found = [
            variant for variant in found if variant.stage == "built" or variant.requested.target
        ] or found
    return {variant.name: variant.requested for variant in found}


def is_aside(wanted: Mapping[str, Variant]) -> bool:
    """Whether work on these variants calls nothing of the user's: all are for targets."""
    return all(variant.target is not None for variant in wanted.values())


def carry_out_aside(
    work: Work, inspection: Inspection, wanted: Mapping[str, Variant], monitor: Monitor
) -> None:
    """Does work that calls nothing of the user's, in any thread, while a cell runs.

    That is all work on variants for targets, and the sources of others whose capture is there.
    """
    known = {one.name for one in inspection.report.variants if one.stage != "failed"}
    new = {name: variant for name, variant in wanted.items() if name not in known}
    try:
        new = new if work.kind != "build" or work.build else dict(wanted)
        # A target's code comes out of a process of its own, which takes no lock of this one's.
        with responsive(), nullcontext() if is_aside(new) else generating(monitor):
            inspection.generate(new, monitor)
        if work.kind == "study":
            inspection.study(list(wanted), work.studies, monitor)
        elif work.build:
            inspection.run(list(wanted), monitor)
    except Cancelled:
        raise
    except Exception as error:  # noqa: BLE001 - what the report has by now is not lost
        inspection.fault(error)


def prepare(inspection: Inspection, wanted: Mapping[str, Variant], monitor: Monitor) -> bool:
    """Calls the subject as often as `carry_out_aside` needs for the sources of these variants.

    Returns
    -------
    bool
        False: a fault of compilescope's own, which is noted in the report, kept it from that.
    """
    try:
        with responsive(), in_force(inspection.modes):
            inspection.capture(wanted, monitor)
    except Cancelled:
        raise
    except Exception as error:  # noqa: BLE001 - what the report has by now is not lost
        inspection.fault(error)
        return False
    return True


def carry_out(
    work: Work,
    inspection: Inspection,
    wanted: Mapping[str, Variant],
    monitor: Monitor,
    told: Callable[[], None],
) -> None:
    """Does it, in torch's modes as they were when the subject was inspected.

    A fault of compilescope's own is noted in the report, which has what came before.

    Parameters
    ----------
    told
        Called when a measurement has something new.
    """
    # What is there is not generated again; what failed may go well now that it is asked for.
    known = {
        one.name
        for one in inspection.report.variants
        if work.kind != "build" or one.stage != "failed"
    }
    new = {name: variant for name, variant in wanted.items() if name not in known}
    try:
        with responsive(), in_force(inspection.modes):
            inspection.capture(new, monitor)
            inspection.generate(new, monitor)
            if work.kind == "measure":
                inspection.measure(
                    list(wanted), monitor, seconds=work.seconds, again=work.again, told=told
                )
            elif work.kind == "study":
                inspection.study(list(wanted), work.studies, monitor)
            elif work.build:
                inspection.run(list(wanted), monitor)
                if work.breakdown and (
                    name := variant_to_break_down(inspection.report, wanted, inspection.changed)
                ):
                    inspection.study([name], BREAKDOWN, monitor)
    except Cancelled:
        raise
    except Exception as error:  # noqa: BLE001 - what the report has by now is not lost
        inspection.fault(error)
