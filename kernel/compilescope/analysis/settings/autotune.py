"""Reads torch's measurements before it chose a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...capture.logged_values import finite, json_object
from ...capture.records import Record
from ...report import Autotuning, Choice, Kernel
from ...torch_api.trace.artifact_names import AUTOTUNING
from ..kernels.estimates.fusion import kind_of

_TRITON = "triton_kernel_info"
_KINDS = {
    "ExternKernelCaller": "extern",
    "TritonTemplateCaller": "triton template",
    "CppTemplateCaller": "cpp template",
    "DataProcessorChoiceCallerWrapper": "cpp template",
    "CUTLASSTemplateCaller": "cutlass template",
    "CUDATemplateCaller": "cutlass template",
    "ROCmTemplateCaller": "ck template",
    "SubgraphChoiceCaller": "subgraph",
    "NVUniversalGemmCaller": "cutlass template",
    "config": "config",
}
NOT_MEASURED = "not measured: torch pruned it"
NO_DEVICE = "not measured: there is no device"
FAILED = "it could not be compiled or run"
SLOWER = "{:.3g} times the best"
AS_FAST = "as fast as the best"
ONE_CANDIDATE = "There is only one candidate, so nothing was measured."
WHERE_TEMPLATES_COMPETE = (
    " On a CPU, C++ templates compete only for batched products, and for products with a frozen "
    "weight: without gradients and with torch._inductor.config.freezing = True, set before "
    "compiling (as an option of torch.compile it does not reach Dynamo)."
)
CACHED = "torch took the configuration from its autotune cache, so nothing was measured."
NO_BEST = "No candidate could be measured; torch took its default."


def read_autotunings(records: Sequence[Record], kernels: Sequence[Kernel]) -> list[Autotuning]:
    """Read the measurements in one compilation, in torch's order.

    Parameters
    ----------
    records
        The compilation's.
    kernels
        Its kernels, to find the kernel that resulted from an operator's choice.
    """
    autotunings: list[Autotuning] = []
    for record in records:
        if record.name == AUTOTUNING:
            logged = json_object(record.payload)
            if logged:
                autotunings.append(_autotuning(logged, kernels))
        elif record.name == _TRITON:
            autotunings += _cached(json_object(record.payload), autotunings)
    return autotunings


def add_compile_times(kernels: Sequence[Kernel], records: Sequence[Record]) -> None:
    """Add to each Triton kernel's resources its compile time, if torch reports it."""
    by_name = {kernel.name: kernel for kernel in kernels}
    for record in records:
        if record.name != _TRITON:
            continue
        for name, detail in json_object(record.payload).items():
            spent = finite(detail.get("compile_time_us")) if isinstance(detail, dict) else None
            if name in by_name and spent is not None:
                by_name[name].resources["compile_us"] = spent


def _autotuning(logged: dict[str, Any], kernels: Sequence[Kernel]) -> Autotuning:
    listed = logged.get("choices")
    entries = (
        [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    )
    choices = [_choice(entry) for entry in entries]
    measured = bool(logged.get("measured"))
    descent = logged.get("how") == "coordinate descent"
    if measured and not descent:
        _judge(choices, [bool(entry.get("failed")) for entry in entries])
    elif choices:
        choices[0].chosen = True
        for choice in choices[1:]:
            choice.why = choice.why or (NO_DEVICE if logged.get("why") else NOT_MEASURED)
    # Timed ones come first, sorted by time.
    choices.sort(
        key=lambda choice: (not choice.chosen, choice.time_us is None, choice.time_us or 0.0)
    )
    result = Autotuning(
        operator=str(logged.get("operator", "")),
        kind="config" if logged.get("kind") == "config" else "algorithm",
        inputs=[str(text) for text in logged.get("inputs") or () if text],
        choices=choices,
        duration_s=logged.get("seconds"),
    )
    best = next((choice for choice in choices if choice.chosen), None)
    node = str(logged.get("node", ""))
    result.kernel = str(logged.get("kernel") or "") or _kernel(node, best, kernels)
    if logged.get("why"):
        result.skipped = str(logged["why"])
    elif not measured:
        is_cpu = logged.get("device") == "cpu"
        result.skipped = ONE_CANDIDATE + (WHERE_TEMPLATES_COMPETE if is_cpu else "")
    elif best is None:
        result.skipped = NO_BEST
    return result


def _choice(logged: dict[str, Any]) -> Choice:
    config = {str(key): str(value) for key, value in (logged.get("config") or {}).items()}
    if logged.get("description"):
        config = _described(str(logged["description"])) | config
    kind = str(logged.get("type", ""))
    return Choice(
        name=str(logged.get("name", "")),
        kind=_KINDS.get(kind, kind),
        time_us=logged.get("time_us"),
        config=config,
        why=str(logged.get("why") or ""),
    )


def _described(text: str) -> dict[str, str]:
    """``BLOCK_M=64, num_warps=4`` as a mapping; a text of another form is kept whole."""
    parts = [part.partition("=") for part in text.split(",")]
    if all(equals for _, equals, _ in parts):
        return {name.strip(): value.strip() for name, _, value in parts}
    return {"description": text}


def _judge(choices: Sequence[Choice], failed: Sequence[bool]) -> None:
    """Mark the fastest, and say why the others lost."""
    timed = [choice for choice in choices if choice.time_us is not None]
    best = min(timed, key=lambda choice: choice.time_us or 0.0, default=None)
    for choice, broke in zip(choices, failed, strict=True):
        if choice is best:
            choice.chosen = True
        elif choice.time_us is None:
            choice.why = choice.why or (
                FAILED if broke or choice.kind == "config" else NOT_MEASURED
            )
        elif best is not None and best.time_us:
            ratio = choice.time_us / best.time_us
            choice.why = choice.why or (SLOWER.format(ratio) if ratio >= _NOTICED else AS_FAST)


_NOTICED = 1.005
"""Below this ratio three digits do not show a difference."""


def _kernel(node: str, best: Choice | None, kernels: Sequence[Kernel]) -> str:
    """The kernel that computes a graph node; if several do, one of the chosen kind.

    A template's node may also be one of the copy that prepares its input.
    """
    if not node:
        return ""
    extern = best is None or best.kind == "extern"
    named = [kernel for kernel in kernels if node in kernel.nodes]
    alike = [kernel for kernel in named if (kernel.language == "extern") == extern]
    if not extern:
        alike = [kernel for kernel in alike if kind_of(kernel) == "template"] or alike
    return (alike or named)[0].name if named else ""


def _cached(logged: dict[str, Any], measured_here: Sequence[Autotuning]) -> list[Autotuning]:
    """Kernels whose configuration came from torch's cache."""
    measured = {autotuning.kernel for autotuning in measured_here}
    autotunings = []
    for name, detail in logged.items():
        state = detail.get("autotune_cache_state") if isinstance(detail, dict) else None
        if state != "hit" or name in measured:
            continue
        settings = _settings(detail.get("best_config") or detail.get("only_config"))
        label = ", ".join(f"{key}={value}" for key, value in settings.items())
        choice = Choice(name=label, kind="config", chosen=True, config=settings)
        autotunings.append(
            Autotuning(operator=name, kind="config", kernel=name, choices=[choice], skipped=CACHED)
        )
    return autotunings


def _settings(config: Any) -> dict[str, str]:
    """A configuration as torch writes it: an object, or a list of pairs."""
    if isinstance(config, dict):
        config = list(config.items())
    pairs = config if isinstance(config, list) else []
    return {
        str(pair[0]): str(pair[1])
        for pair in pairs
        if isinstance(pair, list | tuple) and len(pair) == 2
    }
