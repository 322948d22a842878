"""Loads a graph's C++ wrapper that another process built, without compiling.

Relies on ``CompiledFxGraph`` (post_compile, current_callable, guards_expr, output_strides,
mutated_input_idxs, fx_kwargs, after_deserialization), ``codecache.CppCodeCache.load_async`` and
``convert_frame.compile_lock``.
"""

from __future__ import annotations

import functools
import io
import pickle
import sys
import threading
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import torch

from ...dynamo.wrapper_type import Inner
from ...process.patching import patched
from ..background.short_steps import pause_if_due
from ..graph_recording import Loaded, with_recordings
from .library import Library
from .requirements import LIBRARY_LOADER
from .size_guards import conditions_of
from .wrapper_modules import Module, as_compiled_in_the_build

_loading: ContextVar[bool] = ContextVar("compilescope_tiers_loading", default=False)
_library: ContextVar[Callable[[], Any] | None] = ContextVar(
    "compilescope_tiers_library", default=None
)
"""Loads what was built of a graph, while the graph is loaded."""


class WrappersDifferError(Exception):
    """The two wrappers are not interchangeable; the text says why."""


def after_fork() -> None:
    """In a child process: the thread that loaded, and held torch's compile lock, is not here."""
    convert_frame = sys.modules.get("torch._dynamo.convert_frame")
    # The thread that forked may be compiling: it continues here, and releases the lock.
    if convert_frame is not None and not convert_frame.compile_lock._is_owned():
        convert_frame.compile_lock._at_fork_reinit()


def load(built: bytes, first: Any, folder: Path, *, records: str = "") -> Loaded:
    """The wrapper that `build` gave, loaded; ``first`` is the graph that it may stand in for.

    Nothing is compiled: that would hold up this process.

    Parameters
    ----------
    built, first
        What `build` gave, and the graph.
    folder
        torch's cache folder when the graph was compiled, where its library is.
    records
        torch's compile id, if CUDA graphs of it are to be recorded; they are not if it is empty.

    Raises
    ------
    WouldBuildError
        The library is no longer there, or was built for another processor.
    WrappersDifferError
        It takes other sizes, or gives outputs of another layout.
    Exception
        Whatever torch raises.
    """
    from torch._dynamo.convert_frame import compile_lock
    from torch._inductor import codecache, config

    file = io.BytesIO(built)
    details = _Unpickler(file).load()
    settings: Any = config
    token = _loading.set(True)
    library = _library.set(functools.partial(Library(*details["library"]).load, folder))
    try:
        # Settings are the whole process's in some versions: nothing compiles meanwhile.
        with compile_lock, torch._guards.tracing(None):
            differing = _differing_settings(settings, details["settings"])
            with (
                settings.patch(differing),
                as_compiled_in_the_build(Module(*details["module"])),
                patched(codecache.CppCodeCache, LIBRARY_LOADER, _load_library),
            ):
                return _loaded(file, first, records)
    finally:
        _library.reset(library)
        _loading.reset(token)


class _Unpickler(pickle.Unpickler):
    """Reads a pickle in short steps."""

    def find_class(self, module: str, name: str) -> Any:
        pause_if_due()
        return super().find_class(module, name)


def _loaded(file: io.BytesIO, first: Any, records: str) -> Loaded:
    """The wrapper of the graph that is next in a file, as `load` gives it."""
    from torch._inductor.output_code import CompiledFxGraphConstants
    from torch._inductor.utils import BoxedBool

    constants = CompiledFxGraphConstants()
    second: Any = _Unpickler(file).load()
    pause_if_due()
    second.after_deserialization(constants)
    pause_if_due()
    _compare(first, second)
    is_backward = bool((first.fx_kwargs or {}).get("is_backward"))
    options: Any = {"cudagraphs": BoxedBool(False), "is_backward": is_backward}
    second.post_compile((), constants, options)
    pause_if_due()
    if "cuda" in second.device_types:
        second.current_callable = _in_any_thread(second.current_callable)
    if records:
        return with_recordings(second, constants, records)
    return Loaded(second.current_callable)


def _load_library(original: Any, *args: Any, **kwargs: Any) -> Any:
    """Returns the built library, without asking how torch would build it.

    torch writes the compiler's command line to find the library, for which it looks through the
    installation, starts the compiler, and tries each set of vector instructions in a process of its
    own that imports torch.
    """
    load_built = _library.get()
    if load_built is None:
        return original(*args, **kwargs)
    pause_if_due()
    return load_built


def is_loading() -> bool:
    """Whether `load` runs here now."""
    return _loading.get()


def _differing_settings(settings: Any, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Those settings that differ now: there are many, and each takes time to set."""
    differing = {}
    for name, value in wanted.items():
        pause_if_due()
        if getattr(settings, name) != value:
            differing[name] = value
    return differing


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


def _compare(first: Any, second: Any) -> None:
    if conditions_of(first.guards_expr) != conditions_of(second.guards_expr):
        raise WrappersDifferError(
            f"its sizes are guarded by {second.guards_expr!r} instead of {first.guards_expr!r}"
        )
    if list(first.output_strides or ()) != list(second.output_strides or ()):
        raise WrappersDifferError("its outputs are laid out otherwise in memory")
    if set(first.mutated_input_idxs) != set(second.mutated_input_idxs):
        raise WrappersDifferError("it changes other inputs in place")
