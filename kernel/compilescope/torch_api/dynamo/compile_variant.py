"""``torch.compile``, called with a variant's settings.

Relies on ``torch._inductor`` (list_mode_options, list_options, config), the backends' registry, and
the attributes by which a compiled callable names its original.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

import torch
import torch._inductor as inductor
from torch._dynamo import external_utils
from torch._dynamo.backends.registry import list_backends

from ...report.references import is_reference, name_of, refer, resolve
from ...report.variant import Variant

PROVENANCE = {"trace.provenance_tracking_level": 1}
"""Makes Inductor write which post-grad nodes each kernel launch comes from. Comments only: the code
is otherwise the same."""


ISOLATES = "isolate_recompiles" in inspect.signature(torch.compile).parameters
"""Whether compiled callables of one function keep separate caches (from 2.13 on). In earlier
versions they share one cache, so each needs its own copy of the code."""


GUARD_FILTER = "guard_filter_fn"
"""The option that lets Dynamo leave out guards; valid for every backend."""

AOTI = "use_aoti"
"""The option that makes AOTInductor compile, in versions of torch that have it."""

_OWN = {GUARD_FILTER, *([AOTI] if hasattr(torch, "_TorchCompileAOTInductorWrapper") else [])}
"""Options that ``torch.compile`` consumes itself and does not pass to the backend."""


def settings_of(variant: Variant) -> dict[str, Any]:
    """The Inductor settings of a variant."""
    mode = {} if variant.mode in (None, "default") else inductor.list_mode_options(variant.mode)
    options = {name: resolve(value) for name, value in variant.options.items() if name not in _OWN}
    return {**mode, "cpp_wrapper": variant.cpp_wrapper, **options, **PROVENANCE}


def given_by(variant: Variant) -> dict[str, Any]:
    """The arguments of `compile_callable` for a variant."""
    arguments: dict[str, Any] = {
        "backend": resolve(variant.backend),
        "dynamic": variant.dynamic,
        "fullgraph": variant.fullgraph,
    }
    compile_options = {
        name: resolve(value) for name, value in variant.options.items() if name in _OWN
    }
    if variant.uses_inductor:
        arguments["settings"] = {**settings_of(variant), **compile_options}
    elif variant.options:
        arguments["settings"] = resolve(variant.options)
    else:
        arguments["mode"] = variant.mode
    return arguments


def guard_filter(variant: Variant) -> dict[str, Any]:
    """The filter of a variant's guards, as an option; empty if it has none."""
    filter_option = variant.options.get(GUARD_FILTER)
    return {} if filter_option is None else {GUARD_FILTER: resolve(filter_option)}


def compile_callable(
    function: Callable[..., Any],
    *,
    backend: Any,
    settings: dict[str, Any] | None = None,
    mode: str | None = None,
    dynamic: bool | None = None,
    fullgraph: bool = False,
) -> Callable[..., Any]:
    """Compiles a function; shares no cache entry with other ``torch.compile`` calls of it."""
    more: dict[str, Any] = {"isolate_recompiles": True} if ISOLATES else {}
    compiled = torch.compile(
        function,
        backend=backend,
        options=settings,
        mode=mode,
        dynamic=dynamic,
        fullgraph=fullgraph,
        **more,
    )
    _own_code(compiled)
    return compiled


def _own_code(compiled: Any) -> None:
    """Makes a separate code object for a compiled library module or builtin.

    Dynamo wraps all of these in the same function, ``external_utils.wrap_inline.<locals>.inner``,
    whose code object, and therefore cache, they share.
    """
    outer = getattr(compiled, "forward", compiled) if _is_module(compiled) else compiled
    original = getattr(outer, "_torchdynamo_orig_callable", None)
    if (
        isinstance(original, types.FunctionType)
        and original.__code__.co_filename == external_utils.__file__
    ):
        original.__code__ = original.__code__.replace()


def _is_module(value: Any) -> bool:
    return isinstance(value, torch.nn.Module)


def modes() -> list[str]:
    """The values that ``mode`` accepts."""
    return list(inductor.list_mode_options())


def backends() -> list[str]:
    """The values that ``backend`` accepts, including torch's debugging backends."""
    return list(list_backends(exclude_tags=None))


def usual_backends() -> list[str]:
    """The backends that are offered: all except those that test torch itself, and compilescope's.

    That one changes the code between calls: it is for a program, not for an inspection.
    """
    left_out = ("TESTING", "minifier", "compilescope")
    return [name for name in backends() if not any(part in name for part in left_out)]


def options() -> list[str]:
    """The keys that ``options`` accepts."""
    return [*inductor.list_options(), *sorted(_OWN)]


def option_type(name: str) -> Any:
    """The type that torch declares for an option; None if that cannot be checked."""
    if name in _OWN:
        return Callable if name == GUARD_FILTER else bool
    kind = _config().get_type(name)
    return kind if isinstance(kind, type) else None


def _config() -> Any:
    """Inductor's settings; torch adds its methods at run time."""
    return inductor.config


def differing_settings(settings: dict[str, Any]) -> dict[str, str]:
    """Inductor's settings that differ from torch's defaults, once ``settings`` are applied."""
    config = _config()
    with config.patch(settings):
        # Compared by value: torch's _is_default() says False for any setting that was ever
        # assigned.
        return {
            name: _value_text(value)
            for name, value in config.get_config_copy().items()
            if name not in PROVENANCE and value != config._config[name].default
        }


def _value_text(value: Any) -> str:
    """A setting's value as text; for a function its name, since its address means nothing."""
    referred = refer(value)
    return name_of(referred) if is_reference(referred) else repr(value)
