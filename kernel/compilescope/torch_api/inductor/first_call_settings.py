"""The settings that change the cost of a first call, as far as the installed torch has them.

Relies on ``torch._inductor.config`` and ``torch._functorch.config``, and on
``codecache.CppCodeCache.load_async``: 2.11 builds the C++ wrapper at ``-O3`` unless it is built
separately from the kernels; 2.13 always builds it at ``-O1`` on a GPU. And on
``compile_fx.get_cpp_wrapper_config``, which says whether the C++ wrapper's kernels are tuned while
the graph is compiled: as a rule in 2.11, and not in 2.13.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any

from torch._inductor.compile_fx import get_cpp_wrapper_config

from ...report.variant import Variant

INDUCTOR = "torch._inductor.config"
_FUNCTORCH = "torch._functorch.config"
_TUNED = "triton.autotune_at_compile_time"

Settings = dict[str, dict[str, Any]]
"""Config module → setting → value."""


@dataclass(frozen=True)
class Switch:
    """A change of torch's settings whose first call is measured."""

    settings: Settings
    title: str
    """What it does, in words."""
    why: str = ""
    """Why it changes nothing here; empty if it may change something."""
    variables: dict[str, str] = field(default_factory=dict)
    """Environment variables from which torch reads the setting before code can set it."""

    @property
    def names(self) -> str:
        """The names of the settings in torch."""
        return ", ".join(name for values in self.settings.values() for name in values)

    @property
    def values(self) -> str:
        """The values that the settings get."""
        return ", ".join(
            str(value) for values in self.settings.values() for value in values.values()
        )

    @property
    def code(self) -> str:
        """Code to paste that sets them."""
        return "\n".join(
            f"{module}.{name} = {value!r}"
            for module, values in self.settings.items()
            for name, value in values.items()
        )


def switches(variant: Variant, device: str) -> list[Switch]:
    """The switches for a variant on a device, each changing a setting from its current value.

    Parameters
    ----------
    device
        The subject's device: ``cpu``, ``cuda:0``.
    """
    on_cpu = device.startswith("cpu")
    python = "" if variant.cpp_wrapper else "It is of the C++ wrapper; this is the Python wrapper."
    no_gpu = "It is of Triton's kernels on a GPU." if on_cpu else ""
    no_cpp = "" if on_cpu or variant.cpp_wrapper else "Nothing is built from C++ here."
    all_switches = [
        _inductor(
            "cpp_cache_precompile_headers",
            not _now(variant, "cpp_cache_precompile_headers"),
            "torch's C++ headers are precompiled once per machine; every process preprocesses them "
            "to check that the result is up to date",
            no_cpp,
        ),
        _inductor(
            "cpp_wrapper_build_separate",
            not _now(variant, "cpp_wrapper_build_separate"),
            "the C++ wrapper in a separate file, at -O1, and the kernels at -O3",
            python,
        ),
        Switch(
            {
                INDUCTOR: {
                    "cpp_wrapper_build_separate": True,
                    "aot_inductor.compile_wrapper_opt_level": "O0",
                }
            },
            "the wrapper's file, built apart, without optimization instead of -O1",
            python,
        ),
        _inductor(
            "cpp.vec_isa_ok",
            True,
            "trusts the vector instructions that the processor reports, instead of building and "
            "loading a test library for each set in every process",
            no_cpp,
        ),
        _inductor(
            _TUNED,
            not _tuned(variant),
            "Triton kernels are compiled and tuned while the graph is, instead of at the first run",
            no_gpu or python,
        ),
        _inductor(
            "use_static_cuda_launcher",
            not _now(variant, "use_static_cuda_launcher"),
            "kernels are launched by torch's own code, instead of by what Triton builds for each",
            no_gpu,
        ),
        _inductor(
            "bundle_triton_into_fx_graph_cache",
            not _now(variant, "bundle_triton_into_fx_graph_cache"),
            "compiled Triton kernels are kept in the graph's cache entry",
            no_gpu,
        ),
        _inductor(
            "fx_graph_cache",
            not _now(variant, "fx_graph_cache"),
            "Inductor's result for a graph is kept on disk",
        ),
        Switch(
            {
                _FUNCTORCH: {
                    "enable_autograd_cache": not _settings(_FUNCTORCH)["enable_autograd_cache"]
                }
            },
            "AOTAutograd's result for a graph is kept on disk",
        ),
        _threads(variant),
    ]
    return [switch for switch in all_switches if _exists(switch)]


def _tuned(variant: Variant) -> bool:
    """Whether kernels are tuned while the graph is compiled; None means torch decides."""
    now = _now(variant, _TUNED)
    if now is None and variant.cpp_wrapper:
        config: Any = importlib.import_module(INDUCTOR)
        # With CUDA graphs torch would count a skipped one.
        with config.patch({"triton.cudagraphs": False}):
            now = get_cpp_wrapper_config()[_TUNED]
    return bool(now)


def _threads(variant: Variant) -> Switch:
    now = _now(variant, "compile_threads")
    more = _inductor("compile_threads", 1, "kernels are built one after the other")
    why = "It is 1 already." if now == 1 else ""
    return Switch(more.settings, more.title, why, {"TORCHINDUCTOR_COMPILE_THREADS": "1"})


def _inductor(name: str, value: Any, title: str, why: str = "") -> Switch:
    return Switch({INDUCTOR: {name: value}}, title, why)


def _now(variant: Variant, name: str) -> Any:
    """The value of a setting in the variant, otherwise in this process."""
    return variant.options.get(name, _settings(INDUCTOR).get(name))


def _exists(switch: Switch) -> bool:
    return all(
        name in _settings(module) for module, values in switch.settings.items() for name in values
    )


def _settings(module: str) -> dict[str, Any]:
    config: Any = importlib.import_module(module)
    settings: dict[str, Any] = config.get_config_copy()
    return settings
