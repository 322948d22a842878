"""Generates kernels that differ only in their buffers' names once: see the package."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Hashable, Iterator
from contextvars import ContextVar
from typing import Any

import torch

from ...process.patching import patched
from .kernel_key import loops_key, settings_key
from .linear_strides import stride_of
from .recorded_kernel import (
    DecisionsDifferError,
    Generated,
    Group,
    record,
    repeat,
    watch_in_context,
)

PROVEN = ("2.13",)
"""The versions of torch in which the tests compare repeated kernels with generated ones."""


class EqualKernels:
    """The kernels generated so far, by what their code depends on.

    Belongs to one thread at a time.
    """

    def __init__(self) -> None:
        self.unlike = False
        """Whether torch decided differently for loops that compare equal."""
        self._generated: dict[Hashable, Generated] = {}
        self._numbers = itertools.count()
        self._group: Group | None = None
        self._graph: Any = None
        self._settings: Hashable = None
        self._complete = False

    @contextlib.contextmanager
    def used(self) -> Iterator[None]:
        """Keeps the kernels that are generated in the block, and reuses kept ones."""
        from torch._inductor.codegen import cpp

        if not is_proven():
            yield
            return
        token = _current.set(self)
        try:
            with (
                patched(cpp.CppScheduling, "codegen_node", _codegen_node),
                patched(cpp.CppKernelProxy, "codegen_nodes", _codegen_nodes),
                patched(cpp, "stride_at_vec_range", _stride_at_vec_range),
            ):
                yield
        finally:
            _current.reset(token)
            self._group = self._graph = None
            # A graph with sizes that may change would live as long as its kernels.
            self._generated = {
                key: generated
                for key, generated in self._generated.items()
                if not generated.symbols
            }

    @contextlib.contextmanager
    def complete(self) -> Iterator[None]:
        """Requires that every kernel generated in the block is already kept."""
        self._complete = True
        try:
            yield
        finally:
            self._complete = False

    def codegen(self, original: Callable[..., None], scheduling: Any, node: Any) -> None:
        """Does what ``original`` would do for this node."""
        group = self._group_of(scheduling.kernel_group)
        key = self._key(scheduling, group, node) if group.is_known else None
        generated = self._generated.get(key) if key is not None else None
        if generated is not None:
            try:
                repeat(generated, scheduling, group, node)
            except DecisionsDifferError:
                self.unlike = True
                raise
        elif self._complete:
            raise LookupError(f"{node.get_name()} has a kernel of its own")
        elif key is None:
            original(node)
        else:
            generated = record(original, scheduling, group, node)
            if generated is not None:
                generated.number = next(self._numbers)
                self._generated[key] = generated
        group.advance(generated)

    def _group_of(self, kernel_group: Any) -> Group:
        if self._group is None or self._group.kernel_group is not kernel_group:
            self._group = Group(kernel_group)
        return self._group

    def _key(self, scheduling: Any, group: Group, node: Any) -> Hashable | None:
        """Everything that the code depends on; None if that is not known."""
        from torch._inductor.virtualized import V

        try:
            if self._graph is not V.graph:
                self._graph, self._settings = V.graph, settings_key()
            loops = loops_key(group.names, node)
        except Exception:  # noqa: BLE001 - whatever it is: torch generates the kernel itself
            return None
        return self._settings, group.history, loops


def is_proven() -> bool:
    """Whether this version of torch allows kernels to be reused."""
    return torch.__version__.startswith(tuple(f"{version}." for version in PROVEN))


_current: ContextVar[EqualKernels | None] = ContextVar("compilescope_equal_kernels", default=None)


def _codegen_node(original: Any, self: Any, node: Any) -> None:
    from torch._inductor.codegen.cpp import CppKernelProxy, CppScheduling

    kernels = _current.get()
    plain = type(self) is CppScheduling and self.kernel_proxy_cls is CppKernelProxy
    if kernels is None or not plain:
        original(self, node)
    else:
        kernels.codegen(functools.partial(original, self), self, node)


def _codegen_nodes(original: Any, self: Any, nodes: Any) -> None:
    watch = watch_in_context.get()
    if watch is None:
        original(self, nodes)
    else:
        watch.generate(functools.partial(original, self), self.kernel_group.args, nodes)


def _stride_at_vec_range(original: Any, *args: Any) -> Any:
    return original(*args) if _current.get() is None else stride_of(original, *args)
