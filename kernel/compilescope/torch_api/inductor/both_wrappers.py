"""A graph compiled under the Python wrapper here, and under the C++ wrapper in another process.

What torch compiles is noticed where Inductor hands it to AOTAutograd, fresh or from torch's caches;
each graph is packed before Inductor changes it, and carries what the other process needs. What that
process gives is loaded here: nothing is traced, lowered or built.

Stands on ``torch._inductor.compile_fx`` (compile_fx and its ``inner_compile``, compile_fx_inner,
get_cpp_wrapper_config, get_input_idxs_to_check, and their defaults), on
``torch._inductor.compile_fx_ext`` and ``compile_fx_subproc`` (serialize_compile, _run_in_child, the
wire's input), ``CompiledFxGraph`` (post_compile, current_callable, guards_expr, output_strides,
mutated_input_idxs, fx_kwargs, prepare_for_serialization, after_deserialization), ``FxGraphCache``
(_check_for_hop, _get_shape_env, _filter_backed_symints), ``GraphPickler``, ``CppBuilder.build``,
``codecache`` (_precompile_header, get_path), ``runtime.compile_tasks`` (where a wrapper's module is
compiled), ``cpu_vec_isa`` (valid_vec_isa_list, x86_isa_checker), ``TracingContext.params_flat``,
``convert_frame.compile_lock`` and the backends' registry.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import hashlib
import importlib.util
import marshal
import pickle
import platform
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple

import torch

from ..process.patching import patched
from .graph_recording import Inner, Loaded, with_recordings
from .repeatable_graphs import is_repeatable
from .undefined_outputs import undefined_outputs

Kind = Literal["inference", "forward", "backward"]

TAG = "compilescope-tiers"
"""Keeps torch's caches of tiered compilations apart: each of theirs was packed when it was made."""
_RECORDING_TAG = "compilescope-tiers-cuda-graphs"
"""The same for those that were packed for CUDA graphs."""

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


_COLLECTIVES = ("torch.ops._c10d_functional", "torch.ops.c10d", "torch.ops.symm_mem")
"""What a Python wrapper calls to communicate with other ranks."""


class Packed(NamedTuple):
    """A graph and all that compiling it takes, for another process."""

    data: bytes
    """Empty if it cannot be packed."""
    why: str = ""
    """Why it cannot."""


class Traits(NamedTuple):
    """What is only seen in the graph itself, and matters when two wrappers of it are compared."""

    undefined: frozenset[int] = frozenset()
    """The outputs, by number, that torch leaves uninitialised."""
    is_repeatable: bool = False
    """Whether it can run beside the user's calls: `repeatable_graphs.is_repeatable`."""


class Noticed(NamedTuple):
    """A graph that Inductor has compiled under the Python wrapper, or loaded."""

    compiled: Any
    """The ``CompiledFxGraph``."""
    compile_id: str
    kind: Kind
    key: str
    """The same in another process, for the same code; empty if torch does not cache it."""
    packed: Packed | None
    """None where torch had it in its caches."""
    has_cuda_graphs: bool
    has_collectives: bool
    """Whether it communicates with other ranks."""
    seconds: float
    """What Inductor took; where torch had it in its caches, what that took."""
    traits: Traits | None
    """None where torch had it in its caches."""


def missing() -> str:
    """What this torch lacks of what tiers need; empty if nothing.

    Loads none of it: where torch has the graph in its caches, it is not needed.
    """
    for name in _MODULES:
        if importlib.util.find_spec(name) is None:
            return name
    from torch._inductor import codecache

    return "" if hasattr(codecache, _HEADER) else f"torch._inductor.codecache.{_HEADER}"


_MODULES = (
    "torch._inductor.compile_fx_ext",
    "torch._inductor.compile_fx_subproc",
    "torch.fx._graph_pickler",
)
_HEADER = "_precompile_header"


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


def compile_plainly(graph: Any, inputs: Sequence[Any], settings: dict[str, Any]) -> Any:
    """Compiles as the backend ``inductor`` does."""
    from torch._inductor.compile_fx import compile_fx

    return compile_fx(graph, inputs, config_patches=settings)


def compile_noticing(
    graph: Any,
    inputs: Sequence[Any],
    settings: dict[str, Any],
    notice: Callable[[Noticed], None],
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
        packed = _pack(graph, inputs, options, records)
        traits = Traits(undefined_outputs(graph), is_repeatable(graph))
        with _noticing(notice, tag, packed, traits):
            return compile_fx_inner(graph, inputs, **options)

    with _noticing(notice, tag):
        return compile_fx(graph, inputs, inner_compile=inner, config_patches=settings)


_loading: ContextVar[bool] = ContextVar("compilescope_tiers_loading", default=False)
_vector_instructions: ContextVar[Sequence[Any] | None] = ContextVar(
    "compilescope_tiers_vector_instructions", default=None
)
"""What the process that built a graph found to work, while the graph is loaded."""
_module: ContextVar[Module | None] = ContextVar("compilescope_tiers_module", default=None)
"""The wrapper's module, while the graph is loaded."""
_pickling: ContextVar[bool] = ContextVar("compilescope_tiers_pickling", default=False)


class Module(NamedTuple):
    """The Python module that holds a C++ wrapper, compiled."""

    source: str
    path: str
    code: bytes
    """As ``marshal`` writes it."""
    python: bytes
    """Which Python reads that."""


class _Listener(NamedTuple):
    notice: Callable[[Noticed], None]
    packed: Packed | None
    traits: Traits | None
    start: float


_listener: ContextVar[_Listener | None] = ContextVar("compilescope_tiers", default=None)


@contextlib.contextmanager
def _noticing(
    notice: Callable[[Noticed], None],
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
    if listener is not None and not _loading.get():
        seconds = time.perf_counter() - listener.start
        arguments = [*args, *kwargs.values()]
        listener.notice(_noticed(self, arguments, listener, seconds))
    return result


def _noticed(
    compiled: Any, arguments: Sequence[Any], listener: _Listener, seconds: float
) -> Noticed:
    fx_kwargs = compiled.fx_kwargs or {}
    kind: Kind = "inference" if fx_kwargs.get("is_inference") else "forward"
    if compiled.guards_expr is None:
        # torch writes it only where it caches the graph.
        compiled.guards_expr = _guards(arguments[0])
    settings = [argument for argument in arguments if isinstance(argument, Mapping)]
    return Noticed(
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


class _Unpicklable(Exception):  # noqa: N818 - it says what it means
    """Not among those for which torch logs a traceback."""


def _pack(graph: Any, inputs: Sequence[Any], options: Mapping[str, Any], records: bool) -> Packed:
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
            _light_context(),
            _any_operator(),
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
def _light_context() -> Iterator[None]:
    """In the block the tracing context holds no parameters: their values would be packed too."""
    current = torch._guards.TracingContext.try_get()
    light = copy.copy(current)
    if light is not None:
        light.params_flat = light.params_flat_unwrap_subclasses = None
        light.output_strides = None
    with torch._guards.tracing(light):
        yield


@contextlib.contextmanager
def _any_operator() -> Iterator[None]:
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
    """What generated code depends on beside Inductor's settings."""
    return {
        "threads": torch.get_num_threads(),
        "dtype": torch.get_default_dtype(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "warn_only": torch.is_deterministic_algorithms_warn_only_enabled(),
        "precision": torch.get_float32_matmul_precision(),
        "mkldnn": torch.backends.mkldnn.enabled,
        "reduced": torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction,
        "reduced_bf16": torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction,
    }


def _enter(state: Mapping[str, Any]) -> None:
    torch.set_num_threads(state["threads"])
    torch.set_default_dtype(state["dtype"])
    torch.use_deterministic_algorithms(state["deterministic"], warn_only=state["warn_only"])
    torch.set_float32_matmul_precision(state["precision"])
    torch.backends.mkldnn.enabled = state["mkldnn"]
    matmul = torch.backends.cuda.matmul
    matmul.allow_fp16_reduced_precision_reduction = state["reduced"]
    matmul.allow_bf16_reduced_precision_reduction = state["reduced_bf16"]


def build(packed: bytes) -> bytes:
    """In the other process: compiles a graph under the C++ wrapper; gives what `load` takes.

    Raises
    ------
    Exception
        Whatever torch raises.
    """
    from torch._inductor.compile_fx import _InProcessFxCompile
    from torch._inductor.compile_fx_ext import _WireProtocolPickledInput
    from torch._inductor.compile_fx_subproc import _SubprocessFxCompile
    from torch._inductor.cpu_vec_isa import valid_vec_isa_list

    job = pickle.loads(packed)
    _enter(job["process"])
    built: list[bytes] = []
    modules: list[Module] = []

    def keep(original: Any, self: Any, graph: Any, inputs: Any, *rest: Any) -> Any:
        compiled = original(self, graph, inputs, *rest)
        compiled.guards_expr = _guards(inputs)
        # As torch's own cache keeps it: this loads with little else of Inductor.
        copied = copy.copy(compiled)
        copied.prepare_for_serialization()
        built.append(pickle.dumps(copied))
        modules.append(_compiled_module(copied))
        return compiled

    with patched(_InProcessFxCompile, "codegen_and_compile", keep), _any_operator():
        _SubprocessFxCompile._run_in_child(_WireProtocolPickledInput(job["graph"]))
    return pickle.dumps(
        {
            "graph": built[-1],
            "settings": job["settings"],
            "module": tuple(modules[-1]),
            # With what torch notes in them when it tries them.
            "vector_instructions": valid_vec_isa_list(),
        }
    )


def _compiled_module(compiled: Any) -> Module:
    """The module of a graph as torch will compile it.

    Most of it is one long text in C++. Python holds its lock while it compiles that: calls of the
    user's would wait for tens of milliseconds.
    """
    from torch._inductor.codecache import get_path

    source, path = compiled.source_code, get_path(compiled.cache_key, "py")[2]
    code = compile(source, path, "exec", dont_inherit=True)
    return Module(source, path, marshal.dumps(code), importlib.util.MAGIC_NUMBER)


def _as_compiled_in_the_build(original: Any, source: Any, path: Any, *args: Any, **kw: Any) -> Any:
    module = _module.get()
    is_same = (
        module is not None
        and (module.source, module.path) == (source, path)
        and module.python == importlib.util.MAGIC_NUMBER
    )
    if module is None or not is_same:
        return original(source, path, *args, **kw)
    return marshal.loads(module.code)


def _guards(inputs: Sequence[Any]) -> str:
    """The guards on the graph's sizes, as torch's cache writes them."""
    from torch._inductor.codecache import FxGraphCache

    shapes: Any = FxGraphCache._get_shape_env()
    symbols = FxGraphCache._filter_backed_symints(inputs)
    if shapes is None or not symbols:
        return ""
    guards = shapes.get_pruned_guards(symbols)
    return shapes.produce_guards_expression(placeholders=symbols, guards=guards) or ""


class WouldBuildError(Exception):
    """A library that the other process built is gone."""


class UnlikeError(Exception):
    """The two wrappers cannot stand for each other; the text says why."""


def prepare_load(compiled: Any) -> None:
    """Does what `load` would have torch do first, in a call that takes seconds anyway.

    For a GPU torch imports setuptools, among others, and asks the C++ compiler for its version.
    Both hold Python's lock: calls beside them would take some ten times as long.
    """
    if "cuda" not in compiled.device_types:
        return
    from torch._inductor import cpp_builder

    importlib.import_module("torch.utils.cpp_extension")
    # Without a compiler nothing is built, and the build says so.
    with contextlib.suppress(Exception):
        cpp_builder.get_cpp_compiler()


def load(built: bytes, first: Any, *, records: str = "") -> Loaded:
    """The wrapper that `build` gave, loaded; ``first`` is the graph that it may stand in for.

    Nothing is compiled: that would hold up this process.

    Parameters
    ----------
    built, first
        What `build` gave, and the graph.
    records
        torch's compile id, if CUDA graphs of it are to be recorded; they are not if it is empty.

    Raises
    ------
    WouldBuildError
        A library is no longer there.
    UnlikeError
        It takes other sizes, or gives outputs of another layout.
    Exception
        Whatever torch raises.
    """
    from torch._dynamo.convert_frame import compile_lock
    from torch._inductor import codecache, config, cpu_vec_isa
    from torch._inductor.cpp_builder import CppBuilder
    from torch._inductor.output_code import CompiledFxGraphConstants
    from torch._inductor.runtime import compile_tasks
    from torch._inductor.utils import BoxedBool

    result = pickle.loads(built)
    settings: Any = config
    vars(compile_tasks).setdefault("compile", builtins.compile)
    constants = CompiledFxGraphConstants()
    token = _loading.set(True)
    instructions = _vector_instructions.set(result.get("vector_instructions"))
    module = _module.set(Module(*result["module"]))
    try:
        # Settings are the whole process's in some versions: nothing compiles meanwhile.
        with (
            compile_lock,
            torch._guards.tracing(None),
            settings.patch(_other(settings, result["settings"])),
            patched(compile_tasks, "compile", _as_compiled_in_the_build),
            patched(codecache, _HEADER, _without_header),
            patched(cpu_vec_isa, "valid_vec_isa_list", _as_in_the_build),
            patched(CppBuilder, "build", _refuse),
        ):
            second: Any = pickle.loads(result["graph"])
            second.after_deserialization(constants)
            _compare(first, second)
            is_backward = bool((first.fx_kwargs or {}).get("is_backward"))
            options: Any = {"cudagraphs": BoxedBool(False), "is_backward": is_backward}
            second.post_compile((), constants, options)
            if "cuda" in second.device_types:
                second.current_callable = _in_any_thread(second.current_callable)
            if records:
                return with_recordings(second, constants, records)
    finally:
        _module.reset(module)
        _vector_instructions.reset(instructions)
        _loading.reset(token)
    return Loaded(second.current_callable)


def _other(settings: Any, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Those settings that differ now: there are many, and each takes time to set."""
    now = settings.save_config_portable()
    return {name: value for name, value in wanted.items() if name not in now or now[name] != value}


def _in_any_thread(wrapper: Inner) -> Inner:
    """The wrapper, which its first call in a thread gives the GPU's context.

    torch's C++ wrappers launch kernels by the driver, which raises "invalid device context" in a
    thread that has not used the GPU: autograd's, if a backward is its first work.
    """
    prepared = threading.local()

    def call(inputs: list[Any]) -> Any:
        if not hasattr(prepared, "is_done"):
            torch.cuda.mem_get_info()
            prepared.is_done = True
        return wrapper(inputs)

    return call


def _refuse(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    if _loading.get():
        raise WouldBuildError(str(self.get_target_file_path()))
    return original(self, *args, **kwargs)


def _without_header(original: Any, *args: Any, **kwargs: Any) -> Any:
    """Which precompiled header would do takes the C++ compiler to find out, in every process."""
    return "" if _loading.get() else original(*args, **kwargs)


def _as_in_the_build(original: Any) -> Any:
    """The vector instructions that the other process found to work, and this processor has.

    torch tries each set in a process of its own that imports torch: on a GPU, where the Python
    wrapper needs none, up to half a minute of the first call of every process.
    """
    from torch._inductor.cpu_vec_isa import x86_isa_checker

    known = _vector_instructions.get()
    if known is None or platform.machine() not in ("x86_64", "AMD64"):
        return original()
    flags = x86_isa_checker()
    return [isa for isa in known if all(flag in flags for flag in str(isa).split())]


def _compare(first: Any, second: Any) -> None:
    if _parts(first.guards_expr) != _parts(second.guards_expr):
        raise UnlikeError(
            f"its sizes are guarded by {second.guards_expr!r} instead of {first.guards_expr!r}"
        )
    if list(first.output_strides or ()) != list(second.output_strides or ()):
        raise UnlikeError("its outputs are laid out otherwise in memory")
    if set(first.mutated_input_idxs) != set(second.mutated_input_idxs):
        raise UnlikeError("it changes other inputs in place")


def _parts(guards: str | None) -> set[str]:
    return {part for part in (guards or "").split(" and ") if part not in ("", "True")}


def copied(value: Any) -> Any:
    """A tensor of its own with the same values and the same layout; anything else as it is."""
    from torch._inductor.utils import clone_preserve_strides

    return clone_preserve_strides(value) if isinstance(value, torch.Tensor) else value


def is_capturing() -> bool:
    """Whether a CUDA graph is recorded now: nothing may wait for the GPU then."""
    is_initialized: bool = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    return is_initialized and torch.cuda.is_current_stream_capturing()


def register(name: str, backend: Callable[..., Any]) -> None:
    """Makes torch know a backend by its name, where the installation does not do so already."""
    from torch._dynamo.backends import registry

    # Asking for the list of backends would load them all.
    if name not in registry._COMPILER_FNS:
        registry.register_backend(compiler_fn=backend, name=name)
