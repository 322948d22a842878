"""Finds the call of ``torch.compile`` that a frame is compiled for.

Relies on ``torch._dynamo.eval_frame``: ``_TorchDynamoContext.__call__``, which every way to compile
calls in the end (``torch.compile`` as a call and as a decorator, ``nn.Module.compile``, a library's
own), and the function that it wraps around a callable: ``compile_wrapper`` from 2.12 on, ``_fn``
before. Both have the context as ``self`` in their closure.
"""

from __future__ import annotations

import contextlib
import linecache
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch._dynamo import eval_frame

from ...package_folder import PACKAGE
from ...report.problem import SourceLine
from ..process.patching import patched
from .compiled_callable import unwrapped

_FOLDER = Path(torch.__file__).parent
_TORCH_ENTRY_FILES = (
    str(_FOLDER / "__init__.py"),
    str(_FOLDER / "_compile.py"),
    str(_FOLDER / "compiler"),
    str(_FOLDER / "_dynamo"),
    str(_FOLDER / "nn" / "modules" / "module.py"),
    str(PACKAGE / "torch_api"),
)
"""The files between the user's line and the patched function on the stack."""

_WRAPPERS = ("compile_wrapper", "_fn")
_BASE = eval_frame._TorchDynamoContext

_skip: Callable[[types.CodeType], None] = getattr(eval_frame, "skip_code", lambda code: None)
_sites: weakref.WeakKeyDictionary[Any, SourceLine] = weakref.WeakKeyDictionary()


class Call(NamedTuple):
    """The ``torch.compile`` call behind a compilation, as far as it is known."""

    where: SourceLine | None
    """Its line; None for a call before `recording_compile_calls` began."""
    wrapped: str = ""
    """What it compiled: ``f (model.py:12)``."""


@contextlib.contextmanager
def recording_compile_calls() -> Iterator[None]:
    """Records where ``torch.compile`` is called in the block."""
    with patched(_BASE, "__call__", _record_site):
        skip(_BASE.__call__, _record_site, _caller)
        yield


def skip(*functions: Callable[..., Any]) -> None:
    """Keeps Dynamo from compiling compilescope's replacements for torch's functions.

    Otherwise it treats them as the user's if they run inside a frame that fell back to eager.
    """
    for function in functions:
        _skip(function.__code__)


def current() -> Call | None:
    """The call behind what this thread compiles now; None outside of any compiled callable."""
    for context, fn in _contexts(sys._getframe(1)):
        where = _sites.get(context)
        return Call(where, "" if where else _name(fn))
    return None


def current_context() -> Any:
    """A key for the ``torch.compile`` call whose code this thread is compiling, or None.

    A hashable object that can be weakly referenced; `context_of` returns the same.
    """
    return next((context for context, _ in _contexts(sys._getframe(1))), None)


def context_of(compiled: Any) -> Any:
    """A key for the ``torch.compile`` call that returned this; None if none did."""
    if isinstance(compiled, eval_frame.OptimizedModule):
        return compiled.dynamo_ctx
    if isinstance(compiled, torch.nn.Module):
        compiled = vars(compiled).get("_compiled_call_impl")
    function = getattr(compiled, "__func__", compiled)
    code = getattr(function, "__code__", None)
    if not isinstance(code, types.CodeType) or code.co_filename != eval_frame.__file__:
        return None
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    context = cells["self"].cell_contents if "self" in cells else None
    return context if isinstance(context, eval_frame.OptimizeContext) else None


def _contexts(frame: types.FrameType | None) -> Iterator[tuple[Any, Any]]:
    """The calls of compiled callables that a frame is in, innermost first, with what they call."""
    while frame is not None:
        code = frame.f_code
        if code.co_name in _WRAPPERS and code.co_filename == eval_frame.__file__:
            names = frame.f_locals
            context = names.get("self")
            if isinstance(context, eval_frame.OptimizeContext):
                yield context, names.get("fn")
        frame = frame.f_back


def _record_site(original: Callable[..., Any], self: Any, fn: Any) -> Any:
    if isinstance(self, eval_frame.OptimizeContext):
        with contextlib.suppress(Exception):  # must not reach the user's torch.compile
            _sites[self] = _caller()
    return original(self, fn)


def _caller() -> SourceLine:
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_TORCH_ENTRY_FILES):
        frame = frame.f_back
    if frame is None:
        raise LookupError("torch.compile is called by nobody but torch itself")
    file, line = frame.f_code.co_filename, frame.f_lineno
    return SourceLine(
        file=file,
        line=line,
        function=frame.f_code.co_name,
        code=linecache.getline(file, line, frame.f_globals).strip(),
    )


def _name(fn: Any) -> str:
    fn = unwrapped(fn) if callable(fn) else fn
    owner = getattr(fn, "__self__", None)
    name = type(owner).__name__ if isinstance(owner, torch.nn.Module) else ""
    name = name or str(getattr(fn, "__qualname__", type(fn).__name__))
    code = getattr(fn, "__code__", None)
    if not isinstance(code, types.CodeType) or name == type(owner).__name__:
        return name
    return f"{name} ({Path(code.co_filename).name}:{code.co_firstlineno})"
