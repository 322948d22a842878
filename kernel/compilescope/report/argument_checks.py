"""Checks values from callers: one of the wrong type is a clear error, before anything is done."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from typing import Any

from .errors import CompilescopeError, code_to_paste

_MAX_CHARACTERS = 80
"""How many characters of a value a message shows."""


def kind_of(value: object) -> str:
    """The type of a value within a sentence: ``an int``, ``a str``, but ``None``."""
    name = type(value).__name__
    # Names that begin with a u are read like uint8.
    return "None" if value is None else f"{'an' if name[:1] in 'aeioAEIO' else 'a'} {name}"


def check_report(value: object) -> None:
    """Raises `CompilescopeError` if the value is not a report."""
    from .report import Report

    if not isinstance(value, Report):
        raise CompilescopeError(
            f"This is not a report but {kind_of(value)}.",
            remedy="Pass what inspect returned:"
            + code_to_paste("report = compilescope.inspect(fn, args)"),
        )


def check_function(name: str, value: object, what: str = "a function or a module") -> None:
    """Raises `CompilescopeError` if the value is not callable; ``what`` is what it should be."""
    if not callable(value):
        raise _wrong(name, value, what)


def check_flag(name: str, value: object) -> None:
    """Raises `CompilescopeError` if the value is neither True nor False."""
    if not isinstance(value, bool):
        raise _wrong(name, value, "True or False")


def check_text(name: str, value: object, what: str, *, optional: bool = False) -> None:
    """Raises `CompilescopeError` if the value is not a string; ``what`` is its kind: ``a mode``."""
    if optional and value is None:
        return
    # A lone surrogate cannot be written to a file.
    if not isinstance(value, str) or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise _wrong(name, value, f"{what}, as a str{' or None' if optional else ''}")


def check_number(
    name: str, value: object, what: str, *, zero: bool = False, optional: bool = False
) -> None:
    """Raises `CompilescopeError` if the value is not a finite positive number.

    Parameters
    ----------
    what
        The expected value: ``seconds, such as 10``.
    zero
        Whether 0 is allowed.
    optional
        Whether None is allowed.
    """
    if optional and value is None:
        return
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise _wrong(name, value, what)
    number = float(value)
    if not math.isfinite(number) or number < 0 or (number == 0 and not zero):
        raise _wrong(name, value, what)


def check_count(name: str, value: object, what: str) -> None:
    """Raises `CompilescopeError` if the value is not a positive integer."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < 1:
        raise _wrong(name, value, what)


def check_arguments(args: object, kwargs: object) -> None:
    """Raises `CompilescopeError` if the value cannot be the arguments of a call."""
    if not isinstance(args, (list, tuple)):
        raise _wrong("args", args, "the positional arguments of the call: (x,)")
    check_mapping("kwargs", kwargs, "the call's keyword arguments: {'x': x}", optional=True)


def check_mapping(name: str, value: object, what: str, *, optional: bool = False) -> None:
    """Raises `CompilescopeError` if the value is not a dict with string keys."""
    if optional and value is None:
        return
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise _wrong(name, value, what)


def listed(name: str, value: Iterable[Any], what: str) -> list[Any]:
    """The values of a list, a tuple or another iterable; a single string is not allowed.

    Raises
    ------
    CompilescopeError
        It is not such an iterable.
    """
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise _wrong(name, value, what)
    return list(value)


def _wrong(name: str, value: object, what: str) -> CompilescopeError:
    text = repr(value)
    shown = text if len(text) <= _MAX_CHARACTERS and text.isprintable() else kind_of(value)
    return CompilescopeError(f"{name} is {shown}.", remedy=f"It takes {what}.")
