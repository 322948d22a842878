"""Loads a graph's C++ wrapper that another process built, without compiling.

Relies on ``CompiledFxGraph`` (post_compile, current_callable, guards_expr, output_strides,
mutated_input_idxs, fx_kwargs, after_deserialization), ``CppBuilder.build``, ``codecache``
(_precompile_header, CppPythonBindingsCodeCache._load_library_inner),
``cpp_builder.get_cpp_compiler``, ``cpu_vec_isa`` (valid_vec_isa_list, x86_isa_checker) and
``convert_frame.compile_lock``.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import io
import os
import pickle
import platform
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import torch

from ...dynamo.wrapper_type import Inner
from ...process.patching import patched
from ..graph_recording import Loaded, with_recordings
from .requirements import HEADER_PRECOMPILER, LIBRARY_LOADER
from .size_guards import conditions_of
from .wrapper_modules import Module, as_compiled_in_the_build

_loading: ContextVar[bool] = ContextVar("compilescope_tiers_loading", default=False)
_vector_instructions: ContextVar[Sequence[Any] | None] = ContextVar(
    "compilescope_tiers_vector_instructions", default=None
)
"""What the process that built a graph found to work, while the graph is loaded."""
_pauses: ContextVar[bool] = ContextVar("compilescope_tiers_pauses", default=False)
_PAUSE_S = 0.005
"""Longer than many calls, so that each is delayed by one step of a load at most."""


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


def after_fork() -> None:
    """In a child process: the thread that loaded, and held torch's compile lock, is not here."""
    convert_frame = sys.modules.get("torch._dynamo.convert_frame")
    # The thread that forked may be compiling: it goes on here, and releases the lock.
    if convert_frame is not None and not convert_frame.compile_lock._is_owned():
        convert_frame.compile_lock._at_fork_reinit()


def load(built: bytes, first: Any, *, records: str = "", gives_way: bool = False) -> Loaded:
    """The wrapper that `build` gave, loaded; ``first`` is the graph that it may stand in for.

    Nothing is compiled: that would hold up this process.

    Parameters
    ----------
    built, first
        What `build` gave, and the graph.
    records
        torch's compile id, if CUDA graphs of it are to be recorded; they are not if it is empty.
    gives_way
        Whether to pause between steps: a call releases the GIL at each launch, and would get it
        back only after much of the load.

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
    from torch._inductor.utils import BoxedBool

    file = io.BytesIO(built)
    details = pickle.load(file)
    settings: Any = config
    constants = CompiledFxGraphConstants()
    token = _loading.set(True)
    pauses = _pauses.set(gives_way)
    instructions = _vector_instructions.set(details.get("vector_instructions"))
    try:
        # Settings are the whole process's in some versions: nothing compiles meanwhile.
        with (
            compile_lock,
            torch._guards.tracing(None),
            settings.patch(_other(settings, details["settings"])),
            as_compiled_in_the_build(Module(*details["module"])),
            patched(codecache, HEADER_PRECOMPILER, _without_header),
            patched(cpu_vec_isa, "valid_vec_isa_list", _as_in_the_build),
            patched(CppBuilder, "build", _refuse),
            patched(codecache.CppPythonBindingsCodeCache, LIBRARY_LOADER, _load_library),
        ):
            _pause()
            second: Any = pickle.load(file)
            _pause()
            second.after_deserialization(constants)
            _pause()
            _compare(first, second)
            is_backward = bool((first.fx_kwargs or {}).get("is_backward"))
            options: Any = {"cudagraphs": BoxedBool(False), "is_backward": is_backward}
            second.post_compile((), constants, options)
            if "cuda" in second.device_types:
                second.current_callable = _in_any_thread(second.current_callable)
            if records:
                return with_recordings(second, constants, records)
    finally:
        _vector_instructions.reset(instructions)
        _pauses.reset(pauses)
        _loading.reset(token)
    return Loaded(second.current_callable)


def _pause() -> None:
    """Leaves the GIL to the calls of other threads."""
    if _pauses.get():
        time.sleep(_PAUSE_S)


def _load_library(original: Any, path: str, key: str) -> Any:
    """Loads a library without the GIL: the import, which keeps it, then only looks it up."""
    _pause()
    if _loading.get() and sys.platform != "win32":
        open_library = ctypes.CDLL(None).dlopen
        open_library.restype, open_library.argtypes = (
            ctypes.c_void_p,
            [ctypes.c_char_p, ctypes.c_int],
        )
        # If that fails, the import says why.
        open_library(os.fsencode(path), sys.getdlopenflags())
    return original(path, key)


def is_loading() -> bool:
    """Whether `load` runs here now."""
    return _loading.get()


def _other(settings: Any, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Those settings that differ now: there are many, and each takes time to set."""
    return {name: value for name, value in wanted.items() if getattr(settings, name) != value}


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
    _pause()
    return "" if _loading.get() else original(*args, **kwargs)


def _as_in_the_build(original: Any) -> Any:
    """The vector instructions that the other process found to work, and this processor has.

    torch tries each set in a process of its own that imports torch: on a GPU, where the Python
    wrapper needs none, up to half a minute of the first call of every process.
    """
    from torch._inductor.cpu_vec_isa import x86_isa_checker

    _pause()
    known = _vector_instructions.get()
    if known is None or platform.machine() not in ("x86_64", "AMD64"):
        return original()
    flags = x86_isa_checker()
    return [isa for isa in known if all(flag in flags for flag in str(isa).split())]


def _compare(first: Any, second: Any) -> None:
    if conditions_of(first.guards_expr) != conditions_of(second.guards_expr):
        raise UnlikeError(
            f"its sizes are guarded by {second.guards_expr!r} instead of {first.guards_expr!r}"
        )
    if list(first.output_strides or ()) != list(second.output_strides or ()):
        raise UnlikeError("its outputs are laid out otherwise in memory")
    if set(first.mutated_input_idxs) != set(second.mutated_input_idxs):
        raise UnlikeError("it changes other inputs in place")
