"""Builds the Triton kernels that a C++ wrapper's code depends on, while torch generates code.

The code of a GPU's C++ wrapper contains the names of the compiled kernels and their launch sizes.
torch has other processes compile each kernel that it generates, but only after all other code does
it build what launches them, one after the other: for each, Triton has a C compiler build what
passes the arguments, which takes 0.2 s. `EarlyKernels` has a thread for each kernel that builds it
as soon as it is compiled. If the C++ wrapper is generated after a Python wrapper, its kernels are
compiled from the first generation on.

Relies on ``torch._inductor.async_compile.AsyncCompile.triton`` and on
``torch._inductor.codecache.LambdaFuture``; the same from 2.11 to 2.15.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from typing import Any

from ...process.patching import patched
from .repeated_kernels import CPP_SETTING, PYTHON_SETTING

_THREADS = 32
"""They wait most of the time: for other processes, and for the C compiler."""


class EarlyKernels:
    """The kernels of the code that is being generated."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self._threads = threads
        self._kernels: dict[str, Any] = {}

    def compile(self, original: Callable[[str], Any], text: str) -> Any:
        """Returns a kernel, or a future of it, for its text.

        Parameters
        ----------
        original
            Lets torch compile a text, in another process if it returns a future.
        """
        from torch._inductor.codecache import LambdaFuture

        kernel = self._kernels.get(text)
        if kernel is None:
            kernel = original(text)
            if isinstance(kernel, LambdaFuture):
                # Asked for its result twice, torch's own future would build the kernel twice.
                built = self._threads.submit(copy_context().run, kernel.result)
                kernel = self._kernels[text] = LambdaFuture(built.result, future=built)
        return kernel


@contextlib.contextmanager
def built_early() -> Iterator[None]:
    """Builds the kernels of C++ wrappers in the block as soon as they are generated."""
    from torch._inductor.async_compile import AsyncCompile

    threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="compilescope-kernels")
    token = _current.set(EarlyKernels(threads))
    try:
        with patched(AsyncCompile, "triton", _triton):
            yield
    finally:
        _current.reset(token)
        # After an interrupt, or for a kernel that no wrapper calls, nobody waits.
        threads.shutdown(wait=False, cancel_futures=True)


_current: ContextVar[EarlyKernels | None] = ContextVar("compilescope_early_kernels", default=None)


def _triton(original: Any, self: Any, name: str, text: str, *args: Any, **more: Any) -> Any:
    from torch._inductor.virtualized import V

    def compiled(text: str) -> Any:
        return original(self, name, text, *args, **more)

    kernels = _current.get()
    if kernels is None:
        return compiled(text)
    if not V.graph.cpp_wrapper:
        # The Python wrapper's kernels are not built, only read.
        text = text.replace(PYTHON_SETTING, CPP_SETTING)
    return kernels.compile(compiled, text)
