"""Packs a graph with all inputs of its compilation, and unpacks it in the build process.

Relies on ``torch._inductor.compile_fx`` (get_cpp_wrapper_config, get_input_idxs_to_check), on
``torch._inductor.compile_fx_subproc`` (serialize_compile), ``FxGraphCache`` (_check_for_hop),
``GraphPickler`` and ``TracingContext`` (params_flat, params_flat_unwrap_subclasses,
output_strides).
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

import torch

from ...process.float32_precision import float32_precisions, set_float32_precisions
from ...process.patching import patched

_NOT_CARRIED = (
    "post_grad_custom_pre_pass",
    "post_grad_custom_post_pass",
    "joint_custom_pre_pass",
    "joint_custom_post_pass",
    "pre_grad_custom_pass",
    "_pre_fusion_custom_pass",
    "_post_fusion_custom_pass",
    "custom_partitioner_fn",
)
"""Settings that hold functions: they stay in this process."""
_HEAVY = ("params_flat", "params_flat_unwrap_subclasses", "output_strides")
"""Of a tracing context: what another process does not need."""
_pickling: ContextVar[bool] = ContextVar("compilescope_tiers_pickling", default=False)


class Packed(NamedTuple):
    """A graph and all that compiling it takes, for another process."""

    data: bytes
    """Empty if it cannot be packed."""
    why: str = ""
    """Why it cannot."""


class _Unpicklable(Exception):  # noqa: N818 - it says what it means
    """Not among those for which torch logs a traceback."""


def pack(graph: Any, inputs: Sequence[Any], options: Mapping[str, Any], records: bool) -> Packed:
    """The graph as it is now; torch's passes change it in place."""
    from torch._inductor import config
    from torch._inductor.codecache import BypassFxGraphCache, FxGraphCache
    from torch._inductor.compile_fx import get_cpp_wrapper_config, get_input_idxs_to_check
    from torch._inductor.compile_fx_subproc import _SubprocessFxCompile
    from torch._inductor.utils import BoxedBool

    settings: Any = config
    if settings.freezing:
        return Packed(b"", "freezing puts the parameters into the graph.")
    for name in _NOT_CARRIED:
        if getattr(settings, name, None):
            return Packed(b"", f"the setting {name} holds a function of this process.")
    whole: Any = {
        "static_input_idxs": (),
        "is_backward": False,
        "graph_id": None,
        "fx_wrapper": False,
        "is_inference": False,
        "boxed_forward_device_index": None,
        "layout_opt": None,
        "extern_node_serializer": None,
        **{name: value for name, value in options.items() if name != "compile_region_name"},
        "cpp_wrapper": True,
        # torch then notes in the result whether it can be recorded, and what that takes.
        "cudagraphs": BoxedBool(records),
    }
    checked = get_input_idxs_to_check(inputs, whole["static_input_idxs"])
    try:
        FxGraphCache._check_for_hop(graph)
        with (
            settings.patch(
                {
                    "cpp_wrapper": True,
                    "triton.cudagraphs": False,
                    "triton.cudagraph_or_error": False,
                }
            ),
            settings.patch(get_cpp_wrapper_config()),
            light_context(),
            any_operator(),
        ):
            serialized = _SubprocessFxCompile().serialize_compile(graph, inputs, checked, whole)
            carried = settings.save_config_portable()
    except BypassFxGraphCache as error:
        return Packed(b"", f"{error}.")
    except _Unpicklable as error:
        return Packed(b"", str(error))
    if serialized is None:
        return Packed(b"", "it calls a Triton kernel of the user's, which torch does not pickle.")
    state = {"graph": serialized[0].value, "settings": carried, "process": _process_state()}
    return Packed(pickle.dumps(state))


@contextlib.contextmanager
def light_context() -> Iterator[None]:
    """In the block the tracing context holds no parameters: their values would be packed too."""
    # `torch._guards.tracing` with a copy would also erase the stacks of the user's compilation.
    context: Any = torch._guards.TracingContext.try_get()
    heavy = {name: getattr(context, name) for name in _HEAVY} if context is not None else {}
    for name in heavy:
        setattr(context, name, None)
    try:
        yield
    finally:
        for name, value in heavy.items():
            setattr(context, name, value)


@contextlib.contextmanager
def any_operator() -> Iterator[None]:
    """In the block graphs are pickled with whatever operators they have.

    torch takes only its own basic ones, as another machine may lack the others.
    """
    from torch.fx._graph_pickler import GraphPickler

    token = _pickling.set(True)
    try:
        with patched(GraphPickler, "dumps", _dumps):
            yield
    finally:
        _pickling.reset(token)


def _dumps(original: Any, value: Any, options: Any = None) -> Any:
    from torch.fx._graph_pickler import Options

    if not _pickling.get():
        return original(value, options)
    try:
        return original(value, options or Options(ops_filter=None))
    except Exception as error:
        raise _Unpicklable(f"{type(error).__name__}: {error}") from error


def _process_state() -> dict[str, Any]:
    """What generated code depends on besides Inductor's settings."""
    return {
        "threads": torch.get_num_threads(),
        "dtype": torch.get_default_dtype(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "warn_only": torch.is_deterministic_algorithms_warn_only_enabled(),
        "precision": float32_precisions(),
        "mkldnn": torch.backends.mkldnn.enabled,
        "reduced": torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction,
        "reduced_bf16": torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction,
    }


def enter(state: Mapping[str, Any]) -> None:
    """Makes this process as that was which packed the graph."""
    torch.set_num_threads(state["threads"])
    torch.set_default_dtype(state["dtype"])
    torch.use_deterministic_algorithms(state["deterministic"], warn_only=state["warn_only"])
    set_float32_precisions(state["precision"])
    torch.backends.mkldnn.enabled = state["mkldnn"]
    matmul = torch.backends.cuda.matmul
    matmul.allow_fp16_reduced_precision_reduction = state["reduced"]
    matmul.allow_bf16_reduced_precision_reduction = state["reduced_bf16"]
