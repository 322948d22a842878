"""Generates the C++ wrapper from the scheduled graph of a Python wrapper just generated.

Nothing before code generation depends on ``cpp_wrapper`` except the names by which operators are
called and, on a GPU, the fusion of reductions in mixed order: capture, AOTAutograd, the passes,
lowering and all other fusion are the same for both wrappers, and so are the kernels. torch itself
generates both from one graph, ahead of time on a GPU.

`OtherWrapper` restores the graph and its scheduler to their state before the first code generation,
and generates again. It gives up on anything that may make an unknown difference (several devices,
CUDA graphs, templates, graphs in the graph, operators that torch does not know, a kernel of the
processor that was not generated before); the C++ wrapper is then generated from the start.

Relies on ``torch._inductor.graph.GraphLowering`` (``codegen_with_cpp_wrapper``,
``_update_scheduler``), ``torch._inductor.scheduler.Scheduler``,
``torch._inductor.ir.ExternKernel.set_cpp_kernel_name``,
``torch._inductor.compile_fx.get_cpp_wrapper_config``, ``torch._inductor.debug`` (provenance, which
torch numbers through a compilation) and what `equal_kernels` relies on.
"""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

import torch
from torch._logging._internal import trace_structured

from ...process.patching import patched
from ...trace.artifact_names import AUTOTUNING
from ...trace.record_names import OUTPUT_CODE
from ...trace.trace import Event, listening
from ..equal_kernels import EqualKernels, is_proven
from ..inductor_warnings import collecting_warnings
from ..output_code import log_output_code
from .repeated_kernels import RepeatedKernels

RENEWED = (
    OUTPUT_CODE,
    "inductor_provenance_tracking_node_mappings",
    "inductor_provenance_tracking_kernel_stack_traces",
)
"""The artifacts that torch logs for each graph and that differ between the wrappers."""

ADDED = (
    "inductor_autotune_at_compile_time_code",
    "triton_kernel_info",
    AUTOTUNING,
)
"""The artifacts of C++ wrappers alone: on a GPU torch compiles and times the kernels for them."""

_NOT_ALLOWED = (
    "triton.cudagraphs",
    "triton.multi_kernel",
    "max_autotune",
    "max_autotune_gemm",
    "max_autotune_pointwise",
    "freezing",
    "cpp_wrapper",
    "fx_wrapper",
    "combo_kernels",
    "benchmark_kernel",
    "aot_inductor.use_runtime_constant_folding",
    "test_configs.track_memory_lifecycle",
    "reorder_for_compute_comm_overlap",
    "_pre_fusion_custom_pass",
    "_post_fusion_custom_pass",
)
"""Settings under which torch checks the wrapper earlier, or that are not known to be repeatable."""

PROVEN_ON_GPU = ("2.11",)
"""The versions of torch in which the tests compare both ways to the C++ wrapper on a GPU."""

_PROVENANCE = (
    "_inductor_triton_kernel_to_post_grad_node_info",
    "_inductor_kernel_stack_trace",
    "_inductor_kernel_provenance_debug_handle",
)

_CONTAINERS = ("dict", "list", "set", "OrderedSet", "defaultdict", "Counter")


class OtherWrapper:
    """The C++ wrappers of graphs while their Python wrappers are generated."""

    def __init__(self, kernels: EqualKernels) -> None:
        self.events: list[Event] = []
        """The artifacts that torch logs for them, including `RENEWED`."""
        self.complaints: list[str] = []
        self.missing = ""
        """Why some are missing; empty if all are there."""
        self._kernels = kernels
        self._triton_kernels = RepeatedKernels()
        self._state: _State | None = None

    @contextmanager
    def requested(self, *, on_gpu: bool) -> Iterator[None]:
        """Also generates the C++ wrapper for each Python wrapper generated in the block."""
        from torch._inductor.graph import GraphLowering

        token = _current.set(self)
        try:
            with (
                patched(GraphLowering, "_update_scheduler", _update_scheduler),
                self._triton_kernels.used() if on_gpu else nullcontext(),
            ):
                yield
        finally:
            _current.reset(token)
            self._state = None

    def schedule(self, original: Callable[[], None], graph: Any) -> None:
        """Lets torch schedule the graph, and saves its state before code generation."""
        state = self._state
        if state is not None and state.graph is graph:
            state.restore()
            for operation in _external(graph):
                # What the constructor does with the name for a C++ wrapper.
                operation.set_cpp_kernel_name(operation.cpp_kernel_name)
            return
        original()
        self._triton_kernels.clear()
        if not self.missing:
            self.missing = _reason(graph)
        self._state = None if self.missing else _State(graph)

    def generate(self, graph: Any) -> None:
        """Generates the C++ wrapper of a graph that already has its Python wrapper."""
        state = self._state
        if self.missing or state is None or state.graph is not graph:
            self.missing = self.missing or "graphs in the graph"
            return
        try:
            with (
                state.restoring_results(),
                listening(self.events.append),
                collecting_warnings(self.complaints),
            ):
                self._generate(graph)
        except Exception as error:  # noqa: BLE001 - whatever it is comes again, from the start
            self.missing = f"{type(error).__name__}: {error}"
        finally:
            self._state = None

    def _generate(self, graph: Any) -> None:
        from torch._inductor import config, debug
        from torch._inductor.compile_fx import get_cpp_wrapper_config

        changes = {
            **get_cpp_wrapper_config(),
            "cpp_wrapper": True,
            "graph_partition": False,
        }
        graph.cpp_wrapper = True
        with config.patch(changes), self._kernels.complete(), self._triton_kernels.repeated():
            wrapper, _ = graph.codegen_with_cpp_wrapper()
            log_output_code(graph, wrapper)
        if config.trace.provenance_tracking_level == 0:
            return
        mappings = json.dumps(debug.dump_inductor_provenance_info())
        traces = json.dumps(debug._inductor_kernel_stack_trace)
        for name, payload in zip(RENEWED[1:], (mappings, traces), strict=True):
            metadata = {"name": name, "encoding": "json"}
            trace_structured(
                "artifact",
                metadata_fn=functools.partial(dict, metadata),
                payload_fn=functools.partial(str, payload),
            )


_current: ContextVar[OtherWrapper | None] = ContextVar("compilescope_other_wrapper", default=None)


def may_share(settings: Mapping[str, Any]) -> bool:
    """Whether these settings let the C++ wrapper share the lowering of the Python wrapper.

    Whether it can also depends on the graph.
    """
    return not any(settings.get(name) for name in _NOT_ALLOWED)


def other_wrapper() -> OtherWrapper | None:
    """The `OtherWrapper` of this context's code generation."""
    return _current.get()


def _update_scheduler(original: Any, self: Any) -> None:
    other = _current.get()
    if other is None:
        original(self)
    else:
        other.schedule(functools.partial(original, self), self)


def _reason(graph: Any) -> str:
    """Why the C++ wrapper of a graph cannot be generated from it; empty if it can."""
    from torch._inductor import config
    from torch._inductor.graph import GraphLowering

    settings = config.get_config_copy()
    for name in _NOT_ALLOWED:
        if settings.get(name):
            return name
    if type(graph) is not GraphLowering or graph.aot_mode or graph.const_module is not None:
        return "a graph of another kind"
    devices = set(graph.device_types)
    if devices == {"cuda"}:
        if not torch.__version__.startswith(tuple(f"{version}." for version in PROVEN_ON_GPU)):
            return "the version of torch"
        nodes = {type(node).__name__ for node in graph.scheduler.nodes}
        if nodes - _NODES:
            return ", ".join(sorted(nodes - _NODES))
    elif devices - {"cpu"}:
        return "another device"
    elif not is_proven():
        return "the version of torch"
    for operation in graph.operations:
        if type(operation).__name__ not in _OPERATIONS:
            return type(operation).__name__
        called = getattr(operation, "op_overload", None)
        if called is not None and getattr(called, "namespace", "aten") not in _NAMESPACES:
            return str(called)
    return ""


_NODES = {
    "SchedulerNode",
    "FusedSchedulerNode",
    "ExternKernelSchedulerNode",
    "NopKernelSchedulerNode",
}
"""The kinds of scheduled nodes on a GPU that do not depend on the wrapper."""

_OPERATIONS = {
    "ComputedBuffer",
    "ExternKernelOut",
    "ExternKernelAlloc",
    "FallbackKernel",
    "MultiOutput",
    "IndexPutFallback",
    "ScatterFallback",
    "ConvolutionUnary",
    "ConvolutionBinary",
    "ConvolutionBinaryInplace",
    "ConvolutionTransposeUnary",
    "LinearUnary",
    "LinearBinary",
    "MKLPackedLinear",
    "ConcatKernel",
    "RandomSeeds",
    "InplaceBernoulliFallback",
    "AssertScalar",
    "DynamicScalar",
}
"""The kinds of operations that code generation does not change."""


_NAMESPACES = ("aten", "mkl", "mkldnn")


class _State:
    """A graph, its scheduler and torch's provenance as they were before the code generation."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self._begin = [_Attributes(owner) for owner in _owners(graph)]
        self._provenance = _provenance()

    def restore(self) -> None:
        """Restores all of it except the wrapper that is being generated."""
        from torch._inductor.virtualized import V

        # From torch's current graph, whose wrapper generator torch has just created.
        current = {name: getattr(self.graph, name) for name in ("wrapper_code", "cpp_wrapper")}
        for attributes in self._begin:
            attributes.restore()
        vars(self.graph).update(current)
        V.graph.scheduler = self.graph.scheduler

    @contextmanager
    def restoring_results(self) -> Iterator[None]:
        """Restores the results of the first code generation after the block."""
        from torch._inductor import debug

        with ExitStack() as stack:
            for owner in _owners(self.graph):
                stack.callback(_restore_attributes, owner, dict(vars(owner)))
            left = _provenance()
            stack.callback(vars(debug).update, left)
            vars(debug).update(self._provenance)
            yield


class _Attributes:
    """A snapshot of an object's attributes: containers with their contents, others by reference."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner
        self._values = _copied(vars(owner))

    def restore(self) -> None:
        _restore_attributes(self._owner, _copied(self._values))


def _copied(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: copy.copy(value) if type(value).__name__ in _CONTAINERS else value
        for name, value in values.items()
    }


def _restore_attributes(owner: Any, values: dict[str, Any]) -> None:
    vars(owner).clear()
    vars(owner).update(values)


def _owners(graph: Any) -> list[Any]:
    """The objects that the code generation changes."""
    fused = graph.scheduler.nodes
    nodes = {id(owner): owner for node in fused for owner in (node, *node.get_nodes())}
    return [graph, graph.sizevars, graph.scheduler, *nodes.values(), *_external(graph)]


def _external(graph: Any) -> list[Any]:
    """The calls of operators for which Inductor generates no kernel."""
    from torch._inductor import ir

    return [operation for operation in graph.operations if isinstance(operation, ir.ExternKernel)]


def _provenance() -> dict[str, Any]:
    from torch._inductor import debug

    return {name: copy.deepcopy(getattr(debug, name)) for name in _PROVENANCE}
