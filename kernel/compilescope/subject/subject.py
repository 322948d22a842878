"""Describes the inspected subject: the unwrapped callable, its source line, and its arguments."""

from __future__ import annotations

import functools
import hashlib
import inspect
import itertools
import linecache
import types
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import torch

from ..isolation.object_walk import walk
from ..report import SourceLine, Subject
from ..torch_api.trace import compiled_callable
from . import arguments

Kind = Literal["function", "lambda", "method", "module", "callable"]


def unwrap(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The callable that the user wrote, without any ``torch.compile`` around it.

    For a module compiled in place (``module.compile()``) that is its uncompiled call.
    """
    inner = compiled_callable.original(fn)
    while inner is not fn:
        fn, inner = inner, compiled_callable.original(inner)
    if type(fn) is functools.partial:
        function = unwrap(fn.func)
        if function is not fn.func:
            return functools.partial(function, *fn.args, **fn.keywords)
    return fn


def describe(
    fn: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    call: str = arguments.INSPECT,
) -> Subject:
    """Describes a call.

    Parameters
    ----------
    fn
        The callable; compiled or not makes no difference.
    args, kwargs
        Its example arguments.
    call
        How the remedy of an error writes what takes them.

    Returns
    -------
    Subject
        Its id stays the same, in this process, for the same callable and argument lines.

    Raises
    ------
    CompilescopeError
        ``fn`` is not callable, or not with these arguments.
    """
    arguments.check_types(fn, args, kwargs, call)
    named = dict(kwargs or {})
    shown = _shown(unwrap(fn))
    runs = _function_of(shown)
    name = _name(shown)
    if not (isinstance(shown, torch.nn.Module) and shown._forward_pre_hooks):
        # A hook before forward may change the arguments.
        arguments.check_fit(runs, name, args, named, call)
    lines = arguments.lines(runs, args, named)
    identity = "\n".join([_identity(shown), *lines])
    return Subject(
        id=hashlib.sha256(identity.encode()).hexdigest()[:16],
        name=name,
        kind=_kind(shown),
        where=_where(runs),
        arguments=lines,
        device=_device(shown, args, named),
    )


def leaves(
    fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, str]:
    """What is in a call's arguments, by path: `arguments.leaves`."""
    return arguments.leaves(_function_of(_shown(unwrap(fn))), args, kwargs)


def _shown(fn: Callable[..., Any]) -> Callable[..., Any]:
    """What a report shows of a callable: the module, if it is the call of one."""
    module = compiled_callable.module_of(fn)
    return module if module is not None else fn


def _function_of(shown: Callable[..., Any]) -> Callable[..., Any]:
    """What takes the arguments: of a module, its forward."""
    return shown.forward if isinstance(shown, torch.nn.Module) else shown


def _kind(fn: Callable[..., Any]) -> Kind:
    if isinstance(fn, torch.nn.Module):
        return "module"
    if isinstance(fn, types.MethodType):
        return "method"
    if isinstance(fn, types.FunctionType):
        return "lambda" if fn.__name__ == "<lambda>" else "function"
    return "function" if isinstance(fn, types.BuiltinFunctionType) else "callable"


def name_of(fn: Callable[..., Any]) -> str:
    """The name of a callable, without any ``torch.compile`` around it."""
    return _name(_shown(fn))


def _name(fn: Callable[..., Any]) -> str:
    if isinstance(fn, functools.partial):
        return _name(fn.func)
    if isinstance(fn, types.MethodType):
        owner = fn.__self__ if isinstance(fn.__self__, type) else type(fn.__self__)
        return f"{owner.__name__}.{fn.__name__}"
    if isinstance(fn, types.BuiltinFunctionType):
        return fn.__name__
    if isinstance(fn, types.FunctionType):
        return fn.__qualname__.rpartition("<locals>.")[2]
    return type(fn).__name__


def _where(fn: Callable[..., Any]) -> SourceLine | None:
    """The line of the ``def``; None if it is not written in Python."""
    if isinstance(fn, functools.partial):
        return _where(fn.func)
    function: Any = compiled_callable.unwrapped(fn)
    function = getattr(function, "__func__", function)
    if not isinstance(function, types.FunctionType):
        function = inspect.getattr_static(type(function), "__call__", None)
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    line = _def_line(code)
    return SourceLine(
        file=code.co_filename,
        line=line,
        function=code.co_qualname if hasattr(code, "co_qualname") else code.co_name,
        code=linecache.getline(code.co_filename, line).strip(),
    )


def _def_line(code: types.CodeType) -> int:
    """The line of the ``def`` itself: ``co_firstlineno`` is that of the first decorator."""
    lines = linecache.getlines(code.co_filename)
    word = "lambda" if code.co_name == "<lambda>" else f"def {code.co_name}"
    body = max((line for *_, line in code.co_lines() if line), default=code.co_firstlineno)
    for number in range(code.co_firstlineno, min(body, len(lines)) + 1):
        if word in lines[number - 1]:
            return number
    return code.co_firstlineno


def _device(fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """The accelerator of the tensors that the call reaches, otherwise the CPU."""
    devices = {str(tensor.device) for tensor in walk(fn, args, kwargs).tensors().values()}
    return min(devices - {"cpu", "meta"}, default="cpu")


_numbers = itertools.count()
_numbered: dict[int, tuple[weakref.ref[Any], int]] = {}


def _identity(value: Any) -> str:
    """A text that identifies a callable and stays the same when a function's cell runs again."""
    if isinstance(value, types.MethodType):
        return f"{_identity(value.__func__)} of {_number(value.__self__)}"
    if isinstance(value, functools.partial):
        parts = [value.func, *value.args, *itertools.chain(*value.keywords.items())]
        return f"partial {' '.join(_identity(part) for part in parts)}"
    if isinstance(value, types.FunctionType):
        code = value.__code__
        text = f"{value.__module__} {value.__qualname__} {code.co_filename}:{code.co_firstlineno}"
        constants = [
            constant for constant in code.co_consts if not isinstance(constant, types.CodeType)
        ]
        body = hashlib.sha256(code.co_code + f"{code.co_names} {constants}".encode()).hexdigest()
        cells = [_cell(cell) for cell in value.__closure__ or ()]
        return " ".join([text, body, *cells])
    if type(value) in (type(None), bool, int, float, str):
        return repr(value)
    return _number(value)


def _cell(cell: types.CellType) -> str:
    try:
        value = cell.cell_contents
    except ValueError:
        return "unbound"
    # Not deeper: a recursive function's closure holds the function itself. Numbers may be counters.
    return _number(value) if type(value) not in (int, float, str, bool) else type(value).__name__


def _number(value: object) -> str:
    """A number that is unique to an object; ``id`` alone is reused after an object dies."""
    key = id(value)
    numbered = _numbered.get(key)
    if numbered is None or numbered[0]() is not value:
        try:
            reference = weakref.ref(value, lambda _: _numbered.pop(key, None))
        except TypeError:
            return f"{type(value).__name__}@{key}"
        numbered = _numbered[key] = (reference, next(_numbers))
    return f"{type(value).__name__}#{numbered[1]}"
