"""Logs a wrapper's code as torch logs it, without loading it.

Relies on ``torch._inductor.graph.GraphLowering``: ``_compile_to_module_lines`` passes the code to
``save_output_code`` before it writes the module; the same from 2.11 to 2.15.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from torch._logging._internal import trace_structured

from ..process.patching import patched
from ..trace.record_names import OUTPUT_CODE


def log_output_code(graph: Any, wrapper: Any) -> None:
    """Logs the code of a wrapper that this ``GraphLowering`` has generated.

    That is more than the wrapper: where torch times the kernels of a C++ wrapper while it generates
    it, their Triton sources are only in the block of code that torch puts in front.

    Parameters
    ----------
    wrapper
        From ``codegen`` or ``codegen_with_cpp_wrapper``.
    """
    text = _code_of(graph, wrapper)
    trace_structured(OUTPUT_CODE, dict, payload_fn=lambda: text)


class _Passed(Exception):  # noqa: N818 - no error
    """Ends torch's function at the code that it passes."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


_is_reading: ContextVar[bool] = ContextVar("compilescope_reading_code", default=False)


def _code_of(graph: Any, wrapper: Any) -> str:
    from torch._inductor.graph import GraphLowering
    from torch._inductor.utils import ValueWithLineMap

    if not isinstance(wrapper, ValueWithLineMap):
        return str(wrapper.value)
    token = _is_reading.set(True)
    try:
        with patched(GraphLowering, "save_output_code", _pass):
            graph._compile_to_module_lines(wrapper)
    except _Passed as passed:
        return passed.text
    finally:
        _is_reading.reset(token)
    raise AssertionError("torch loaded a module without passing its code to save_output_code.")


def _pass(original: Any, text: str) -> None:
    if _is_reading.get():
        raise _Passed(text)
    if original is not None:
        original(text)
