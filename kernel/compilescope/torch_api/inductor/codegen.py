"""Generates the code of many variants from one Dynamo capture, without a build.

Relies on ``torch._guards`` (TracingContext and its traced_code, CompileContext),
``torch._inductor.compile_fx`` (compile_fx, _compile_fx_inner),
``GraphLowering.compile_to_module`` and ``torch._inductor.graph.get_donated_idxs``,
and ``AsyncCompile`` (use_process_pool); the same from 2.11 to 2.15.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any

import torch
from torch import fx
from torch._dynamo.convert_frame import compile_lock
from torch._dynamo.exc import RestartAnalysis, TensorifyScalarRestartAnalysis
from torch._dynamo.symbolic_convert import TensorifyState
from torch._functorch import config as functorch_config
from torch._guards import CompileContext, CompileId, TracingContext, compile_context, tracing

from ..dynamo import needed_run
from ..dynamo.process_state import uncounted
from ..dynamo.retained_memory import forgotten
from ..process.patching import patched
from ..trace.thread_tracing import traced_unseen
from ..trace.trace import listening
from . import dynamic_results, workers
from .added_size_guards import CodeGenerationGuards
from .captured_graph import (
    Capture,
    FirstBackward,
    autocast_state,
    fake_of,
    modes_of,
    number_of,
    tensor_with_value,
    tracked_fakes_of,
    undecided_floats,
)
from .equal_kernels import EqualKernels
from .output_code import log_output_code
from .wrappers.early_kernels import built_early
from .wrappers.other_wrapper import OtherWrapper, other_wrapper


class CapturingBackend:
    """A Dynamo backend that keeps each graph and runs it unchanged, as far as that is needed.

    Call what it compiles with `torch_api.dynamo.needed_run.call`.

    Parameters
    ----------
    captured
        Called with each capture, in the order in which Dynamo captures them.
    failed
        Called with the error if a graph cannot be kept. The graph still runs: raising the error
        would end the subject's call, and Dynamo would report a backend failure.
    within
        Creates the context manager in which each graph runs.
    marks_sizes
        Whether the dynamic sizes of results are marked as AOTAutograd marks them, which changes
        the symbols of the code after a graph break.
    traces_only
        Whether no graph runs, because the tensors have no data. A call that needs a graph's results
        then fails with `ValuesNeededError`.
    """

    compiler_name = "compilescope"

    def __init__(
        self,
        captured: Callable[[Capture], None],
        failed: Callable[[Exception], None],
        within: Callable[[], contextlib.AbstractContextManager[Any]] | None = None,
        *,
        marks_sizes: bool = True,
        traces_only: bool = False,
    ) -> None:
        self._traces_only = traces_only
        self._captured = captured
        self._failed = failed
        self._within = within
        self._marks_sizes = marks_sizes

    def __call__(  # noqa: D102 - Dynamo's protocol
        self, graph: fx.GraphModule, inputs: Sequence[Any], **_: Any
    ) -> Callable[..., Any]:
        fakes: list[Any] = []
        backward = FirstBackward()
        try:
            fakes = self._keep(graph, inputs, backward)
        except RestartAnalysis:
            raise
        except Exception as error:  # noqa: BLE001 - compilescope's own; the subject's call continues
            self._failed(error)
        if self._traces_only:
            return needed_run.ending(graph, succeeds=True) or _refuse_to_run
        within = self._within
        if within is None and (early := needed_run.ending(graph)) is not None:
            return early
        sizes = dynamic_results.dynamic_sizes(graph) if self._marks_sizes else []

        def observed(*args: Any) -> Any:
            tensors = [arg for arg in args if isinstance(arg, torch.Tensor)]
            before = {tensor.grad_fn for tensor in tensors}
            outputs = graph.forward(*args)
            # An input that the graph writes to has another grad_fn afterwards.
            backward.watch([*outputs, *tensors], but=before)
            dynamic_results.mark(outputs, sizes)
            return outputs

        if within is None:
            return observed

        def run(*args: Any) -> Any:
            floats = {
                i: args[i].item() for i, fake in enumerate(fakes) if number_of(fake) is not None
            }
            with within():
                known = (
                    tensor_with_value(floats[i], arg) if i in floats else arg
                    for i, arg in enumerate(args)
                )
                return observed(*known)

        return run

    def _keep(
        self, graph: fx.GraphModule, inputs: Sequence[Any], backward: FirstBackward
    ) -> list[Any]:
        """Passes a graph on; returns its fake inputs."""
        context = TracingContext.get()
        compile_id = CompileContext.current_compile_id()
        placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
        fakes = [
            fake_of(node.meta.get("example_value"), example, context.fake_mode)
            for node, example in zip(placeholders, inputs, strict=True)
        ]
        capture = Capture(
            graph=_copied(graph),
            inputs=fakes,
            fake_mode=context.fake_mode,
            compile_id=str(compile_id),
            grad=torch.is_grad_enabled(),
            inference=torch.is_inference_mode_enabled(),
            autocast=autocast_state(),
            constants=frozenset(TensorifyState.force_specializations),
            backward=backward,
            tracked_fakes=tracked_fakes_of(context.fake_mode),
            is_whole_call=needed_run.is_whole_call(graph),
            traced=frozenset(context.traced_code),
        )
        if undecided_floats(capture.fake_mode):
            _settle_floats(capture)
        self._captured(capture)
        return fakes


class ValuesNeededError(Exception):
    """A call needs the results of a graph that cannot run."""


def _refuse_to_run(*_: Any) -> None:
    raise ValuesNeededError("The call needs the results of a graph.")


def generate(
    capture: Capture,
    settings: dict[str, Any],
    kernels: EqualKernels | None = None,
    other: OtherWrapper | None = None,
) -> None:
    """Generates the code of a captured graph: forward, and backward if it is trained.

    Builds nothing and runs no generated code. The result arrives as trace events, like that of a
    real compilation, with the capture's compile id: listen with `torch_api.trace.trace.listening`.

    Parameters
    ----------
    settings
        Inductor settings for this compilation (``cpp_wrapper`` and others).
    kernels
        Kernels generated so far: they are reused, and new ones are added. None: torch generates
        every kernel.
    other
        Receives the C++ wrapper for the code that is generated with a Python wrapper.

    Raises
    ------
    Exception
        Whatever Inductor raises: for an operator without lowering, say. If ``kernels.unlike`` is
        then true, ``kernels`` caused the error, and code generation without them works.
    """
    # They are the whole process's: a compilation in another thread has its own.
    with compile_lock:
        before = set(TensorifyState.force_specializations)
        # torch restarts its analysis if it finds a constant that it did not know of.
        TensorifyState.force_specializations = set(capture.constants)
        try:
            _generate(capture, settings, kernels, other)
        finally:
            TensorifyState.force_specializations = before


def _generate(
    capture: Capture,
    settings: dict[str, Any],
    kernels: EqualKernels | None = None,
    other: OtherWrapper | None = None,
) -> None:
    from torch._inductor import compile_fx as inductor
    from torch._inductor import graph as lowering
    from torch._inductor.async_compile import AsyncCompile
    from torch._inductor.compile_fx import compile_fx

    token = _generating.set(capture)
    for_cpp = other is not None or bool(settings.get("cpp_wrapper"))
    on_gpu = not capture.is_on_cpu
    builds_token = _builds_kernels.set(for_cpp and on_gpu)
    sizes = CodeGenerationGuards(capture.fake_mode.shape_env, capture.tracked_fakes)
    sizes_token = _sizes.set(sizes)
    try:
        with (
            compile_lock,
            contextlib.nullcontext() if kernels is None else kernels.used(),
            contextlib.nullcontext() if other is None else other.requested(on_gpu=on_gpu),
            uncounted(),
            forgotten(),
            traced_unseen(),
            patched(lowering.GraphLowering, "compile_to_module", _compile_to_module),
            patched(inductor, "_compile_fx_inner", _compile_graph),
            patched(lowering, "get_donated_idxs", _donated),
            patched(AsyncCompile, "use_process_pool", _use_process_pool),
            built_early() if _builds_kernels.get() else contextlib.nullcontext(),
            modes_of(capture),
            tracing(TracingContext(capture.fake_mode)),
            compile_context(CompileContext(_compile_id(capture.compile_id))),
        ):
            with (
                sizes.removed(),
                functorch_config.patch(
                    enable_autograd_cache=False, force_non_lazy_backward_lowering=True
                ),
            ):
                compile_fx(
                    _copied(capture.graph),
                    list(capture.inputs),
                    config_patches={
                        **settings,
                        "fx_graph_cache": False,
                        "fx_graph_remote_cache": False,
                    },
                )
            sizes.log()
    finally:
        _sizes.reset(sizes_token)
        _builds_kernels.reset(builds_token)
        _generating.reset(token)


@contextlib.contextmanager
def free_to_compile(patience_s: float) -> Iterator[bool]:
    """Holds torch's compile lock in the block, if it becomes free in time.

    Yields
    ------
    bool
        False: another thread was compiling during all of ``patience_s``.
    """
    free = compile_lock.acquire(timeout=patience_s)
    try:
        yield free
    finally:
        if free:
            compile_lock.release()


_generating: ContextVar[Capture | None] = ContextVar("compilescope_generating", default=None)
_builds_kernels: ContextVar[bool] = ContextVar("compilescope_builds_kernels", default=False)
"""Whether kernels are built for the code: that of a C++ wrapper for a GPU depends on them."""

_sizes: ContextVar[CodeGenerationGuards | None] = ContextVar("compilescope_sizes", default=None)


def _compile_graph(original: Any, *args: Any, **more: Any) -> Any:
    """Compiles a forward or backward.

    torch compiles a backward with the forward only if sizes are saved for it. Later it is too late
    for guards.
    """
    if _only_floats.get():
        raise _FloatsDecided
    sizes = _sizes.get()
    if sizes is not None and more.get("is_backward"):
        metadata = TracingContext.get().fw_metadata
        if metadata is not None and not metadata.num_symints_saved_for_bw:
            sizes.record_current()
    return original(*args, **more)


def _donated(original: Callable[[], Any]) -> Any:
    """Which inputs a backward may reuse: none if its first call keeps the graph.

    If sizes are saved for it, torch compiles the backward before its first call, and cannot know
    that.
    """
    capture = _generating.get()
    if capture is not None and capture.backward.keeps_graph:
        metadata = TracingContext.get().fw_metadata
        if metadata is not None and not metadata.num_symints_saved_for_bw:
            return []
    return original()


def _compile_to_module(original: Any, self: Any) -> Any:
    """Generates the wrapper and logs it as torch would, without a build."""
    if _generating.get() is None:
        return original(self)
    wrapper, _ = self.codegen_with_cpp_wrapper() if self.cpp_wrapper else self.codegen()
    log_output_code(self, wrapper)
    if (other := other_wrapper()) is not None:
        other.generate(self)
    return SimpleNamespace(
        call=_not_built,
        # For a graph in partitions, each of which becomes a CUDA graph.
        runner=SimpleNamespace(recursively_apply_fns=lambda wrappers: None, partitions=[]),
        __file__=None,
        __name__="compilescope",
    )


def _use_process_pool(original: Callable[[], bool]) -> bool:
    """Whether kernels are compiled in other processes; while code is generated none are started.

    For a Python wrapper nothing is built here, but torch would have the processes compile each
    Triton kernel that it generates.
    """
    if _generating.get() is not None and not (_builds_kernels.get() and workers.are_running()):
        return False
    return original()


def _not_built(*_: Any) -> Any:
    raise AssertionError("This code was generated to be read; it was never built.")


def _compile_id(text: str) -> CompileId:
    frame, _, compilation = text.rpartition("/")
    return CompileId(frame_id=int(frame.rpartition("/")[2]), frame_compile_id=int(compilation))


def _copied(graph: fx.GraphModule) -> fx.GraphModule:
    """A deep copy that also has the attributes that Dynamo sets outside of ``meta``.

    ``deepcopy`` leaves them out. With them AOTAutograd distinguishes parameters from other inputs,
    which decides what a forward saves for its backward and which inputs are static under CUDA
    graphs.
    """
    # Gradients of the graph's own parameters are not copied: no code depends on them, and torch
    # cannot copy those that FSDP creates as views of one larger tensor.
    gradients = [parameter.grad for parameter in graph.parameters() if parameter.grad is not None]
    copied: Any = copy.deepcopy(graph, {id(gradient): None for gradient in gradients})
    if hasattr(graph, "_param_name_to_source"):
        copied._param_name_to_source = graph._param_name_to_source
    for node, twin in zip(graph.graph.nodes, copied.graph.nodes, strict=True):
        if hasattr(node, "_dynamo_source"):
            twin._dynamo_source = node._dynamo_source
    return copied  # type: ignore[no-any-return]


def _settle_floats(capture: Capture) -> None:
    """Lets torch decide whether a float can stay a symbol.

    If it cannot, AOTAutograd raises an exception that makes Dynamo restart with a constant, and
    that must pass through the backend. Without this the captured graph would not be the one of the
    real compilation.
    """
    token = _only_floats.set(True)
    try:
        with listening(lambda event: None):  # this trial stays out of the compilation's trace
            _generate(capture, {})
    except TensorifyScalarRestartAnalysis:
        raise
    except (_FloatsDecided, Exception):  # noqa: BLE001 - generating the sources raises it, too
        return
    finally:
        _only_floats.reset(token)


_only_floats: ContextVar[bool] = ContextVar("compilescope_only_floats", default=False)


class _FloatsDecided(BaseException):
    """Ends `_settle_floats`: torch decides before Inductor compiles the forward.

    Not an ``Exception``, which torch would report as a failure of the compiler.
    """
