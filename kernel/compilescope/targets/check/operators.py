"""A subject's own operators, where its kernels are interpreted: as in the target's process."""

from __future__ import annotations

import contextlib
import linecache
import pickle

import msgspec

from ...torch_api.operators import custom


class _Own(msgspec.Struct):
    """What a packed call (`targets.packed_call.pack`) brings along of operators."""

    files: dict[str, str]
    libraries: list[str]
    operators: dict[str, bytes]


def load(call: bytes) -> None:
    """Loads them. The results of one that cannot be are drawn later, and that is told."""
    definitions = msgspec.msgpack.decode(call, type=_Own)
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
    # Which operators it would have is not known: those that are missing say that they are.
    with contextlib.suppress(OSError):
        custom.load(library)
        _loaded.add(library)


def _define(name: str, definition: bytes) -> None:
    _failed.pop(name, None)
    try:
        custom.define(pickle.loads(definition))
        _defined[name] = definition
    except Exception as error:  # noqa: BLE001 - whatever a definition of the user's raises
        _failed[name] = _told(error)


def _told(error: Exception) -> str:
    if type(error) is LookupError:
        # `targets.packed_call` makes tensors for a target's world, and there is none here.
        return "it holds a tensor, and the values of tensors do not travel"
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


_loaded: set[str] = set()
_defined: dict[str, bytes] = {}
_failed: dict[str, str] = {}
