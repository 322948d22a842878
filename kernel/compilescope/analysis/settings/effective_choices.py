"""Requested and effective autotuning, freezing and fusions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ...report import Compilation, Effective
from ...report.variant import Variant
from ..wrapper.crossings import device_of

_TUNED = ("mm", "addmm", "bmm", "baddbmm", "convolution", "_linear", "linear_pointwise")
_REDUCTIONS = ("sum", "mean", "var", "amax", "amin", "prod", "norm", "softmax")
_CONSTANT = (
    "On a CPU, torch's templates compete only for batched products and for products with a "
    "constant matrix, and parameters are constants only when they are frozen."
)
_NO_PARAMETERS = "The graphs have no parameters or buffers that could be frozen."
_PARAMETERS = ("_parameters_", "_buffers_")
"""Parts of the names that Dynamo gives to the inputs that freezing makes constants."""
_LAUNCHER = "use_static_cuda_launcher"
_FREEZE = (
    "Set torch._inductor.config.freezing = True, and make the call in a block "
    "`with torch.no_grad():`."
)
_FREEZE_CODE = """\
torch._inductor.config.freezing = True
with torch.no_grad():
    compiled(x)"""
_NOT_FROZEN = (
    "Parameters are frozen for inference with gradients off, and where Dynamo knows of it: by the "
    "global setting, not by options."
)


def autotuning(
    compilations: Sequence[Compilation],
    settings: Mapping[str, Any],
    complaints: Sequence[str],
    *,
    built: bool,
) -> Iterator[Effective]:
    """Whether torch measured its choices, if max_autotune requests it."""
    if not (settings.get("max_autotune") or settings.get("max_autotune_gemm")):
        return
    autotunings = [result for compilation in compilations for result in compilation.autotunings]
    measured = [result for result in autotunings if not result.skipped and len(result.choices) > 1]
    skipped = [result for result in autotunings if result.skipped]
    operators = list(dict.fromkeys(result.operator for result in skipped))
    if not operators:
        operators = [] if measured else tunable_products(compilations)
    if not measured and not skipped and not built:
        return
    why = remedy = code = ""
    differs = bool(operators)
    if operators:
        why = skipped[0].skipped if skipped else _complaint(complaints)
        cpu = all(device_of(compilation) == "cpu" for compilation in compilations)
        if not why and cpu:
            why = _CONSTANT
        if cpu and not _has_parameters(compilations):
            why, differs = f"{why} {_NO_PARAMETERS}", False
        elif cpu and not settings.get("freezing"):
            remedy, code = _FREEZE, _FREEZE_CODE
        why = why or "torch had only one implementation."
    actual = f"{len(measured)} measured" if measured else "nothing measured"
    if not differs and not measured:
        actual = "nothing to choose from"
    yield Effective(
        setting="autotuning",
        requested="on",
        actual=actual,
        differs=differs,
        why=why,
        remedy=remedy,
        code=code,
        operators=operators,
    )


def launcher(
    variant: Variant, compilations: Sequence[Compilation], settings: Mapping[str, Any]
) -> Iterator[Effective]:
    """The launcher of Triton's kernels: torch's static launcher, or Triton's own."""
    kernels = [kernel for compilation in compilations for kernel in compilation.kernels]
    if _LAUNCHER not in settings or not any(kernel.language == "triton" for kernel in kernels):
        return
    requested = "on" if settings[_LAUNCHER] else "off"
    if variant.cpp_wrapper:
        actual = "not needed"
        why = "The C++ wrapper launches kernels itself, with the driver's own call."
    else:
        actual = "allowed" if settings[_LAUNCHER] else "off"
        why = "Kernels that it does not support use Triton's launcher; torch does not report which."
    yield Effective(
        setting="static launcher",
        requested=requested,
        actual=actual,
        why=why if settings[_LAUNCHER] or variant.cpp_wrapper else "",
        remedy="" if settings[_LAUNCHER] else f'options={{"{_LAUNCHER}": True}}',
    )


def freezing(
    compilations: Sequence[Compilation], settings: Mapping[str, Any], *, built: bool
) -> Iterator[Effective]:
    """Whether parameters became constants, if freezing was requested."""
    if not settings.get("freezing"):
        return
    texts = [compilation.code.python or compilation.code.cpp or "" for compilation in compilations]
    frozen = any("_frozen_param" in text for text in texts)
    if not frozen and not built:
        return
    if not frozen and not _has_parameters(compilations):
        yield Effective(
            setting="freezing", requested="on", actual="nothing to freeze", why=_NO_PARAMETERS
        )
        return
    yield Effective(
        setting="freezing",
        requested="on",
        actual="on" if frozen else "off",
        differs=not frozen,
        why="" if frozen else _NOT_FROZEN,
        remedy="" if frozen else _FREEZE,
        code="" if frozen else _FREEZE_CODE,
    )


def fusions(
    variant: Variant, compilations: Sequence[Compilation], without: Sequence[str]
) -> Iterator[Effective]:
    """The fusions that a C++ wrapper cannot have, if they apply to the graphs."""
    if not variant.cpp_wrapper or all(
        device_of(compilation) == "cpu" for compilation in compilations
    ):
        return
    operators = set(_operators(compilations))
    work = {
        "mix-order reduction": _reductions(compilations) > 1,
        "nested reduction": _reductions(compilations) > 1,
        "bias_addmm": "addmm" in operators,
        "decompose_k": "mm" in operators,
        "auto-chunker": True,
    }
    off = [name for name in without if work.get(name, True)]
    if off:
        yield Effective(
            setting="fusions",
            requested=", ".join(off),
            actual="off",
            differs=True,
            why="torch applies these for the Python wrapper only.",
            remedy="Compare with the Python wrapper.",
            trial=msgspec.structs.replace(variant, cpp_wrapper=False),
            operators=off,
        )


def _complaint(complaints: Sequence[str]) -> str:
    return next(
        (
            complaint
            for complaint in complaints
            if "max_autotune" in complaint or "SMs" in complaint
        ),
        "",
    )


def tunable_products(compilations: Sequence[Compilation]) -> list[str]:
    """Names of the matrix products and convolutions that torch can autotune, each once."""
    tunable = [name for name in _operators(compilations) if name.endswith(_TUNED)]
    return list(dict.fromkeys(tunable))


def _has_parameters(compilations: Sequence[Compilation]) -> bool:
    """Whether a graph has parameters, buffers or other attributes of modules, as far as known."""
    graphs = [compilation.graphs.get("dynamo") for compilation in compilations]
    return None in graphs or any(
        node.op == "get_attr"
        or (node.op == "placeholder" and any(part in node.target for part in _PARAMETERS))
        for graph in graphs
        if graph is not None
        for node in graph.nodes
    )


def _operators(compilations: Sequence[Compilation]) -> Iterator[str]:
    """The names of the operators in the last graphs before code generation: ``addmm``."""
    for compilation in compilations:
        for stage in ("post_grad", "backward_post_grad"):
            graph = compilation.graphs.get(stage)
            for node in graph.nodes if graph else ():
                parts = node.target.split(".")
                named = len(parts) > 3 and parts[:2] == ["torch", "ops"]
                if node.op == "call_function":
                    yield parts[3] if named else parts[-2] if len(parts) > 1 else parts[0]


def _reductions(compilations: Sequence[Compilation]) -> int:
    return sum(name.startswith(_REDUCTIONS) for name in _operators(compilations))
