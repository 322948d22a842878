"""Inductor's current settings, and the warnings that it logs.

Relies on ``torch._inductor.config`` and on the source of the functions in `_FUSIONS`: whether they
check ``cpp_wrapper`` differs between 2.11 and 2.15, and is read from the source. The warnings are
those that torch logs under ``torch._inductor``.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import logging
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import torch._inductor

NAMES = (
    "triton.cudagraphs",
    "graph_partition",
    "max_autotune",
    "max_autotune_gemm",
    "max_autotune_pointwise",
    "freezing",
    "use_static_cuda_launcher",
    "cpp.simdlen",
)
"""The settings that a report compares with their effective values.

torch 2.13 has ``use_static_triton_launcher`` as another name of ``use_static_cuda_launcher``.
"""

_FUSIONS = {
    "mix-order reduction": (
        "triton.mix_order_reduction",
        "torch._inductor.scheduler",
        "MixOrderReduction",
    ),
    "nested reduction": (
        "triton.nested_reduction",
        "torch._inductor.scheduler",
        "NestedReduction",
    ),
    "bias_addmm": ("triton.autotune_cublasLt", "torch._inductor.kernel.mm", "tuned_addmm"),
    "decompose_k": (
        "max_autotune_gemm",
        "torch._inductor.utils",
        "use_decompose_k_choice",
    ),
    "auto-chunker": (
        "auto_chunker.enable",
        "torch._inductor.fx_passes.auto_chunker",
        "",
    ),
}
"""Fusion or choice → the setting that allows it, and where it is decided."""


def in_force(settings: dict[str, Any]) -> dict[str, Any]:
    """The values of `NAMES` with ``settings`` applied; those that a version lacks are left out."""
    config: Any = torch._inductor.config
    with config.patch(settings):
        return {name: _value(config, name) for name in NAMES if name in config._config}


def without_cpp_wrapper(settings: dict[str, Any]) -> list[str]:
    """The fusions that ``settings`` allow and that a C++ wrapper cannot have.

    All of them are for GPUs.
    """
    config: Any = torch._inductor.config
    with config.patch(settings):
        return [
            name
            for name, (setting, module, owner) in _FUSIONS.items()
            if setting in config._config and _value(config, setting) and _asks(module, owner)
        ]


def _value(config: Any, name: str) -> Any:
    return functools.reduce(getattr, name.split("."), config)


@functools.cache
def _asks(module: str, owner: str) -> bool:
    """Whether the deciding code checks ``cpp_wrapper``."""
    try:
        place = importlib.import_module(module)
        return "cpp_wrapper" in _source(getattr(place, owner) if owner else place)
    except (ImportError, AttributeError, OSError, TypeError):
        return False


def _source(place: Any) -> str:
    """The source of a module or a function, or of a class's methods.

    For the source of a class Python parses its whole module, which takes 50 ms and more for
    Inductor's scheduler.
    """
    if not inspect.isclass(place):
        return inspect.getsource(place)
    members = [inspect.unwrap(member) for member in vars(place).values()]
    return "".join(inspect.getsource(member) for member in members if inspect.isfunction(member))


_collected: ContextVar[list[str] | None] = ContextVar(
    "compilescope_inductor_warnings", default=None
)


@contextlib.contextmanager
def collecting_warnings(complaints: list[str]) -> Iterator[None]:
    """Appends Inductor's warnings in this context to ``complaints``; changes no log level."""
    handler = _Handler(logging.WARNING)
    logger = logging.getLogger("torch._inductor")
    token = _collected.set(complaints)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        _collected.reset(token)


class _Handler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        warnings_seen = _collected.get()
        if warnings_seen is None:
            return
        try:
            text = record.getMessage()
        except (TypeError, ValueError):  # the message's format is wrong, which is torch's error
            return
        if text not in warnings_seen:
            warnings_seen.append(text)
