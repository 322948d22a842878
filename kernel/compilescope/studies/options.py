"""The options of studies: what one of them does may be selected by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ..report.argument_checks import check_text
from ..report.errors import CompilescopeError

if TYPE_CHECKING:
    from ..report import VariantReport
    from ..report.measurements.study_choice import StudyChoice

Selected = Mapping[str, Sequence[str]]
"""Name of an option → the names that are selected. Without an entry, all are."""
Choices = Callable[
    [Callable[..., Any], Sequence[Any], Mapping[str, Any], "VariantReport"], "list[StudyChoice]"
]


class StudyOption(NamedTuple):
    """An option of a study, which selects some of the things that the study does."""

    name: str
    """The argument of ``cs.study``, and the switch of ``%%compile`` after its hyphens."""
    kind: str
    """What one selected name stands for, with its article."""
    title: str
    """What the names select, as a plural in lower case."""
    every_name: Callable[[], Sequence[str]]
    """The names that it takes for some call and variant with the installed torch."""
    choices: Choices
    """The names that it takes for a call (function, arguments, keyword arguments) and a variant, in
    the order in which the study takes them."""


def names_of(option: str, value: object) -> tuple[str, ...]:
    """The names that the value of an option selects: a name, or several.

    Raises
    ------
    CompilescopeError
        It is neither, or selects nothing.
    """
    several = isinstance(value, Iterable) and not isinstance(value, str)
    names: list[Any] = list(cast(Iterable[Any], value)) if several else [value]
    for name in names:
        check_text(f"A name in {option}", name, "names")
    if not names:
        raise CompilescopeError(
            f"{option} selects nothing.", remedy=f"Give names, or leave {option} out: all."
        )
    return tuple(dict.fromkeys(names))


def check_names(option: StudyOption, names: Iterable[str], allowed: Sequence[str]) -> None:
    """Raises `CompilescopeError` if a name is not among those that the option takes."""
    wrong = [name for name in names if name not in allowed]
    if wrong:
        raise CompilescopeError(
            f"{option.name}: {wrong[0]!r} is not {option.kind}.",
            remedy=f"The names are {', '.join(allowed)}.",
        )
