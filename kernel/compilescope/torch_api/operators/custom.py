"""Transfers operators that the user defined into another process.

Relies on ``torch._library.custom_ops`` (OPDEFS, OPDEF_TO_LIB, and the definition that a CustomOpDef
stores), on ``torch._library.simple_registry`` (the functions given to
``torch.library.register_fake``), on ``torch._C`` (_dispatch_has_kernel_for_dispatch_key,
parse_schema), and on ``torch.ops.loaded_libraries``: the same from 2.11 to 2.15.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import torch
from torch._library import simple_registry
from torch._library.custom_ops import OPDEF_TO_LIB, OPDEFS, CustomOpDef
from torch._ops import OpOverload, OpOverloadPacket

from ...report.errors import CompilescopeError


class Definition(msgspec.Struct, kw_only=True):
    """The definition of an operator, as passed to ``torch.library``."""

    name: str
    """``namespace::name``."""
    schema: str
    function: Callable[..., Any] | None = None
    """None if only its schema was defined; then it has only a function for tracing."""
    fake: Callable[..., Any] | None = None
    setup_context: Callable[..., Any] | None = None
    backward: Callable[..., Any] | None = None
    tags: tuple[str, ...] = ()
    """The names of its tags, besides torch's own."""
    autocast: dict[str, torch.dtype] = {}
    """Device → the type to which autocast casts its arguments."""


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
    """Whether an object is a result of ``torch.library.custom_op``."""
    return isinstance(value, CustomOpDef)


def defined() -> list[str]:
    """The names of all operators that Python code defined in this process and torch can trace."""
    defined_here = [
        name for name, definition in OPDEFS.items() if not _is_torchs(definition._init_fn)
    ]
    return [*defined_here, *(name for name in _traced() if name not in OPDEFS)]


def definition_of(name: str) -> Definition:
    """How an operator was defined.

    Raises
    ------
    CompilescopeError
        It was defined in a way that cannot be repeated in another process.
    """
    if name not in OPDEFS:
        return _by_schema(name)
    definition: Any = OPDEFS[name]
    return Definition(
        name=name,
        schema=definition._schema,
        function=definition._init_fn,
        fake=definition._abstract_fn,
        setup_context=definition._setup_context_fn,
        backward=definition._backward_fn,
        tags=_names(getattr(definition, "_tags", None) or ()),
        autocast={
            device: dtype
            for device, dtype in getattr(definition, "_autocast_dtype", {}).items()
            if dtype is not None
        },
    )


def define(definition: Definition) -> None:
    """Defines the operator in this process; replaces one of the same name."""
    _drop(definition.name)
    if definition.function is None:
        _define_schema(definition)
        return
    parsed: Any = torch._C.parse_schema(f"{definition.name}{definition.schema}")
    changed = [
        argument.name
        for argument in parsed.arguments
        if argument.alias_info and argument.alias_info.is_write
    ]
    options: dict[str, Any] = {"tags": _tags(definition.tags)} if definition.tags else {}
    operator = torch.library.custom_op(
        definition.name,
        definition.function,
        mutates_args=changed,
        schema=definition.schema,
        **options,
    )
    if definition.fake is not None:
        operator.register_fake(definition.fake)
    if definition.backward is not None:
        operator.register_autograd(definition.backward, setup_context=definition.setup_context)
    for device, dtype in definition.autocast.items():
        if torch.amp.is_autocast_available(device):
            operator.register_autocast(device, dtype)
    _libraries[definition.name] = operator


def find(name: str) -> Any:
    """The result of ``torch.library.custom_op`` for an operator of this process."""
    return OPDEFS[name]


def libraries() -> list[str]:
    """The loaded libraries of operators written in C++."""
    return [str(loaded_library) for loaded_library in torch.ops.loaded_libraries]


def load(library: str) -> None:
    """Loads such a library, once per process.

    Raises
    ------
    OSError
        It cannot be loaded.
    """
    torch.ops.load_library(library)  # type: ignore[no-untyped-call]


def _traced() -> list[str]:
    """Operators for which the user's Python code registered a function for tracing."""
    return [
        name
        for name, entry in simple_registry.singleton._data.items()
        if (fake := entry.fake_impl.kernel) is not None and _is_own(_inner(fake.func))
    ]


def _is_torchs(function: Any) -> bool:
    return str(getattr(function, "__module__", "")).partition(".")[0] == "torch"


def _inner(function: Any) -> Any:
    """The user's function inside the one that ``register_fake`` registers."""
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    if _is_torchs(function) and "func" in names:
        return function.__closure__[names.index("func")].cell_contents
    return function


def _is_own(function: Any) -> bool:
    """Whether a function is defined in a notebook, so that another process cannot import it."""
    return getattr(function, "__module__", None) == "__main__"


def _by_schema(name: str) -> Definition:
    if torch._C._dispatch_has_kernel_for_dispatch_key(name, "Autograd"):
        raise CompilescopeError(
            f"The operator {name} cannot be sent to the target's process.",
            "It has a gradient that was registered for the operator as a whole.",
            "Define it with torch.library.custom_op, or in a module that can be imported.",
        )
    namespace, _, short = name.partition("::")
    operator = getattr(getattr(torch.ops, namespace), short).default
    fake: Any = simple_registry.singleton.find(name).fake_impl.kernel
    return Definition(
        name=name,
        schema=str(operator._schema).removeprefix(f"{namespace}::"),
        fake=_inner(fake.func),
        tags=_names(operator.tags),
    )


def _define_schema(definition: Definition) -> None:
    namespace = definition.name.partition("::")[0]
    library: Any = torch.library.Library(namespace, "FRAGMENT")  # type: ignore[no-untyped-call]
    library.define(definition.schema, tags=_tags(definition.tags))
    assert definition.fake is not None, "by that it was found"
    torch.library.register_fake(definition.name, definition.fake, lib=library)
    _libraries[definition.name] = library


def _drop(name: str) -> None:
    """Forgets an operator that was defined here, in either way."""
    before = _libraries.pop(name, None)
    if isinstance(before, torch.library.Library):
        before._destroy()  # type: ignore[no-untyped-call]
    OPDEFS.pop(name, None)
    library = OPDEF_TO_LIB.pop(name, None)
    if library is not None:
        library._destroy()  # type: ignore[no-untyped-call]


def _names(tags: Iterable[Any]) -> tuple[str, ...]:
    return tuple(tag.name for tag in tags)


def _tags(names: Iterable[str]) -> tuple[Any, ...]:
    return tuple(getattr(torch.Tag, name) for name in names)


_libraries: dict[str, Any] = {}
"""torch itself holds only weak references to them."""
