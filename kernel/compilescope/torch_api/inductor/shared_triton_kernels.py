"""Generates the Triton kernels of a graph once for both wrappers.

No Triton kernel depends on the wrapper, but generating the kernels takes most of the time of a GPU
wrapper's code generation. `SharedTritonKernels` keeps the kernels generated for the first wrapper
of a graph, and provides them when torch generates the same nodes, from the same state, for the
second. Names, allocation and launches, which do depend on the wrapper, are still torch's each time.

Kernels with dynamic sizes or a workspace are generated again: while torch generates them, it also
notes in the graph what their launch needs.

Relies on ``torch._inductor.codegen.simd.SIMDScheduling`` (``codegen_node_schedule_with_kernel``)
and ``torch._inductor.codegen.triton.TritonKernel`` (``codegen_kernel``, ``args``, ``numels``), read
in torch 2.11.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import sympy

from ..process.patching import patched


class SharedTritonKernels:
    """The Triton kernels of one graph, by the nodes that they compute."""

    def __init__(self) -> None:
        self._kernels: dict[tuple[int, ...], Any] = {}
        self._code: dict[int, str] = {}
        """The source of each kernel, by its ``id``."""
        self._provided: dict[int, str] = {}
        """The source of each kernel for the second wrapper, by its ``id``."""
        self._is_second = False

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Keeps the kernels that are generated in the block."""
        from torch._inductor.codegen.simd import SIMDScheduling
        from torch._inductor.codegen.triton import TritonKernel

        token = _current.set(self)
        try:
            with (
                patched(SIMDScheduling, "codegen_node_schedule_with_kernel", _codegen_nodes),
                patched(TritonKernel, "codegen_kernel", _codegen_kernel),
            ):
                yield
        finally:
            _current.reset(token)
            self.clear()

    @contextmanager
    def provided(self) -> Iterator[None]:
        """Uses the kept kernels in the block, which is within that of `recorded`."""
        self._is_second = True
        try:
            yield
        finally:
            self._is_second = False

    def clear(self) -> None:
        """Forget the kernels: those of another graph follow."""
        self._kernels.clear()
        self._code.clear()
        self._provided.clear()

    def generate_nodes(
        self, original: Callable[[], None], schedule: Sequence[Any], kernel: Any
    ) -> None:
        """Generate the body of a kernel, or copy the kept kernel's state."""
        # The graph keeps the nodes, and with them their identities.
        key = tuple(map(id, schedule))
        if not self._is_second:
            original()
            self._kernels[key] = kernel
            return
        kept = self._kernels.get(key)
        code = self._code.get(id(kept))
        if code is None or type(kept) is not type(kernel) or not _is_static(kept):
            original()
            return
        vars(kernel).clear()
        vars(kernel).update(vars(kept))
        self._provided[id(kernel)] = code

    def generate_source(self, original: Callable[[], str], kernel: Any) -> str:
        """Return the source of a kernel whose body is there."""
        if self._is_second:
            return self._provided.pop(id(kernel), None) or original()
        code = original()
        if any(kept is kernel for kept in self._kernels.values()):
            self._code[id(kernel)] = code
        return code


_current: ContextVar[SharedTritonKernels | None] = ContextVar(
    "compilescope_shared_triton_kernels", default=None
)


def _is_static(kernel: Any) -> bool:
    """Whether the generation of the kernel changes nothing but the kernel."""
    sizes = kernel.numels.values()
    return (
        not kernel.args.sizevars
        and not kernel.args.workspace_args
        and all(isinstance(size, (int, sympy.Integer)) for size in sizes)
    )


def _codegen_nodes(original: Any, self: Any, node_schedule: Any, kernel: Any) -> None:
    shared = _current.get()
    call = functools.partial(original, self, node_schedule, kernel)
    if shared is None:
        call()
    else:
        shared.generate_nodes(call, node_schedule, kernel)


def _codegen_kernel(original: Any, self: Any, *args: Any, **kwargs: Any) -> str:
    shared = _current.get()
    call = functools.partial(original, self, *args, **kwargs)
    source: str = call() if shared is None else shared.generate_source(call, self)
    return source
