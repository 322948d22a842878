"""Finds the original callable inside the one that ``torch.compile`` returned.

Relies on ``_torchdynamo_orig_callable`` (of the function that ``torch.compile`` returns),
``OptimizedModule._orig_mod`` and ``Module._compiled_call_impl`` / ``_call_impl``
(``module.compile()``): the same in 2.11 to 2.15.
"""

from __future__ import annotations

import inspect
import linecache
import types
from collections.abc import Callable
from typing import Any

import torch
from torch._dynamo import eval_frame, external_utils

from ...report.problem import SourceLine
from .aot_compiled import aot_compiled

_WRAPPERS = CALLING_FILE = eval_frame.__file__
WRAPPER_NAME = "inner"
"""The name of the function in which Dynamo wraps library modules and builtins."""
_INLINE = external_utils.__file__


def original(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The callable under one layer of ``torch.compile``; ``fn`` itself if there is none.

    A function under ``torch.compiler.disable`` is returned unchanged, since the user wants it
    uncompiled. For a result of ``aot_compile`` it is the function or module that was compiled.
    """
    if (ahead := aot_compiled(fn)) is not None:
        return ahead.original()
    if isinstance(fn, eval_frame.OptimizedModule):
        module: Callable[..., Any] = fn._orig_mod
        return module
    if isinstance(fn, torch.nn.Module):
        return fn._call_impl if vars(fn).get("_compiled_call_impl") is not None else fn
    if isinstance(fn, types.MethodType):
        inner = original(fn.__func__)
        return fn if inner is fn.__func__ else types.MethodType(inner, fn.__self__)
    # functools.wraps copies the attribute to wrappers that are not torch's, so check the code too.
    if isinstance(fn, types.FunctionType) and fn.__code__.co_filename == _WRAPPERS:
        attributes = vars(fn)
        if not attributes.get("_torchdynamo_disable"):
            inner_function: Callable[..., Any] = attributes.get("_torchdynamo_orig_callable", fn)
            return inner_function
    if isinstance(fn, types.FunctionType) and fn.__code__.co_filename == _INLINE:
        # torch.compile's wrapper around a function whose file it would skip (torch.no_grad's).
        wrapped: Callable[..., Any] = vars(fn).get("__wrapped__", fn)
        return wrapped
    return fn


def is_wrapper(frame: SourceLine | None) -> bool:
    """Whether a frame is Dynamo's wrapper function for library modules and builtins."""
    return frame is not None and frame.file == _INLINE


def is_wrapper_code(code: types.CodeType) -> bool:
    """Whether this is the wrapper's code: ``inner(*args, **kwargs)``, which calls its ``fn``."""
    return code.co_filename == _INLINE and code.co_freevars == ("fn",)


def wrapped_callable(function: types.FunctionType) -> Callable[..., Any] | None:
    """What a function of Dynamo's runs: of the results of `torch.compile` and its decorators."""
    inner: Callable[..., Any] | None = vars(function).get("_torchdynamo_orig_callable")
    return inner


def wrapper_code_of(fn: Callable[..., Any]) -> types.CodeType | None:
    """The code of Dynamo's wrapper around the original callable, if any."""
    outer = fn.forward if isinstance(fn, eval_frame.OptimizedModule) else fn
    inner = getattr(outer, "_torchdynamo_orig_callable", None)
    if isinstance(inner, types.FunctionType) and is_wrapper_code(inner.__code__):
        return inner.__code__
    return None


def unwrapped(fn: Any) -> Any:
    """The callable inside its decorators; the callable itself if ``__wrapped__`` forms a cycle."""
    try:
        return inspect.unwrap(fn)
    except ValueError:
        return fn


def place_of(fn: Callable[..., Any]) -> dict[str, Any] | None:
    """Where a callable's Python code begins, named as in torch's stacks; None without code.

    For a module this is its ``forward``, named after the module's class.
    """
    owner = fn.__self__ if isinstance(fn, types.MethodType) else fn
    of = ""
    if isinstance(owner, torch.nn.Module):
        fn, of = owner.forward, f"{type(owner).__name__}."
    function: Any = unwrapped(fn)
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if not isinstance(code, types.CodeType):
        return None
    return {
        "line": code.co_firstlineno,
        "name": f"{of}{code.co_name}",
        "filename": code.co_filename,
        "loc": linecache.getline(code.co_filename, code.co_firstlineno).strip(),
    }


def module_of(fn: Callable[..., Any]) -> torch.nn.Module | None:
    """The module whose uncompiled call `original` returned; None for any other callable."""
    if isinstance(fn, types.MethodType) and fn.__func__ is torch.nn.Module._call_impl:
        owner = fn.__self__
        return owner if isinstance(owner, torch.nn.Module) else None
    return None


def skipped_class(fn: Callable[..., Any]) -> str:
    """The name of the class of torch's own whose ``module.compile()`` a call enters, or nothing.

    torch leaves such a forward to eager: its file is torch's, and nothing of the user's calls it.
    """
    module = module_of(fn)
    kind = type(module)
    return kind.__name__ if module is not None and kind.__module__.startswith("torch.nn.") else ""
