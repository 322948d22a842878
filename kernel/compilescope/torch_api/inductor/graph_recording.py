"""CUDA graphs of a loaded wrapper, recorded and replayed as ``mode="reduce-overhead"`` does.

torch decides in the process that builds the wrapper whether the graph can be recorded, and wraps it
here: its calls warm up, record, and replay from then on.

Relies on ``torch._inductor.output_code.cudagraph_post_compile``, ``CompiledFxGraph``
(cudagraph_info, disabled_cudagraphs_reason, mutated_input_idxs, fx_kwargs), and
``torch._inductor.cudagraph_trees`` (get_manager, local with tree_manager_containers and
tree_manager_locks, which threads of autograd find under the same names, get_cudagraph_segments, the
manager's current_node, path_state, set_to_running_backward and cuda_graphs_thread_pool); the same
from 2.11 to 2.15.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import Any, Literal, NamedTuple

import torch

from ..dynamo.wrapper_type import Inner

Call = Literal["other", "warm-up", "recording", "replay"]
"""What a call of a recorded wrapper was; other: torch ran the wrapper itself."""

_CONTAINERS, _LOCKS = "tree_manager_containers", "tree_manager_locks"
_OVERRIDE = "disabling cudagraphs due to override_cudagraphs annotation"
_CALLS: dict[str, Call] = {
    "WARMUP": "warm-up",
    "RECORDING": "recording",
    "EXECUTION": "replay",
}


class Recordable(NamedTuple):
    """A wrapper that torch records."""

    plain: Inner
    """The wrapper itself."""
    graphed: Inner
    """Warms up, records or replays."""
    device: int


class Loaded(NamedTuple):
    """A wrapper, loaded."""

    wrapper: Inner
    recordable: Recordable | None = None
    """The same with its CUDA graphs, if they were requested and torch would record it."""
    reason: str = ""
    """Why it would not, as torch words it."""


def is_capturing() -> bool:
    """Whether a CUDA graph is recorded now: nothing may wait for the GPU then."""
    is_initialized: bool = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    return is_initialized and torch.cuda.is_current_stream_capturing()


def missing() -> str:
    """What this torch lacks of what recording needs; empty if nothing."""
    from torch._inductor import cudagraph_trees, output_code

    needed = (
        (output_code, "cudagraph_post_compile"),
        (cudagraph_trees, "get_manager"),
        (cudagraph_trees, "get_cudagraph_segments"),
        (cudagraph_trees, "local"),
        (torch._C, "_stash_obj_in_tls"),
    )
    for module, name in needed:
        if not hasattr(module, name):
            return f"{module.__name__}.{name}"
    return ""


def is_on_gpu(compiled: Any) -> bool:
    """Whether a graph of torch's uses a CUDA device."""
    return "cuda" in compiled.device_types


def overridden(graph: Any) -> str:
    """Why the user's code keeps Dynamo's graph from being recorded; empty if it does not."""
    annotation = getattr(graph, "meta", {}).get("cudagraph_annotation")
    is_off = annotation is not None and False in (annotation.fwd, annotation.bwd)
    return _OVERRIDE if is_off else ""


def with_recordings(compiled: Any, constants: Any, compile_id: str) -> Loaded:
    """A loaded graph that was built for it with its CUDA graphs; the graph stays as it is.

    Parameters
    ----------
    compiled, constants
        The ``CompiledFxGraph``, and what unwraps its constants.
    compile_id
        torch's name for the compilation: its log of recordings names it.
    """
    from torch._guards import CompileContext, CompileId, compile_context
    from torch._inductor import config
    from torch._inductor.cudagraph_utils import BoxedDeviceIndex
    from torch._inductor.output_code import cudagraph_post_compile
    from torch._inductor.utils import BoxedBool

    plain: Inner = compiled.current_callable
    settings: Any = config
    if reason := _reason(compiled):
        return Loaded(plain, reason=reason)
    if not settings.triton.cudagraph_trees:
        return Loaded(plain, reason="the setting triton.cudagraph_trees is off")
    with compile_context(CompileContext(CompileId.from_string(compile_id))):
        try:
            cudagraph_post_compile(
                (), compiled, BoxedBool(True), constants.unwrap(compiled), BoxedDeviceIndex(None)
            )
            graphed: Inner = compiled.current_callable
        finally:
            compiled.current_callable = plain
    if graphed is plain:
        return Loaded(plain, reason="torch's compiler bisector has turned them off")
    return Loaded(plain, Recordable(plain, graphed, next(iter(compiled.device_idxs))))


def _reason(compiled: Any) -> str:
    if compiled.disabled_cudagraphs_reason:
        return str(compiled.disabled_cudagraphs_reason)
    info = compiled.cudagraph_info
    if info is None:
        return "torch did not look whether it can be recorded"
    if info.cudagraph_fail_reasons:
        return ", ".join(info.cudagraph_fail_reasons)
    # torch decides at a call whether such an input is at a fixed address after all.
    static = set(compiled.fx_kwargs["static_input_idxs"] or ())
    moving = sorted(set(compiled.mutated_input_idxs) - static)
    if moving:
        names = ", ".join(info.placeholders[place].name for place in moving)
        return f"mutated inputs ({names})"
    return ""


class RecordingThread:
    """The thread whose calls record and replay, with autograd's threads that work for it.

    Each thread of torch's has graphs and a pool of memory of its own.
    """

    def __init__(self) -> None:
        self._containers: Any = None

    @property
    def is_entered(self) -> bool:
        """Whether it is decided."""
        return self._containers is not None

    def enter(self) -> None:
        """Decides for this thread."""
        from torch._inductor import cudagraph_trees

        if _thread_memory(cudagraph_trees) is None:
            # torch 2.11 and 2.12 do this in the thread that imports the module alone.
            created: dict[str, Any] = {_CONTAINERS: {}, _LOCKS: defaultdict(threading.Lock)}
            for name, value in created.items():
                setattr(cudagraph_trees.local, name, value)
                torch._C._stash_obj_in_tls(name, value)
        self._containers = _thread_memory(cudagraph_trees)

    def is_here(self) -> bool:
        """Whether this is the thread, or one of autograd's that works for it."""
        from torch._inductor import cudagraph_trees

        return self._containers is not None and _thread_memory(cudagraph_trees) is self._containers


def _thread_memory(trees: Any) -> Any:
    """The graphs' memory of this thread, or None."""
    containers = getattr(trees.local, _CONTAINERS, None)
    if containers is None and torch._C._is_key_in_tls(_CONTAINERS):
        containers = torch._C._get_obj_in_tls(_CONTAINERS)
    return containers


def latest_call(wrapper: Recordable) -> Call:
    """What the latest call in this thread was, if it was one of this wrapper."""
    manager = _manager(wrapper.device)
    node = None if manager is None else manager.current_node
    if node is None or node.wrapped_function.model is not wrapper.plain:
        return "other"
    return _CALLS.get(manager.path_state.name, "other")


def end_step(device: int) -> None:
    """Makes torch wait for no recorded backward in this thread: it will not come."""
    manager = _manager(device)
    if manager is not None:
        manager.set_to_running_backward()


def pool_bytes(device: int) -> float | None:
    """The size of the pool that all recorded graphs of this thread share."""
    from torch._inductor import cudagraph_trees

    manager = _manager(device)
    if manager is None or manager.graph is None:
        return None
    segments = cudagraph_trees.get_cudagraph_segments(manager.cuda_graphs_thread_pool)
    return float(sum(segment["total_size"] for segment in segments))


def _manager(device: int) -> Any:
    from torch._inductor import cudagraph_trees

    if _thread_memory(cudagraph_trees) is None:
        return None
    return cudagraph_trees.get_manager(device, create_if_none_exists=False)
