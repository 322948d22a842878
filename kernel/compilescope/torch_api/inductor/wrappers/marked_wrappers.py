"""Adds marks to wrappers: lines that record the time when a step of the wrapper begins.

A Python wrapper's functions are compiled again from marked text, beside the original ones and with
their globals. A C++ wrapper is built with its marks, which record nothing until they are switched
on.

Relies on ``torch._inductor.codecache.CppPythonBindingsCodeCache.load_pybinding`` (argument
``main_code``), which the Python around a C++ wrapper calls on ``CppWrapperCodeCache``, on the
function that it returns being one of an extension module and held in the closure of the wrapper,
and on the names ``Runner``, ``runner`` and ``call`` in a Python wrapper's module; the same from
2.11 to 2.15. On Linux ``time.perf_counter_ns`` and C++'s ``steady_clock`` read the same clock.
"""

from __future__ import annotations

import ast
import contextlib
import ctypes
import time
import types
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

from torch._inductor.codecache import CppPythonBindingsCodeCache

from ...dynamo.wrapper_type import Inner
from ...process.patching import patched
from ...trace.trace import is_foreign

MARKS = {
    "python": "_compilescope_slots[{slot}] = _compilescope_now()",
    "cpp": "compilescope_mark({slot});",
}
CPP_HEAD = """\
#include <chrono>
#include <cstdint>
extern "C" {{
__attribute__((visibility("default"))) int64_t compilescope_slots[{count}];
__attribute__((visibility("default"))) int compilescope_on = 0;
}}
static __attribute__((noinline)) void compilescope_mark(int slot) {{
    if (compilescope_on) {{
        compilescope_slots[slot] = std::chrono::duration_cast<std::chrono::nanoseconds>(
            std::chrono::steady_clock::now().time_since_epoch()).count();
    }}
}}
"""
"""The text before the function that is marked."""

_ENTRY = "inductor_entry_impl("
_NAMES = ("runner", "call")

Mark = Callable[[str], str | None]
_mark: ContextVar[Mark | None] = ContextVar("compilescope_mark", default=None)
_marks: list[Mark] = []
"""The `marking` blocks that are open, innermost last."""


class MarkedWrapper:
    """A wrapper that can be called with or without recording the time of its steps.

    Attributes
    ----------
    plain, noting
        The wrapper without and with recording. Both take a list and empty it.
    """

    def __init__(self, plain: Inner, noting: Inner, read: Callable[[], Sequence[int]]) -> None:
        self.plain = plain
        self.noting = noting
        self.read = read
        """The recorded times in nanoseconds, by slot. A slot that the last call did not reach holds
        the time of an earlier call, or 0."""


@contextlib.contextmanager
def marking(mark: Mark) -> Iterator[None]:
    """Adds marks to the C++ wrappers that this context builds in the block.

    Parameters
    ----------
    mark
        Returns the marked text of a wrapper, or None to leave it unchanged.
    """
    token = _mark.set(mark)
    _marks.append(mark)
    try:
        with patched(CppPythonBindingsCodeCache, "load_pybinding", _load):
            yield
    finally:
        _marks.remove(mark)
        _mark.reset(token)


def _load(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    code = kwargs.get("main_code")
    mark = _mark.get()
    if mark is None and _marks and is_foreign():
        # A GPU's backward is compiled in autograd's thread, which does not inherit this context.
        mark = _marks[-1]
    if mark is not None and isinstance(code, str) and _ENTRY in code:
        text = mark(code.strip("\n") + "\n")
        if text is not None:
            kwargs["main_code"] = f"\n{text}"
    return original(*args, **kwargs)


def marked_cpp(inner: Inner, count: int) -> MarkedWrapper | None:
    """A C++ wrapper that was built with marks; None if it has none.

    Parameters
    ----------
    count
        How many slots it has.
    """
    module = next(
        (
            cell.cell_contents.__self__
            for cell in getattr(inner, "__closure__", None) or ()
            if isinstance(cell.cell_contents, types.BuiltinFunctionType)
            and isinstance(cell.cell_contents.__self__, types.ModuleType)
        ),
        None,
    )
    if module is None or not getattr(module, "__file__", None):
        return None
    library = ctypes.CDLL(module.__file__)
    try:
        slots = (ctypes.c_int64 * count).in_dll(library, "compilescope_slots")
        switch = ctypes.c_int.in_dll(library, "compilescope_on")
    except ValueError:
        return None

    def noting(inputs: list[Any]) -> Any:
        switch.value = 1
        try:
            return inner(inputs)
        finally:
            switch.value = 0

    return MarkedWrapper(inner, noting, lambda: slots[:])


def marked_python(inner: Inner, text: str, count: int) -> MarkedWrapper | None:
    """A Python wrapper compiled again from its marked text; None if the text has no ``call``.

    Parameters
    ----------
    text
        The text of the whole module, with marks.
    count
        How many slots it has.
    """
    function = getattr(inner, "__func__", inner)
    slots = [0] * count
    namespace = {
        **function.__globals__,
        "_compilescope_slots": slots,
        "_compilescope_now": time.perf_counter_ns,
    }
    tree = ast.parse(text)
    tree.body = [statement for statement in tree.body if _is_of_wrapper(statement)]
    exec(compile(tree, function.__code__.co_filename, "exec"), namespace)
    call = namespace.get("call")
    if call is None or call is inner:
        return None
    return MarkedWrapper(inner, call, lambda: list(slots))


def _is_of_wrapper(statement: ast.stmt) -> bool:
    """Whether a statement of the module defines its functions, not its imports or kernels."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return True
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id in _NAMES for target in targets)
