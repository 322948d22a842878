"""Converts the caller's request to named variants."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from ..report import AS_WRITTEN, IN_CELL, Report, is_record
from ..report.argument_checks import kind_of
from ..report.errors import CompilescopeError
from ..report.problem import Problem
from ..report.references import display, is_reference, refer, resolve
from ..report.variant import Variant
from ..targets import known_devices as known
from ..torch_api.dynamo import compile_variant
from ..torch_api.dynamo.compile_arguments import CompileArguments

_SETTINGS: dict[str, tuple[tuple[type, ...], str]] = {
    "backend": ((str, type(None)), "the name of a backend, a function, or None for eager"),
    "mode": ((str, type(None)), "the name of a mode, or None"),
    "cpp_wrapper": ((bool,), "True or False"),
    "dynamic": ((bool, type(None)), "True, False or None"),
    "fullgraph": ((bool,), "True or False"),
    "options": ((dict,), "a dict of Inductor's settings"),
    "target": ((str, type(None)), "the name of a device, or None"),
}
"""Setting → the types that it accepts, and their description."""


USUAL = ("python", "cpp")
"""The variants that are inspected by default."""


def named() -> dict[str, Variant]:
    """The variants with a name, for the installed torch."""
    modes = [mode for mode in compile_variant.modes() if mode != "default"]
    return {
        "python": Variant(),
        "cpp": Variant(cpp_wrapper=True),
        **{mode: Variant(mode=mode) for mode in modes},
        "eager": Variant(backend=None),
    }


def parse(variants: object) -> dict[str, Variant]:
    """Names, `Variant` objects, or a dictionary of either, as a dictionary.

    Raises
    ------
    CompilescopeError
        A name that the installed torch does not have, a setting out of range, or a wrong type.
    """
    if isinstance(variants, (str, Variant)):
        variants = (variants,)
    if isinstance(variants, Mapping):
        result = {str(name): _checked(value) for name, value in variants.items()}
    elif isinstance(variants, Iterable):
        result = {}
        for value in variants:
            variant = _checked(value)
            result[value if isinstance(value, str) else name_of(variant)] = variant
    else:
        raise CompilescopeError(
            f"variants is {kind_of(variants)}.",
            remedy=f"Give names ({_listed(named())}), Variant objects, or a dict of them.",
        )
    if not result:
        raise CompilescopeError("variants is empty.", remedy=f"Name some of {_listed(named())}.")
    if taken := {AS_WRITTEN, IN_CELL} & set(result):
        raise CompilescopeError(
            f"A variant cannot be called {min(taken)!r}.",
            "These names are for the user's own torch.compile and the cell's own compilations.",
            "Give it another name.",
        )
    if "eager" in result and result["eager"].backend is not None:
        raise CompilescopeError(
            "A compiled variant cannot be called 'eager'.",
            "That is the name of the uncompiled call, which the others are compared with.",
            "Give it another name.",
        )
    return result


def name_of(variant: Variant) -> str:
    """A short name that distinguishes a variant from others.

    Examples
    --------
    >>> name_of(Variant(cpp_wrapper=True, dynamic=True))
    'cpp dynamic'
    """
    if variant.backend is None:
        return "eager"
    mode = variant.mode if variant.mode != "default" else None
    parts = []
    if not variant.uses_inductor:
        parts.append(f"backend={display(variant.backend)}")
    if variant.cpp_wrapper:
        parts.append("cpp")
    if mode:
        parts.append(mode)
    if not parts:
        parts.append("python")
    if variant.dynamic is not None:
        parts.append("dynamic" if variant.dynamic else "static")
    if variant.fullgraph:
        parts.append("fullgraph")
    parts += [f"{name}={display(value)}" for name, value in sorted(variant.options.items())]
    if variant.target:
        parts.append(f"on {variant.target}")
    return " ".join(parts)


def name_in(report: Report, variant: Variant) -> str:
    """The name of a variant in a report: its existing name, or a new one."""
    for other in report.variants:
        if other.requested == variant and not is_record(other):
            return other.name
    taken = {other.name for other in report.variants}
    name = name_of(variant)
    numbered = (f"{name} {number}" for number in itertools.count(2))
    return name if name not in taken else next(new for new in numbered if new not in taken)


def check(variant: Variant) -> None:
    """Raises `CompilescopeError` for settings that the installed torch would refuse."""
    for name, (types, allowed) in _SETTINGS.items():
        value = getattr(variant, name)
        if not isinstance(value, types):
            raise CompilescopeError(
                f"A variant's {name} is {value!r}.", remedy=f"It takes {allowed}."
            )
    if variant.target is not None:
        _check_target(variant)
    if variant.backend is None:
        return
    is_own = is_reference(variant.backend)
    if is_own:
        resolve(variant.backend)
    elif variant.backend not in compile_variant.backends():
        raise _unknown("backend", variant.backend, compile_variant.usual_backends())
    if guard_filter := variant.options.get(compile_variant.GUARD_FILTER):
        _check_option(compile_variant.GUARD_FILTER, guard_filter)
    others = [name for name in variant.options if name != compile_variant.GUARD_FILTER]
    if is_own:
        if variant.cpp_wrapper or (variant.mode and variant.options):
            raise CompilescopeError(
                "A custom backend takes a mode or options, but no cpp_wrapper.",
                "torch.compile passes it one of the two; cpp_wrapper is Inductor's setting.",
                "Leave the others out.",
            )
        return
    if variant.mode is not None and variant.mode not in compile_variant.modes():
        raise _unknown("mode", variant.mode, compile_variant.modes())
    if not variant.uses_inductor and (variant.cpp_wrapper or variant.mode or others):
        raise CompilescopeError(
            f"The backend {variant.backend!r} takes no cpp_wrapper, mode or options.",
            "They are Inductor's settings; the only option it takes is guard_filter_fn.",
            "Use backend='inductor', or leave them out.",
        )
    for name, value in variant.options.items():
        _check_option(name, value)


def _check_target(variant: Variant) -> None:
    assert variant.target is not None, "the caller has looked"
    if reason := known.unavailable():
        raise CompilescopeError("There are no targets here.", reason, "Leave target out.")
    known.find(variant.target)
    if not variant.uses_inductor:
        raise CompilescopeError(
            f"The backend {variant.backend!r} takes no target.",
            "Only Inductor generates code for a target.",
            "Use backend='inductor', or leave the target out.",
        )


def _check_option(name: str, value: object) -> None:
    options = compile_variant.options()
    if name not in options:
        raise _unknown("option", name, options)
    kind = compile_variant.option_type(name)
    value = resolve(value)
    if kind is not None and not isinstance(value, kind):
        takes = "a function" if kind is Callable else kind.__name__
        raise CompilescopeError(
            f"The option {name!r} takes {takes}, not {type(value).__name__} ({value!r})."
        )


def _checked(value: object) -> Variant:
    return checked(_parse_variant(value))


def checked(variant: Variant) -> Variant:
    """The same variant as plain data, with its target's name as lists show it.

    Raises
    ------
    CompilescopeError
        For settings that the installed torch would refuse.
    """
    backend: Any = variant.backend
    if callable(backend) or isinstance(variant.options, dict):
        backend = refer(backend) if callable(backend) else backend
        variant = msgspec.structs.replace(variant, backend=backend, options=refer(variant.options))
    check(variant)
    if variant.uses_inductor and "cpp_wrapper" in variant.options:
        # torch's own spelling of the switch, over which it would win.
        options = dict(variant.options)
        cpp_wrapper = bool(options.pop("cpp_wrapper"))
        variant = msgspec.structs.replace(variant, cpp_wrapper=cpp_wrapper, options=options)
    if variant.target is None:
        return variant
    return msgspec.structs.replace(variant, target=known.normalized(variant.target))


def with_written(
    variants: Mapping[str, Variant], written: CompileArguments | None, *, chosen: bool
) -> tuple[str, dict[str, Variant], list[Problem]]:
    """The requested variants, preceded by that of the user's own ``torch.compile``.

    Parameters
    ----------
    variants
        The requested ones.
    written
        The settings of the user's ``torch.compile``; None if there is none.
    chosen
        Whether the user chose ``variants``. If not, they are replaced by the user's settings with
        the other wrapper: torch's defaults would differ in more than the wrapper.

    Returns
    -------
    str
        The name of the user's own; empty if there is none, or if it has torch's defaults and these
        are not requested.
    dict[str, Variant]
        All variants.
    list[Problem]
        Settings of the user's own that no variant has.
    """
    if written is None:
        return "", dict(variants), []
    own = written.variant
    name = next((name for name, variant in variants.items() if variant == own), "")
    if not name and own != Variant():
        name = AS_WRITTEN
        if not chosen and own.uses_inductor:
            other = msgspec.structs.replace(own, cpp_wrapper=not own.cpp_wrapper)
            variants = {name_of(other): other}
    problems = [
        Problem(
            severity="warning",
            what=f"{setting} of the torch.compile around the subject is left out.",
            why="No variant has it, so all of them are compiled without it.",
        )
        for setting in written.left_out
    ]
    return name, {**({name: own} if name else {}), **variants}, problems


def _parse_variant(value: object) -> Variant:
    if isinstance(value, Variant):
        return value
    if isinstance(value, Mapping):
        unknown = set(value) - set(Variant.__struct_fields__)
        if unknown:
            raise _unknown(
                "variant setting", sorted(map(str, unknown))[0], Variant.__struct_fields__
            )
        return Variant(**value)
    if isinstance(value, str):
        if value not in named():
            raise _unknown("variant", value, list(named()))
        return named()[value]
    raise CompilescopeError(
        f"A variant is {kind_of(value)}.",
        remedy=f"Give a name ({_listed(named())}), a Variant, or a dict of its settings.",
    )


def _unknown(kind: str, name: object, allowed: Iterable[str]) -> CompilescopeError:
    allowed = list(allowed)
    close = difflib.get_close_matches(str(name), allowed, n=3)
    if len(allowed) > 30:
        remedy = (
            f"Did you mean {_listed(close)}?" if close else "See torch._inductor.list_options()."
        )
    else:
        remedy = f"Available: {_listed(allowed)}."
    return CompilescopeError(f"There is no {kind} {name!r}.", remedy=remedy)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
