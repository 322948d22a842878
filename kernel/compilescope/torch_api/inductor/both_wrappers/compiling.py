"""Intercepts the graphs that torch compiles with the Python wrapper for the backend.

Relies on ``torch._inductor.compile_fx`` (compile_fx and its ``inner_compile``, compile_fx_inner,
and their defaults), the ``backend_id`` in a graph's ``meta``, ``CompiledFxGraph`` (post_compile,
guards_expr, fx_kwargs, the key of torch's cache) and the backends' registry.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

import torch

from ....report import Direction
from ...operators.communication import COMMUNICATING
from ...process.patching import patched
from ..background.planned_calls import PlannedCall, planned_calls
from ..background.repeatable_graphs import is_repeatable
from ..background.undefined_outputs import undefined_outputs
from .loading import is_loading
from .packing import Packed, pack
from .size_guards import size_guards

TAG = "compilescope-tiers"
"""Keeps torch's caches of tiered compilations apart: each of theirs was packed when it was made."""
_RECORDING_TAG = "compilescope-tiers-cuda-graphs"
"""The same for those that were packed for CUDA graphs."""
_COLLECTIVES = tuple(f"torch.ops.{namespace}" for namespace in COMMUNICATING)
"""What a Python wrapper calls to communicate with other ranks."""


class Traits(NamedTuple):
    """What is only seen in the graph itself, and matters when two wrappers of it are compared."""

    undefined: frozenset[int] = frozenset()
    """The outputs, by number, that torch leaves uninitialized."""
    is_repeatable: bool = False
    """Whether it can run in parallel with the user's calls: `repeatable_graphs.is_repeatable`."""
    planned: tuple[PlannedCall, ...] = ()
    """The calls for which a library plans a kernel in each thread."""


class InterceptedGraph(NamedTuple):
    """A graph that Inductor has compiled under the Python wrapper, or loaded."""

    compiled: Any
    """The ``CompiledFxGraph``."""
    compile_id: str
    kind: Direction
    key: str
    """Equal in all processes for the same code; empty if torch does not cache the graph."""
    packed: Packed | None
    """The pickled graph; None if torch loaded it from its caches."""
    has_cuda_graphs: bool
    has_collectives: bool
    """Whether it communicates with other ranks."""
    seconds: float
    """How long Inductor took to compile it, or torch to load it from its caches (s)."""
    traits: Traits | None
    """Its traits; None if torch loaded it from its caches."""


def register(name: str, backend: Callable[..., Any]) -> None:
    """Makes torch know a backend by its name, where the installation does not do so already."""
    from torch._dynamo.backends import registry

    # Asking for the list of backends would load them all.
    if name not in registry._COMPILER_FNS:
        registry.register_backend(compiler_fn=backend, name=name)


NO_SETTINGS = ("guard_filter_fn", "use_aoti")
"""The options that ``torch.compile`` takes itself, and hands to no backend."""


def settings_of(mode: str | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Inductor's settings for what ``torch.compile`` was given, checked as torch checks them.

    Raises
    ------
    RuntimeError
        There is no such mode or option, or the value is of another type.
    """
    wrapper: Any = torch._TorchCompileInductorWrapper
    settings: dict[str, Any] = wrapper(mode, dict(options), None).config
    return settings


def is_cpp(settings: Mapping[str, Any]) -> bool:
    """Whether these settings ask for the C++ wrapper from the first."""
    from torch._inductor import config

    current: Any = config
    return bool(settings.get("cpp_wrapper", current.cpp_wrapper))


def dynamo_name(graph: Any) -> str:
    """Dynamo's name of a graph that it gives to a backend; empty in a torch that says none."""
    return str(getattr(graph, "meta", {}).get("backend_id", ""))


def compile_plainly(graph: Any, inputs: Sequence[Any], settings: dict[str, Any]) -> Any:
    """Compiles as the backend ``inductor`` does."""
    from torch._inductor.compile_fx import compile_fx

    return compile_fx(graph, inputs, config_patches=settings)


def compile_noticing(
    graph: Any,
    inputs: Sequence[Any],
    settings: dict[str, Any],
    notice: Callable[[InterceptedGraph], None],
    *,
    records: bool = False,
) -> Any:
    """Compiles under the Python wrapper; ``notice`` is given each graph of AOTAutograd's.

    Also those that are compiled later: a backward is, at its first call. With ``records`` the other
    process is asked to say whether CUDA graphs of the C++ wrapper can be recorded.
    """
    from torch._inductor.compile_fx import compile_fx, compile_fx_inner

    tag = _RECORDING_TAG if records else TAG

    def inner(graph: Any, inputs: Sequence[Any], **options: Any) -> Any:
        packed = pack(graph, inputs, options, records)
        traits = Traits(undefined_outputs(graph), is_repeatable(graph), planned_calls(graph))
        with _intercepting(notice, tag, packed, traits):
            return compile_fx_inner(graph, inputs, **options)

    with _intercepting(notice, tag):
        return compile_fx(graph, inputs, inner_compile=inner, config_patches=settings)


class _Listener(NamedTuple):
    notice: Callable[[InterceptedGraph], None]
    packed: Packed | None
    traits: Traits | None
    start: float


_listener: ContextVar[_Listener | None] = ContextVar("compilescope_tiers", default=None)


@contextlib.contextmanager
def _intercepting(
    notice: Callable[[InterceptedGraph], None],
    own_tag: str,
    packed: Packed | None = None,
    traits: Traits | None = None,
) -> Iterator[None]:
    from torch._inductor.output_code import CompiledFxGraph

    settings: Any = torch.compiler.config
    tag = settings.cache_key_tag
    tagged = tag if tag.endswith(own_tag) else f"{tag}{own_tag}"
    token = _listener.set(_Listener(notice, packed, traits, time.perf_counter()))
    try:
        with (
            patched(CompiledFxGraph, "post_compile", _post_compile),
            settings.patch(cache_key_tag=tagged),
        ):
            yield
    finally:
        _listener.reset(token)


def _post_compile(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    result = original(self, *args, **kwargs)
    listener = _listener.get()
    # A second tier that is loaded meanwhile is no graph of its own.
    if listener is not None and not is_loading():
        seconds = time.perf_counter() - listener.start
        arguments = [*args, *kwargs.values()]
        listener.notice(_intercepted(self, arguments, listener, seconds))
    return result


def _intercepted(
    compiled: Any, arguments: Sequence[Any], listener: _Listener, seconds: float
) -> InterceptedGraph:
    fx_kwargs = compiled.fx_kwargs or {}
    kind: Direction = "inference" if fx_kwargs.get("is_inference") else "forward"
    if compiled.guards_expr is None:
        # torch writes it only where it caches the graph.
        compiled.guards_expr = size_guards(arguments[0])
    settings = [argument for argument in arguments if isinstance(argument, Mapping)]
    return InterceptedGraph(
        compiled=compiled,
        compile_id=str(torch._guards.CompileContext.current_compile_id()),
        kind="backward" if fx_kwargs.get("is_backward") else kind,
        key=_key(compiled),
        packed=listener.packed,
        has_cuda_graphs="cuda" in compiled.device_types
        and any(bool(setting.get("cudagraphs")) for setting in settings),
        has_collectives=any(name in compiled.source_code for name in _COLLECTIVES),
        seconds=seconds,
        traits=listener.traits,
    )


def _key(compiled: Any) -> str:
    key = getattr(compiled, "_fx_graph_cache_key", None)
    if not key:
        return ""
    # One key has several entries where their guards on sizes differ.
    return hashlib.sha256(f"{key}\n{compiled.source_code}".encode()).hexdigest()[:40]
