"""The artifacts that a compilation lacks, and why."""

from __future__ import annotations

from collections.abc import Sequence

from ..capture.records import NO_COMPILE_ID, Record
from ..report import COMPILATION_PARTS, STAGES, Compilation
from ..torch_api.trace.record_names import CHROMIUM_EVENT, COMPILATION_METRICS
from .problems.failed_records import failed

NOTHING = "Dynamo put no operation of this frame into a graph"
CACHED = (
    "Inductor's cache had this graph, so this stage was not generated again. Compile with "
    "torch._inductor.config.force_disable_caches to see it."
)
INFERENCE = "The graph is compiled for inference: no input or parameter needs a gradient."
TRAINING = "The graph is compiled for training: forward and backward take this stage's place."
LAZY = "torch compiles the backward when it first runs, which has not happened."
SILENT = "torch did not log this stage for this compilation."
FAILED = "The compilation failed before torch reached this stage: {}."
NO_ID = (
    "torch gave these records no compile id: torch.export and AOTInductor compile whole models, "
    "not Dynamo's frames."
)
UNMEASURED = (
    "Guards are measured when a variant is built: build and time this one. "
    "In a watch, inspect the call first."
)
UNCOUNTED = "torch counts the checks that fail, not those that pass."
_TRAINING_ONLY = ("joint", "forward", "backward", "backward_before_post_grad", "backward_post_grad")
_INFERENCE_ONLY = ("before_joint", "after_joint", "inference")


def explain(compilation: Compilation, records: Sequence[Record]) -> dict[str, str]:
    """Name the stages and artifacts that are missing, each with the reason."""
    absent: dict[str, str] = {}
    hit = any(event.outcome == "hit" for event in compilation.cache)
    graphs, code = compilation.graphs, compilation.code
    training = code.direction != "inference" or "forward" in graphs
    # A frame that never came to AOTAutograd is neither.
    is_complete = training or hit or "inference" in graphs or bool(code.python or code.cpp)
    failure = _failure(records)
    loose = compilation.id == NO_COMPILE_ID
    # "!0" is compiled autograd's graph, of which Dynamo's frame is another compilation.
    nothing = not graphs and not hit and not loose and "/" in compilation.id
    for stage in STAGES:
        if stage not in compilation.graphs:
            absent[stage] = (
                _nothing(records)
                if nothing
                else _stage(stage, training=training, hit=hit, compilation=compilation)
                if is_complete
                else SILENT
            )
            if failure and absent[stage] in (SILENT, LAZY):
                absent[stage] = FAILED.format(failure)
    if loose:
        absent["id"] = NO_ID
    absent |= {
        field: part.absent
        for field, part in COMPILATION_PARTS.items()
        if part.absent and not getattr(compilation, field)
    }
    if any(_is_timing(record) for record in records):
        absent.pop("phases", None)  # `assemble` adds them afterwards
    if compilation.guards:
        absent |= {"guard_costs": UNMEASURED, "guard_hits": UNCOUNTED}
    if not compilation.cache:
        absent["cache"] = uncached(records)
    if compilation.frame is None:
        absent["frame"] = "torch logged no start of this compilation."
    return absent


def uncached(records: Sequence[Record]) -> str:
    """Why a compilation has no cache events."""
    off = any("cache_disabled" in (r.payload or "") for r in records if _is_timing(r))
    return "The compile caches were off." if off else "torch logged no cache hit or miss."


def _stage(stage: str, *, training: bool, hit: bool, compilation: Compilation) -> str:
    if training and stage in _INFERENCE_ONLY:
        return TRAINING
    if not training and stage in _TRAINING_ONLY:
        return INFERENCE
    if stage.startswith("backward_") and compilation.code.backward is None:
        return CACHED if hit else LAZY
    return CACHED if hit else SILENT


def _failure(records: Sequence[Record]) -> str:
    """The type of the error that the forward's compilation ended with; empty where it did not."""
    for record in records:
        metrics = failed(record)
        if metrics is not None:
            return str(metrics["fail_type"])
    return ""


def _nothing(records: Sequence[Record]) -> str:
    for record in records:
        if record.event == COMPILATION_METRICS:
            detail = record.metadata.get(record.event)
            if isinstance(detail, dict) and (reason := detail.get("fail_reason")):
                kind = str(detail.get("fail_type") or "").rpartition(".")[2]
                first = str(reason).splitlines()[0]
                # Without its type, an exception's message would look like a sentence of torch's.
                return f"{NOTHING}: {kind}: {first}" if kind else f"{NOTHING}: {first}"
    return f"{NOTHING}."


def _is_timing(record: Record) -> bool:
    return record.event == CHROMIUM_EVENT
