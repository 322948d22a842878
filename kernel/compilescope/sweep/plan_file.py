"""A planned sweep as a file, and the part of it that one machine runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from ..processes.runner import Limits
from ..report import Subject
from ..report.errors import CompilescopeError
from ..report.measurements.sweeps import Sweep
from ..report.saving.earlier_names import with_present_names
from ..report.saving.path_checks import write_whole, writing
from .plan import Plan

SCHEMA = 1


class PlanFile(msgspec.Struct, kw_only=True):
    """The file."""

    schema: int = SCHEMA
    subject: Subject
    sweep: Sweep
    """Its folder is relative to the file's, unless it is absolute."""
    data: dict[str, bytes]
    """Shape → the subject, packed with its arguments."""
    header: dict[str, Any]
    limits: Limits
    seconds: float


def write(plan: Plan, path: Path) -> None:
    """Writes a plan, or keeps the old one.

    Raises
    ------
    CompilescopeError
        It cannot be written.
    """
    content = PlanFile(
        subject=plan.subject,
        sweep=plan.sweep,
        data=plan.data,
        header=plan.header,
        limits=plan.limits,
        seconds=plan.seconds,
    )
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    # Backends and options that are functions go with the subject; their names stand for them.
    write_whole(path, msgspec.json.encode(content, enc_hook=repr).decode())


def read(path: Path, part: tuple[int, int] | None = None) -> Plan:
    """Reads a plan.

    Parameters
    ----------
    part
        Which part of it, from 1, of how many; all of it if None.

    Raises
    ------
    CompilescopeError
        It is no plan, or of a newer compilescope.
    """
    try:
        content = msgspec.json.decode(with_present_names(path.read_bytes()), type=PlanFile)
    except msgspec.DecodeError as error:
        raise CompilescopeError(
            f"{path} is not a plan of a sweep.", f"{error}.", "Write one with cs.plan_sweep."
        ) from None
    if content.schema > SCHEMA:
        raise CompilescopeError(f"{path} was written by a newer compilescope.")
    sweep = content.sweep
    sweep.folder = str(path.parent / sweep.folder)
    name = ""
    if part is not None:
        at, of = part
        sweep.cells = sweep.cells[at - 1 :: of]
        used = {cell.shape for cell in sweep.cells}
        sweep.shapes = [shape for shape in sweep.shapes if shape in used]
        name = f"{at}-of-{of}"
    return Plan(
        subject=content.subject,
        call=None,
        sweep=sweep,
        data=content.data,
        header=content.header,
        limits=content.limits,
        seconds=content.seconds,
        resume=True,
        part=name,
    )
