"""Operators that the user defined, taken into another process.

Stands on ``torch._library.custom_ops`` (OPDEFS, and what a CustomOpDef keeps of its definition):
the same from 2.11 to 2.15; and on ``torch.ops.loaded_libraries``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import torch
from torch._library.custom_ops import OPDEFS, CustomOpDef
from torch._ops import OpOverload, OpOverloadPacket


class Definition(msgspec.Struct, kw_only=True):
    """An operator as ``torch.library.custom_op`` was given it."""

    name: str
    """``namespace::name``."""
    schema: str
    function: Callable[..., Any]
    fake: Callable[..., Any] | None = None
    setup_context: Callable[..., Any] | None = None
    backward: Callable[..., Any] | None = None


def name_of(value: object) -> str | None:
    """The qualified name of an operator; None for anything else."""
    if isinstance(value, CustomOpDef):
        return str(value._qualname)
    if isinstance(value, OpOverload):
        return str(value._schema.name)
    if isinstance(value, OpOverloadPacket):
        return str(value._qualified_op_name)
    return None


def is_definition(value: object) -> bool:
    """Whether this is what ``torch.library.custom_op`` returned."""
    return isinstance(value, CustomOpDef)


def defined() -> list[str]:
    """The names of all operators that ``torch.library.custom_op`` made here."""
    return list(OPDEFS)


def definition_of(name: str) -> Definition:
    """How an operator was defined."""
    made: Any = OPDEFS[name]
    return Definition(
        name=name,
        schema=made._schema,
        function=made._init_fn,
        fake=made._abstract_fn,
        setup_context=made._setup_context_fn,
        backward=made._backward_fn,
    )


def define(definition: Definition) -> None:
    """Defines the operator here; one of its name is replaced."""
    made = torch.library.custom_op(
        definition.name, definition.function, mutates_args=(), schema=definition.schema
    )
    if definition.fake is not None:
        made.register_fake(definition.fake)
    if definition.backward is not None:
        made.register_autograd(definition.backward, setup_context=definition.setup_context)
    _made[definition.name] = made


def find(name: str) -> Any:
    """What ``torch.library.custom_op`` returned for an operator here."""
    return OPDEFS[name]


def libraries() -> list[str]:
    """Files of operators written in C++ that were loaded here."""
    return [str(one) for one in torch.ops.loaded_libraries]


def load(library: str) -> None:
    """Loads such a file; once in a process.

    Raises
    ------
    OSError
        It cannot be loaded.
    """
    torch.ops.load_library(library)  # type: ignore[no-untyped-call]


_made: dict[str, Any] = {}
"""torch itself holds them weakly."""
