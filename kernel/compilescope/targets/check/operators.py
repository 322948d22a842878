"""Loads a subject's own operators in the interpreter's process, as in the target's process."""

from __future__ import annotations

import contextlib
import linecache
import pickle

import msgspec

from ...torch_api.operators import custom


class _OperatorDefinitions(msgspec.Struct):
    """The operator definitions in a packed call (`targets.packed_call.pack`)."""

    files: dict[str, str]
    libraries: list[str]
    operators: dict[str, bytes]


def load(call: bytes) -> None:
    """Loads them. If one cannot be loaded, its results are random later, and the check says so."""
    definitions = msgspec.msgpack.decode(call, type=_OperatorDefinitions)
    for library in definitions.libraries:
        if library not in _loaded:
            _load(library)
    for name, text in definitions.files.items():
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    for name, definition in definitions.operators.items():
        if _defined.get(name) != definition:
            _define(name, definition)


def why_missing(name: str) -> str:
    """Why an operator, ``namespace::name``, could not be loaded; empty where nothing failed."""
    return _failed.get(name, "")


def _load(library: str) -> None:
    # Its operators are unknown: each missing one is reported when it is called.
    with contextlib.suppress(OSError):
        custom.load(library)
        _loaded.add(library)


def _define(name: str, definition: bytes) -> None:
    _failed.pop(name, None)
    try:
        custom.define(pickle.loads(definition))
        _defined[name] = definition
    except Exception as error:  # noqa: BLE001 - whatever a definition of the user's raises
        _failed[name] = _reason(error)


def _reason(error: Exception) -> str:
    if type(error) is LookupError:
        # `targets.packed_call` makes tensors for a target's world, and there is none here.
        return "it holds a tensor, and the values of tensors are not sent"
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


_loaded: set[str] = set()
_defined: dict[str, bytes] = {}
_failed: dict[str, str] = {}
