"""Keys of cells: the same in another kernel, different if the code is different.

A sweep is resumed by these keys, even after a restart of the notebook, when every object is new.
Code, shapes, types and settings therefore count; identities and the values of tensors do not.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Sequence
from typing import Any

import msgspec

from ..report import references
from ..report.errors import CompilescopeError
from ..report.variant import Variant
from .fingerprint import Fingerprint


def identity(*values: object) -> str:
    """An id of a call, or of a factory, that depends on its code and settings.

    It is new each time if something in the call, such as a generator, cannot be identified.
    """
    return _digest("\n".join(Fingerprint().text_of(value) for value in values))


def identity_of_arguments(arguments: object) -> str:
    """An id of a call's arguments, without the values of tensors and NumPy arrays."""
    return identity(_without_values(arguments))


def _without_values(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)(map(_without_values, value))
    if type(value) is dict:
        return {name: _without_values(item) for name, item in value.items()}
    numpy = sys.modules.get("numpy")
    if numpy is not None and type(value) is numpy.ndarray and not value.dtype.hasobject:
        return "array", value.dtype.str, value.shape, value.strides
    return value


def key(subject: str, variant: Variant, arguments: str, machine: Sequence[str]) -> str:
    """The key of a cell.

    Parameters
    ----------
    subject, arguments
        Their identities.
    machine
        torch's version, and the devices.
    """
    by_code = msgspec.structs.replace(
        variant, backend=_by_code(variant.backend), options=_by_code(variant.options)
    )
    settings = msgspec.json.encode(by_code, enc_hook=repr, order="sorted").decode()
    return _digest("\n".join([subject, settings, arguments, *machine]))[:24]


def _by_code(setting: Any) -> Any:
    """A setting whose functions are identified by name and code."""
    if isinstance(setting, (list, tuple)):
        return [_by_code(item) for item in setting]
    if isinstance(setting, dict):
        return {name: _by_code(item) for name, item in setting.items()}
    if not references.is_reference(setting):
        return setting
    # Its number depends on what else had that name in this process.
    name = re.sub(r" #\d+$", "", references.name_of(setting))
    try:
        return f"{name} {identity(references.resolve(setting))}"
    except CompilescopeError:
        return name


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()
