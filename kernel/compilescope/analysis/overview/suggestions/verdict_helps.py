"""What usually helps against a variant's limit, as code, with the gain if it was measured."""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ....report import Graph, Help, Report, VariantReport
from ....report.break_advice import BEFORE
from ....report.measurements.timings import Bound
from ....report.variant import CUDA_GRAPH_MODES, Variant
from ...figures.speedups import between
from ...graphs.repeated_blocks import written_path
from ...settings.effective_choices import tunable_products
from ...settings.variant_code import code_of
from ..cpp_wrapper_gain import is_too_small
from ..time_breakdown import parts_of_call
from .lower_precision import faster_products, faster_than, is_native

_LARGE = 0.2
"""The share of a call from which on a layer is mentioned."""

CPP = (
    "C++ wrapper",
    "Allocates buffers and launches kernels from compiled code instead of Python.",
)
GRAPHS = (
    "CUDA graphs",
    "One launch replays all kernels; sizes must not change; inputs are copied to fixed addresses.",
)
BATCH = ("Larger batch", "The overhead of a call is the same for a larger batch.")
FEWER = ("Fewer, larger kernels", "Combines independent small kernels into one launch.")
GUARDS = (
    "Fewer guards",
    "Skips guards on built-in modules; safe only if those never change.",
)
BREAKS = ("No graph breaks", "With fullgraph=True, a graph break is an error that names its line.")
FUSION = ("More fusion", "Values used within one kernel are not written to memory and read back.")
PRECISION = ("Lower precision", "Moves half as many bytes; results are less precise.")
TF32 = ("TF32 products", "Matrix units compute float32 products with inputs rounded to TF32.")
OTHER_FLOATS = "Compute in {0} instead of {1}"
TUNED = ("Max-autotune", "torch tries several kernels for each matrix product, and keeps the best.")


def helps_for(bound: Bound, variant: VariantReport, report: Report, device: str) -> list[Help]:
    """What usually helps, most useful first; each once.

    Parameters
    ----------
    device
        The kind of device that the kernels run on: ``cpu``, ``cuda``.
    """
    requested = variant.requested
    on_gpu = not device.startswith("cpu")
    helps: list[Help | None] = []

    def change(help_: tuple[str, str], **changes: Any) -> None:
        helps.append(_change(help_, variant, report, changes))

    if bound == "cpu":
        cpp = _change(CPP, variant, report, {"cpp_wrapper": True})
        # The overview says that it cannot help, unless it was tried.
        if cpp is not None and (cpp.variant or not is_too_small(variant)):
            helps.append(cpp)
        if on_gpu:
            change(GRAPHS, mode="reduce-overhead")
            change(FEWER, options={**requested.options, "combo_kernels": True})
        filtered = "guard_filter_fn" in requested.options
        if _share(variant, "guards") >= _LARGE and not filtered and _guards_modules(variant):
            change(GUARDS, options={**requested.options, **UNGUARDED})
        if _share(variant, "eager") >= _LARGE and any(
            compilation.breaks for compilation in variant.compilations
        ):
            change(BREAKS, fullgraph=True)
        code = _larger_batch(report)
        helps.append(_help(BATCH, code, "where the samples of a call are put together"))
    if bound == "memory":
        change(FUSION, options={**requested.options, "aggressive_fusion": True})
        if not _short(variant) and is_native(variant, report, device):
            helps.append(_help(PRECISION, _autocast(device, report), AROUND))
    if bound == "compute":
        if on_gpu and _float32(variant):
            helps.append(_help(TF32, TF32_CODE, BEFORE))
        faster = faster_products(variant, report, device)
        if faster and not _short(variant):
            helps.append(_help((PRECISION[0], faster), _autocast(device, report), AROUND))
    if bound != "cpu" and (other := _other_floats(variant, report, device)) is not None:
        helps.insert(0, other)
    if bound in ("compute", "unclear") and _has_choices(variant, on_gpu=on_gpu):
        change(TUNED, mode="max-autotune" if on_gpu else "max-autotune-no-cudagraphs")
    return [candidate for candidate in helps if candidate is not None]


TF32_CODE = 'torch.set_float32_matmul_precision("high")'


UNGUARDED = {"guard_filter_fn": "<function torch.compiler.skip_guard_on_inbuilt_nn_modules_unsafe>"}


AROUND = "around the call"


CONVERTED = "in place of the conversion to {0}, and of the call"


_TENSOR = re.compile(r"\w+: \w+\[\d")
"""An argument that is a tensor with sizes: ``x: float32[8, 4] cpu``."""


def _larger_batch(report: Report) -> str:
    """A call with more samples; empty if it is unknown which arguments hold the samples."""
    arguments = report.subject.arguments
    if len(arguments) != 1 or not _TENSOR.match(arguments[0]):
        return ""
    name = arguments[0].partition(":")[0]
    return f"compiled(torch.cat([{name}] * 8))  # more samples a call" if _is_name(name) else ""


def _autocast(device: str, report: Report) -> str:
    names = [argument.partition(":")[0] for argument in report.subject.arguments]
    arguments = ", ".join(names) if names and all(map(_is_name, names)) else "..."
    return (
        f'with torch.autocast("{_kind(device)}", dtype=torch.bfloat16):\n    compiled({arguments})'
    )


def _other_floats(variant: VariantReport, report: Report, device: str) -> Help | None:
    """Another dtype for products in one that the device is slow at; None if it is not slow."""
    (dtype, _), *_ = Counter(_dtypes(variant, _PRODUCTS)).most_common(1) or [("", 0)]
    faster = faster_than(dtype, variant, report, device) if dtype else None
    if dtype is None or faster is None:
        return None
    text = (OTHER_FLOATS.format(faster.dtype, dtype), faster.why)
    arguments = report.subject.arguments
    if not any(f": {dtype}[" in argument for argument in arguments):
        # The inputs have another dtype: autocast computes in this one.
        code = _autocast(device, report) if faster.dtype == "bfloat16" else ""
        return _help(text, code, AROUND)
    names = [argument.partition(":")[0] for argument in arguments]
    passed = [
        f"{name}.to(torch.{faster.dtype})" if f": {dtype}[" in argument else name
        for name, argument in zip(names, arguments, strict=True)
    ]
    lines = [f"compiled({', '.join(passed) if all(map(_is_name, names)) else '...'})"]
    if report.subject.kind == "module":
        compilation = variant.compilations[0]
        path = written_path("", compilation, report.subject)
        lines.insert(0, f"{path}.to(torch.{faster.dtype})")
    return _help(text, "\n".join(lines), CONVERTED.format(dtype))


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _help(text: tuple[str, str], code: str, place: str = "") -> Help:
    return Help(what=text[0], why=text[1], code=code, place=place if code else "")


def _change(
    text: tuple[str, str], variant: VariantReport, report: Report, changes: dict[str, Any]
) -> Help | None:
    """A change of the switches; None if the variant has it already."""
    requested = variant.requested
    changed = msgspec.structs.replace(requested, **changes)
    if changed == requested or (changes.get("mode") and not _is_plain(requested, changes["mode"])):
        return None
    suggestion = _help(text, code_of(changed))
    suggestion.requested = changed
    other = _measured(changed, variant, report)
    if other is not None:
        suggestion.variant = other.name
        _add_gain(suggestion, variant, other)
    return suggestion


def _is_plain(requested: Variant, mode: str) -> bool:
    """Whether the variant's mode does not already include what the other mode adds."""
    now = requested.mode or "default"
    if mode == "reduce-overhead":
        return now not in CUDA_GRAPH_MODES and not requested.options.get("triton.cudagraphs")
    return not now.startswith("max-autotune") and not requested.options.get("max_autotune")


def _measured(requested: Variant, variant: VariantReport, report: Report) -> VariantReport | None:
    """The variant of the report that differs by this alone and was timed on the same device."""
    for other in report.variants:
        if other is variant or other.timing is None or variant.timing is None:
            continue
        if _alike(other.requested, requested) and other.timing.device == variant.timing.device:
            return other
    return None


def _alike(left: Variant, other: Variant) -> bool:
    plain = [
        msgspec.structs.replace(variant, mode=None if variant.mode == "default" else variant.mode)
        for variant in (left, other)
    ]
    return plain[0] == plain[1]


def _add_gain(suggestion: Help, variant: VariantReport, other: VariantReport) -> None:
    """The gain of the other variant, in words."""
    suggestion.speedup = between(other, variant)
    if suggestion.speedup is not None:
        suggestion.ratio, suggestion.ratio_interval = (
            suggestion.speedup.ratio,
            suggestion.speedup.interval,
        )


def _share(variant: VariantReport, kind: str) -> float:
    """The share of a call that a kind of layer takes."""
    whole = sum(layer.whole_us for layer in variant.layers)
    guarded = sum(layer.us for layer in parts_of_call(variant) if layer.kind == kind)
    return guarded / whole if whole > 0 else 0.0


_IN_MODULE = ("._modules[", "._parameters[", "._buffers[")


def _guards_modules(variant: VariantReport) -> bool:
    """Whether guards check modules' members, as far as guards are known."""
    sources = [guard.source for compilation in variant.compilations for guard in compilation.guards]
    return not sources or any(part in source for source in sources for part in _IN_MODULE)


def _has_choices(variant: VariantReport, *, on_gpu: bool) -> bool:
    """Whether max-autotune has several kernels to choose from for some product of the graphs.

    On a CPU there are several for batched products and for those with a constant matrix, and
    parameters are constants only when they are frozen.
    """
    products = tunable_products(variant.compilations)
    if on_gpu or variant.requested.options.get("freezing"):
        return bool(products)
    return any(name.endswith("bmm") for name in products)


def _float32(variant: VariantReport) -> bool:
    """Whether most kernels of products compute in float32, as the graphs' nodes say."""
    dtypes = _dtypes(variant, _PRODUCTS)
    return dtypes.count("float32") * 2 > len(dtypes)


def _short(variant: VariantReport) -> bool:
    """Whether most kernels of products, or all if there are none, compute in shorter floats."""
    dtypes = _dtypes(variant, _PRODUCTS) or _dtypes(variant, ("",))
    return sum(dtype in _SHORT for dtype in dtypes) * 2 > len(dtypes)


_PRODUCTS = ("mm", "convolution", "attention")
_SHORT = ("float16", "bfloat16")


def _dtypes(variant: VariantReport, targets: Sequence[str]) -> list[str | None]:
    """The type in which each call of an operator computes, of operators with these in their names.

    It is that of the result, or of the first input if the result is a tuple.
    """
    return [
        dtype
        for compilation in variant.compilations
        for stage, graph in compilation.graphs.items()
        if stage in ("inference", "forward")
        for dtype in _dtypes_of_calls(graph, targets)
    ]


def _dtypes_of_calls(graph: Graph, targets: Sequence[str]) -> Iterator[str | None]:
    dtypes = {node.name: node.dtype for node in graph.nodes}
    for node in graph.nodes:
        if node.op == "call_function" and any(name in node.target for name in targets):
            of_inputs = (dtypes.get(name) for name in node.inputs)
            yield node.dtype or next(filter(None, of_inputs), None)


def _kind(device: str) -> str:
    return device.split(":")[0]
