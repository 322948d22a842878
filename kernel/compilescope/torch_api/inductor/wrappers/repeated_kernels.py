"""The Triton kernels of one wrapper, used again for the other wrapper of the same graph.

Generating their loops takes most of the time that torch takes for a wrapper, and the loops do not
depend on the wrapper. The text does in one setting, so torch assembles it again from the same
loops. Names, allocations and launches are generated again.

torch generates kernels with dynamic sizes or a workspace twice: as it does so, it also changes the
wrapper.

Relies on ``torch._inductor.codegen.simd.SIMDScheduling`` (codegen_node_schedule,
codegen_node_schedule_with_kernel), ``torch._inductor.codegen.triton`` (TritonScheduling's
create_kernel_choices, TritonKernel's codegen_kernel, which may be called again) and
``torch._inductor.codegen.common.KernelArgs`` (sizevars, workspace_args).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from ...process.patching import patched

PYTHON_SETTING, CPP_SETTING = "'store_cubin': False", "'store_cubin': True"
"""What differs in a kernel's text: under a Python wrapper, and under a C++ wrapper."""

_Nodes = tuple[int, ...]


class _Kernel(NamedTuple):
    kernel: Any
    text: str


class RepeatedKernels:
    """The kernels of a graph, by the scheduler nodes whose loops they contain."""

    def __init__(self) -> None:
        self._kernels: dict[_Nodes, _Kernel] = {}
        self._nodes: _Nodes | None = None
        """The nodes whose kernel is being generated."""
        self._repeats = False

    @contextmanager
    def used(self) -> Iterator[None]:
        """Keeps the kernels that are generated in the block."""
        from torch._inductor.codegen.simd import SIMDScheduling
        from torch._inductor.codegen.triton import TritonKernel, TritonScheduling

        token = _current.set(self)
        try:
            with ExitStack() as stack:
                for owner, name, replacement in (
                    (SIMDScheduling, "codegen_node_schedule", _codegen_schedule),
                    (TritonScheduling, "create_kernel_choices", _create_kernels),
                    (SIMDScheduling, "codegen_node_schedule_with_kernel", _generate_loops),
                    (TritonKernel, "codegen_kernel", _assemble),
                ):
                    stack.enter_context(patched(owner, name, replacement))
                yield
        finally:
            _current.reset(token)
            self.clear()

    @contextmanager
    def repeated(self) -> Iterator[None]:
        """Uses kept kernels again in the block, for the C++ wrapper.

        Raises
        ------
        LookupError
            In the block: a kernel's text differs in more than the setting.
        """
        self._repeats = True
        try:
            yield
        finally:
            self._repeats = False

    def clear(self) -> None:
        """Forgets the kernels: another graph follows."""
        self._kernels = {}

    def codegen_schedule(self, original: Callable[[], None], nodes: Sequence[Any]) -> None:
        """Lets torch generate a kernel for scheduler nodes, and its launch."""
        self._nodes = tuple(map(id, nodes))
        try:
            original()
        finally:
            self._nodes = None

    def create(self, original: Callable[[], list[Any]]) -> list[Any]:
        """Returns the kept kernel of the current nodes, or new ones."""
        kept = self._kept()
        return original() if kept is None else [kept.kernel]

    def generate_loops(self, original: Callable[[], None], kernel: Any) -> None:
        """Lets torch generate the loops of a kernel that has none."""
        kept = self._kept()
        if kept is None or kept.kernel is not kernel:
            original()

    def assemble(self, original: Callable[[], str], kernel: Any) -> str:
        """Returns the text of a kernel, and keeps the kernel."""
        kept = self._kept()
        text = original()
        if kept is not None and kept.kernel is kernel:
            if text != kept.text.replace(PYTHON_SETTING, CPP_SETTING):
                raise LookupError("a kernel's text depends on the wrapper")
        elif not self._repeats and self._nodes is not None and _is_repeatable(kernel):
            self._kernels[self._nodes] = _Kernel(kernel, text)
        return text

    def _kept(self) -> _Kernel | None:
        if not self._repeats or self._nodes is None:
            return None
        return self._kernels.get(self._nodes)


def _is_repeatable(kernel: Any) -> bool:
    """Whether generating the loops changes nothing but the kernel."""
    from torch._inductor.codegen.triton import TritonKernel

    arguments = kernel.args
    return type(kernel) is TritonKernel and not (arguments.sizevars or arguments.workspace_args)


_current: ContextVar[RepeatedKernels | None] = ContextVar(
    "compilescope_repeated_kernels", default=None
)


def _codegen_schedule(original: Any, self: Any, features: Any) -> None:
    kernels = _current.get()
    if kernels is None:
        original(self, features)
    else:
        kernels.codegen_schedule(
            functools.partial(original, self, features), features.node_schedule
        )


def _create_kernels(original: Any, *args: Any, **more: Any) -> Any:
    kernels = _current.get()
    create = functools.partial(original, *args, **more)
    return create() if kernels is None else kernels.create(create)


def _generate_loops(original: Any, self: Any, schedule: Any, kernel: Any) -> None:
    kernels = _current.get()
    generate = functools.partial(original, self, schedule, kernel)
    if kernels is None:
        generate()
    else:
        kernels.generate_loops(generate, kernel)


def _assemble(original: Any, self: Any, *args: Any, **more: Any) -> str:
    kernels = _current.get()
    assemble = functools.partial(original, self, *args, **more)
    return assemble() if kernels is None else kernels.assemble(assemble, self)
