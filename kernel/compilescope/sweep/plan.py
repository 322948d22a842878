"""The plan of a sweep: its cells, and the subject packed for each set of arguments."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..isolation.global_state import SavedModes
from ..processes.runner import Limits
from ..report import Report, Subject
from ..report.argument_checks import check_arguments, check_function, check_mapping
from ..report.errors import CompilescopeError
from ..report.measurements.sweeps import Sweep, SweepCell
from ..report.variant import Variant
from ..subject import pickled_subject
from ..subject.arguments import check_types
from ..subject.subject import describe, unwrap
from ..targets import target_variants
from ..torch_api.process import caches, portable_settings
from ..torch_api.process.environment import environment
from . import cell_ids
from .settings import Settings


@dataclass
class Plan:
    """A sweep that can begin."""

    subject: Subject
    call: pickled_subject.Call | None
    """The first of its calls; None where a factory makes it elsewhere."""
    sweep: Sweep
    data: dict[str, bytes]
    """Shape → the subject, packed with its arguments."""
    header: dict[str, Any]
    limits: Limits
    seconds: float
    resume: bool
    part: str = ""
    """Which part of a sweep that is divided among machines: ``2-of-8``."""


def make(
    fn: Callable[..., Any] | None,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    factory: Callable[[], Any] | None = None,
    variants: Mapping[str, Variant],
    shapes: Mapping[str, Any] | None = None,
    settings: Settings,
    modes: Sequence[Any] | None = None,
    written: str = "sweep({}, {})",
) -> Plan:
    """Packs the subject and lists the cells, by shape and then by variant.

    ``modes`` are torch's, this thread's if None; ``written`` is how a remedy writes the sweep.

    Raises
    ------
    CompilescopeError
        The subject cannot be pickled, does not take the arguments, or a number is out of range.
    """
    if (fn is None) == (factory is None):
        raise CompilescopeError(
            "A sweep takes either a subject or a factory.",
            remedy="Write sweep(fn, args), or sweep(factory=make) where make() returns (fn, args).",
        )
    check_function("fn" if factory is None else "factory", fn if factory is None else factory)
    check_arguments(args, kwargs)
    if fn is not None:
        check_types(fn, args, kwargs, written)
    check_mapping("shapes", shapes, "arguments by name: {'small': ((x,), {})}", optional=True)
    settings.check()
    target_variants.refuse(variants, "swept")
    if shapes is not None and not shapes:
        raise CompilescopeError("shapes is empty.", remedy="Leave it out, or name some arguments.")
    sets: dict[str, Any] = dict(shapes) if shapes is not None else {"": None}
    if factory is None and shapes is None:
        sets = {"": (tuple(args), dict(kwargs or {}))}
    sets = {str(name): _read(value) for name, value in sets.items()}
    call = _first(fn, sets)
    if call is not None:
        first = written if shapes is None else pickled_subject.of_shape(next(iter(sets)))
        subject = describe(*call, call=first)
    else:
        subject = describe(_required(factory))
    base = cell_ids.identity(unwrap(fn) if fn is not None else factory)
    modes = SavedModes().now() if modes is None else modes
    machine = _machine(modes)
    cells = []
    for shape, arguments in sets.items():
        lines = _lines(fn, arguments, pickled_subject.of_shape(shape))
        arguments_id = cell_ids.identity_of_arguments(arguments)
        cells += [
            SweepCell(
                key=cell_ids.key(base, variant, arguments_id, machine),
                name=name,
                variant=variant,
                shape=shape,
                arguments=lines,
            )
            for name, variant in variants.items()
        ]
    _make_keys_unique(cells)
    folder = settings.folder or caches.own_folder() / "sweeps" / base[:16]
    sweep = Sweep(
        cells=cells,
        shapes=list(sets),
        items=settings.items,
        unit=settings.unit,
        folder=str(folder),
    )
    packed = {
        shape: pickled_subject.pack(
            fn,
            arguments,
            factory=factory,
            modes=modes,
            takes_factory="compilescope.sweep(factory=make)",
        )
        for shape, arguments in sets.items()
    }
    return Plan(
        subject,
        call,
        sweep,
        packed,
        pickled_subject.header(),
        settings.limits,
        settings.seconds,
        settings.resume,
    )


def _make_keys_unique(cells: Sequence[SweepCell]) -> None:
    """Makes the keys of cells unique that measure the same under two names."""
    seen: set[str] = set()
    for cell in cells:
        while cell.key in seen:
            cell.key = cell_ids.key(cell.key, cell.variant, f"{cell.name} {cell.shape}", ())
        seen.add(cell.key)


def _read(value: object) -> object:
    """A set of arguments, as (args, kwargs) where it is here already."""
    return value if value is None or callable(value) else pickled_subject.as_arguments(value)


def _lines(fn: Callable[..., Any] | None, arguments: Any, written: str) -> list[str]:
    if fn is None or arguments is None or callable(arguments):
        return []
    return describe(fn, *arguments, call=written).arguments


def _first(fn: Callable[..., Any] | None, sets: Mapping[str, Any]) -> pickled_subject.Call | None:
    if fn is None:
        return None
    first = next(iter(sets.values()))
    args, kwargs = pickled_subject.as_arguments(first()) if callable(first) else first
    return pickled_subject.Call(unwrap(fn), args, kwargs)


def _required(factory: Callable[[], Any] | None) -> Callable[[], Any]:
    assert factory is not None, "one of the two is given"
    return factory


def _machine(modes: Sequence[Any]) -> list[str]:
    """What a measurement depends on besides the cell: torch, devices, modes and settings."""
    machine = environment()
    settings = portable_settings.changed_settings()
    return [
        machine.torch,
        str(machine.triton),
        machine.cpu,
        *machine.gpus,
        *map(str, modes),
        cell_ids.identity(settings),
    ]


def new_report(subject: Subject) -> Report:
    """A report of what no session holds."""
    return Report(
        created=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        subject=subject,
        environment=environment(),
    )
