"""Compares code of two processes, wherever its files and lines are."""

from __future__ import annotations

import hashlib
import types
from collections.abc import Callable


def _same(text: str) -> str:
    return text


def digest_of_code(code: types.CodeType, comparable: Callable[[str], str] = _same) -> str:
    """A digest of what code does.

    Parameters
    ----------
    comparable
        Removes from names and constants what differs in each process.

    Examples
    --------
    >>> first, moved, other = (lambda: 1), (
    ...     lambda: 1
    ... ), (lambda: 2)
    >>> digest_of_code(first.__code__) == digest_of_code(moved.__code__)
    True
    >>> digest_of_code(first.__code__) == digest_of_code(other.__code__)
    False
    """
    digest = hashlib.sha256(code.co_code)
    names = repr((code.co_names, code.co_varnames, code.co_freevars))
    digest.update(comparable(names).encode())
    for constant in code.co_consts:
        digest.update(_constant(constant, comparable).encode())
    return digest.hexdigest()


def _constant(constant: object, comparable: Callable[[str], str]) -> str:
    if isinstance(constant, types.CodeType):
        return digest_of_code(constant, comparable)
    if isinstance(constant, tuple):
        return str([_constant(part, comparable) for part in constant])
    if isinstance(constant, frozenset):
        return str(sorted(_constant(part, comparable) for part in constant))
    return comparable(repr(constant))
