"""Reads the settings that the user passed to ``torch.compile`` from the callable that it returned.

Relies on the context that ``torch.compile`` creates: ``OptimizedModule.dynamo_ctx``, else ``self``
in the closure of the function that it returns; its ``callback`` (whose innermost backend is one of
torch's ``_TorchCompile…Wrapper``), ``_dynamic``, ``fullgraph``, ``_hooks`` and ``_shapes_spec``.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch._inductor as inductor
from torch._dynamo import eval_frame
from torch._dynamo.backends.registry import lookup_backend

from ...report.references import refer
from ...report.variant import Variant
from ..trace import compiled_callable
from . import compile_variant

_OF_AOTI = ("cpp_wrapper", "aot_inductor.package")


class CompileArguments(NamedTuple):
    """The arguments of a ``torch.compile`` call."""

    variant: Variant
    left_out: tuple[str, ...] = ()
    """Arguments of ``torch.compile`` that change the code and that no variant has."""


def written(fn: Callable[..., Any]) -> CompileArguments | None:
    """The settings that a callable is compiled with; None if it is not compiled.

    If several calls of ``torch.compile`` are nested, torch uses the outermost.
    """
    context = _context(fn)
    callback = getattr(context, "callback", None)
    if not callable(callback):
        return None
    hooks = getattr(context, "_hooks", None)
    guard_filter = getattr(hooks, "guard_filter_fn", None)
    settings = _settings_of(eval_frame.innermost_backend(callback))
    if guard_filter is not None:
        settings["options"][compile_variant.GUARD_FILTER] = guard_filter
    variant = Variant(
        backend=refer(settings["backend"]),
        mode=settings["mode"],
        cpp_wrapper=settings["cpp_wrapper"],
        dynamic=getattr(context, "_dynamic", None),
        fullgraph=bool(getattr(context, "fullgraph", False)),
        options=refer(settings["options"]),
    )
    shapes = getattr(context, "_shapes_spec", None)
    return CompileArguments(variant, ("shapes_spec",) if shapes is not None else ())


def _context(fn: Callable[..., Any]) -> Any:
    """The context that ``torch.compile`` created for a callable; None if there is none."""
    if isinstance(fn, eval_frame.OptimizedModule):
        return fn.dynamo_ctx
    if isinstance(fn, torch.nn.Module):
        inside = vars(fn).get("_compiled_call_impl")
        return None if inside is None else _context(inside)
    if isinstance(fn, types.MethodType):
        return _context(fn.__func__)
    if type(fn) is functools.partial:
        return _context(fn.func)
    inner = compiled_callable.original(fn)
    if inner is fn or not isinstance(fn, types.FunctionType):
        return None
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    if "self" in cells:
        return cells["self"].cell_contents
    return _context(inner)


def _settings_of(backend: Any) -> dict[str, Any]:
    """The backend, mode and options, from the object in which torch keeps them."""
    if isinstance(backend, torch._TorchCompileInductorWrapper):
        return _given_to_inductor(backend)
    if isinstance(backend, torch._TorchCompileWrapper):
        name, function, backend_settings = (
            backend.compiler_name,
            backend.compiler_fn,
            backend.kwargs,
        )
    else:
        name, function, backend_settings = getattr(backend, "__name__", ""), backend, {}
    named = name in compile_variant.backends() and lookup_backend(name) is function
    return {
        "backend": name if named else function,
        "mode": backend_settings.get("mode"),
        "cpp_wrapper": named and name == "inductor" and _cpp_wrapper({}),
        "options": dict(backend_settings.get("options") or {}),
    }


def _given_to_inductor(backend: Any) -> dict[str, Any]:
    options = dict(backend.config)
    is_aoti = type(backend).__name__ == "_TorchCompileAOTInductorWrapper"
    if is_aoti:
        # torch adds these two itself.
        options = {name: value for name, value in options.items() if name not in _OF_AOTI}
    # torch accepts a mode or options, and stores a mode as its options.
    alike = (
        mode
        for mode in compile_variant.modes()
        if options and inductor.list_mode_options(mode, backend.dynamic) == options
    )
    mode = next(alike, None)
    cpp_wrapper = _cpp_wrapper(options)
    options = {} if mode is not None else options
    options.pop("cpp_wrapper", None)
    if is_aoti:
        options[compile_variant.AOTI] = True
    return {
        "backend": "inductor",
        "mode": mode,
        "cpp_wrapper": cpp_wrapper,
        "options": options,
    }


def _cpp_wrapper(options: dict[str, Any]) -> bool:
    """Whether Inductor writes a C++ wrapper, by the options, otherwise by its current settings."""
    config: Any = inductor.config
    return bool(options.get("cpp_wrapper", config.cpp_wrapper))
