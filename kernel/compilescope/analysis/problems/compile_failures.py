"""Compilations that failed, and operators whose fake kernel is missing or wrong → problems."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...capture.logged_values import logged_count
from ...capture.records import Record
from ...report import Compilation
from ...report.problem import FIND_FAILING_PART, Problem, SourceLine
from ...torch_api.failures import cpp_messages
from ..figures.wording import count
from .breaks import parse_break
from .failed_records import FAKE_KERNELS, RECOMPILE_LIMIT, failed


class _Cause(NamedTuple):
    """What failures of several compilations have in common."""

    kind: str
    message: str
    why: str
    remedy: str
    where: SourceLine | None
    is_backward: bool
    is_eager: bool
    """Whether torch ran the frame in eager instead."""


def read_failures(records: Sequence[Record], compilations: Sequence[Compilation]) -> list[Problem]:
    """The compilations that failed and the operators without a right fake kernel, in torch's order.

    It is an error if it reached the caller, and a warning if torch ran the frame in eager instead.
    What failed in several compilations alike is one problem, with the details of the first.
    """
    frames = _frames(compilations)
    groups: dict[str | None, list[Record]] = {}
    for record in records:
        groups.setdefault(record.compile_id, []).append(record)
    problems: list[Problem] = []
    alike: dict[_Cause, tuple[Problem, dict[str, None]]] = {}
    for record in records:
        if (metrics := failed(record)) is not None:
            reason = str(metrics.get("fail_reason") or "")
            generated = cpp_messages.explain(reason)
            if generated is not None:
                from .cpp_errors import place  # most failures are of no generated code

                place(generated, compilations)
                problems.append(generated)
                continue
            group = groups[record.compile_id]
            cause = _cause(record, metrics, group, frames)
            if cause not in alike:
                alike[cause] = (_problem(cause, record, reason, group), {})
                problems.append(alike[cause][0])
            alike[cause][1][record.compile_id or ""] = None
        elif record.event in FAKE_KERNELS:
            problems.append(_fake_kernel(record))
    for cause, (problem, ids) in alike.items():
        problem.what = _what(cause, list(ids))
        if len(ids) > 1:
            problem.facts["compilations"] = ", ".join(ids)
    return problems


def suppressed(records: Sequence[Record], compilations: Sequence[Compilation]) -> list[Problem]:
    """The failures that ``suppress_errors`` hides; errors if nothing else was compiled.

    Graph breaks and the recompile limit are left out: they leave a frame to eager with any setting.
    """
    records = [
        record
        for record in records
        if (metrics := failed(record)) is not None
        and metrics.get("config_suppress_errors") is True
        and str(metrics["fail_type"]).rpartition(".")[2] not in _BREAKS
        and RECOMPILE_LIMIT not in str(metrics.get("fail_reason") or "")
    ]
    ids = {record.compile_id for record in records}
    problems = read_failures(records, compilations)
    for problem in problems:
        is_repeated = problem.why in problem.what
        problem.why = _SUPPRESSED if is_repeated else f"{_SUPPRESSED} {problem.why}"
        problem.remedy = "Set torch._dynamo.config.suppress_errors = False: then torch raises it."
    if all(compilation.id in ids for compilation in compilations if compilation.graphs):
        for problem in problems:
            problem.severity = "error"
    return problems


_BREAKS = ("Unsupported", "SkipFrame")
"""The types of failures after which torch leaves a frame to eager, whatever the settings."""
_SUPPRESSED = (
    "suppress_errors is on: where a compilation fails, torch runs the frame in eager and raises "
    "nothing."
)


def _fake_kernel(record: Record) -> Problem:
    operator = str(record.detail.get("op", ""))
    name = f"torch.ops.{operator}"
    facts = {"operator": name}
    if record.event == "missing_fake_kernel":
        return Problem(
            severity="warning",
            what=f"{name} has no fake kernel",
            why=(
                "torch could not infer the shapes of its results without running it, and used "
                "those of the example."
            ),
            remedy=f"Register one: @torch.library.register_fake({_qualified(operator)!r}).",
            facts=facts,
        )
    return Problem(
        severity="warning",
        what=f"The fake kernel of {name} is wrong",
        why=str(record.detail.get("reason", "")).strip(),
        remedy="Have it return tensors with the shapes, strides, dtypes and devices that the "
        "operator itself returns.",
        facts=facts,
    )


def _qualified(operator: str) -> str:
    """``mine.op.default`` → ``mine::op``, as torch.library takes it."""
    namespace, _, rest = operator.partition(".")
    return f"{namespace}::{rest.partition('.')[0]}"


def _cause(
    record: Record,
    metrics: Mapping[str, Any],
    group: Sequence[Record],
    frames: Mapping[str, SourceLine],
) -> _Cause:
    reason = str(metrics.get("fail_reason") or "")
    kind = str(metrics["fail_type"]).rpartition(".")[2]
    explained = _explained(reason)
    compile_id = record.compile_id or ""
    return _Cause(
        kind=kind,
        message=explained.message,
        why=explained.why,
        remedy=explained.remedy,
        where=_place(metrics, frames.get(compile_id) or frames.get(_frame_id(compile_id))),
        is_backward=record.event == "bwd_compilation_metrics",
        is_eager=_ran_in_eager(kind, reason, metrics, group),
    )


class _Explained(NamedTuple):
    """Torch's message of a failure, in parts."""

    message: str
    why: str
    remedy: str


@functools.lru_cache(maxsize=64)
def _explained(reason: str) -> _Explained:
    # Many compilations may fail for one reason.
    parsed = parse_break(reason)
    return _Explained(
        message=_first_sentence(reason),
        why=parsed.explanation or "\n".join(reason.splitlines()[1:4]).strip(),
        remedy=" ".join(parsed.hints) or FIND_FAILING_PART,
    )


def _problem(cause: _Cause, record: Record, reason: str, group: Sequence[Record]) -> Problem:
    errors = [
        record_in_group.payload
        for record_in_group in group
        if record_in_group.name == "dynamo_error" and record_in_group.payload
    ]
    return Problem(
        severity="warning" if cause.is_eager else "error",
        what="",
        why=cause.why,
        remedy=cause.remedy,
        where=cause.where,
        detail="\n\n".join(dict.fromkeys([reason, *errors])).strip(),
        facts={"compilation": record.compile_id or "", "fail_type": cause.kind},
    )


def _what(cause: _Cause, ids: Sequence[str]) -> str:
    several = len(ids) > 1
    subject = count(len(ids), "compilation") if several else ids[0] or "A compilation"
    if cause.is_backward:
        subject = f"The backward of {subject}"
    if cause.is_eager:
        return f"{subject} fell back to eager: {cause.message or cause.kind}"
    return f"{subject} failed: {cause.kind}{cause.message and f': {cause.message}'}"


def _first_sentence(reason: str) -> str:
    """The first line, and also the next if the first ends in ``… raised:``."""
    lines = [line.strip() for line in reason.splitlines() if line.strip()]
    ends = next((index for index, line in enumerate(lines) if not line.endswith(":")), 0)
    return " ".join(lines[: ends + 1])


def _ran_in_eager(
    kind: str, reason: str, metrics: Mapping[str, Any], group: Sequence[Record]
) -> bool:
    """Whether torch ran the frame without compiling it."""
    if metrics.get("config_suppress_errors") is True or RECOMPILE_LIMIT in reason:
        return True
    # With fullgraph=True torch raises what it can't trace, and logs no graph break.
    return kind in _BREAKS and any(record.name == "dynamo_graph_break_reason" for record in group)


def _frames(compilations: Sequence[Compilation]) -> dict[str, SourceLine]:
    """The compiled function of each compilation, and of each frame: one that failed may lack it."""
    frames: dict[str, SourceLine] = {}
    for compilation in compilations:
        if compilation.frame is not None:
            frames[compilation.id] = compilation.frame
            frames.setdefault(_frame_id(compilation.id), compilation.frame)
    return frames


def _frame_id(compile_id: str) -> str:
    """``3/`` for ``3/0``: what the compilations of one frame begin with."""
    return f"{compile_id.rpartition('/')[0]}/"


def _place(metrics: Mapping[str, Any], frame: SourceLine | None) -> SourceLine | None:
    file, line = (metrics.get(f"fail_user_frame_{name}") for name in ("filename", "lineno"))
    if not isinstance(file, str) or not file:
        return frame
    function = frame.function if frame is not None and frame.file == file else ""
    return SourceLine(file=file, line=logged_count(line) or 0, function=function)
