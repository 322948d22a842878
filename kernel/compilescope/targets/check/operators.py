"""Loads a subject's own operators in the interpreter's process, as in the target's process."""

from __future__ import annotations

import contextlib

import msgspec

from ...torch_api.operators import custom
from ..received_code import define_operator, remember_texts


class _OperatorDefinitions(msgspec.Struct):
    """The operator definitions in a packed call (`targets.packed_call.pack`)."""

    files: dict[str, str]
    libraries: list[str]
    operators: dict[str, bytes]


def load(call: bytes) -> None:
    """Loads them. If one cannot be loaded, its results are random later, and the check says so."""
    definitions = msgspec.msgpack.decode(call, type=_OperatorDefinitions)
    for library in definitions.libraries:
        # Its operators are unknown: each missing one is reported when it is called.
        with contextlib.suppress(OSError):
            custom.load(library)
    remember_texts(definitions.files)
    for name, definition in definitions.operators.items():
        _failed.pop(name, None)
        try:
            define_operator(name, definition)
        except Exception as error:  # noqa: BLE001 - whatever a definition of the user's raises
            _failed[name] = _reason(error)


def why_missing(name: str) -> str:
    """Why an operator, ``namespace::name``, could not be loaded; empty where nothing failed."""
    return _failed.get(name, "")


def _reason(error: Exception) -> str:
    if type(error) is LookupError:
        # `targets.packed_call` makes tensors for a target's world, and there is none here.
        return "it holds a tensor, and the values of tensors are not sent"
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


_failed: dict[str, str] = {}
