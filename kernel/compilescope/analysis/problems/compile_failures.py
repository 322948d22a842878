"""Compilations that failed, and operators whose fake kernel is missing or wrong → problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...capture.logged_values import logged_count
from ...capture.records import Record
from ...report import Compilation
from ...report.problem import Problem, SourceLine
from ...torch_api.failures import cpp_messages
from .breaks import parse_break
from .failed_records import FAKE_KERNELS, failed

_LIMIT = "recompile limit exceeded"
_BISECT = "Try backend='eager' and backend='aot_eager': the first that fails names the part."


def read_failures(records: Sequence[Record], compilations: Sequence[Compilation]) -> list[Problem]:
    """The compilations that failed and the operators without a right fake kernel, in torch's order.

    It is an error if it reached the caller, and a warning if torch ran the frame in eager instead.
    """
    by_id = {compilation.id: compilation for compilation in compilations}
    groups: dict[str | None, list[Record]] = {}
    for record in records:
        groups.setdefault(record.compile_id, []).append(record)
    problems = []
    for record in records:
        if (metrics := failed(record)) is not None:
            group = groups[record.compile_id]
            problems.append(_problem(record, metrics, group, by_id, compilations))
        elif record.event in FAKE_KERNELS:
            problems.append(_fake_kernel(record))
    return problems


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


def _problem(
    record: Record,
    metrics: Mapping[str, Any],
    group: Sequence[Record],
    by_id: Mapping[str, Compilation],
    compilations: Sequence[Compilation],
) -> Problem:
    reason = str(metrics.get("fail_reason") or "")
    generated = cpp_messages.explain(reason)
    if generated is not None:
        from .cpp_errors import place  # most failures are of no generated code

        place(generated, compilations)
        return generated
    kind = str(metrics["fail_type"]).rpartition(".")[2]
    frame = _frame(record.compile_id or "", by_id)
    parsed = parse_break(reason)
    errors = [
        record_in_group.payload
        for record_in_group in group
        if record_in_group.name == "dynamo_error" and record_in_group.payload
    ]
    backward = record.event == "bwd_compilation_metrics"
    subject = f"{'The backward of ' if backward else ''}{record.compile_id or 'A compilation'}"
    first = _first_sentence(reason)
    problem = Problem(
        severity="error",
        what=f"{subject} failed: {kind}{first and f': {first}'}",
        why=parsed.explanation or "\n".join(reason.splitlines()[1:4]).strip(),
        remedy=" ".join(parsed.hints) or _BISECT,
        where=_place(metrics, frame),
        detail="\n\n".join(dict.fromkeys([reason, *errors])).strip(),
        facts={"compilation": record.compile_id or "", "fail_type": kind},
    )
    if _ran_in_eager(kind, reason, metrics, group):
        problem.severity = "warning"
        problem.what = f"{subject} was left to eager: {first or kind}"
    return problem


def _first_sentence(reason: str) -> str:
    """The first line, and also the next if the first ends in ``… raised:``."""
    lines = [line.strip() for line in reason.splitlines() if line.strip()]
    ends = next((index for index, line in enumerate(lines) if not line.endswith(":")), 0)
    return " ".join(lines[: ends + 1])


def _ran_in_eager(
    kind: str, reason: str, metrics: Mapping[str, Any], group: Sequence[Record]
) -> bool:
    """Whether torch ran the frame without compiling it."""
    if metrics.get("config_suppress_errors") is True or _LIMIT in reason:
        return True
    # With fullgraph=True torch raises what it can't trace, and logs no graph break.
    return kind in ("Unsupported", "SkipFrame") and any(
        record.name == "dynamo_graph_break_reason" for record in group
    )


def _frame(compile_id: str, by_id: Mapping[str, Compilation]) -> SourceLine | None:
    """The compiled function, if need be from another compilation of the frame."""
    if compile_id in by_id and by_id[compile_id].frame is not None:
        return by_id[compile_id].frame
    same = f"{compile_id.rpartition('/')[0]}/"
    return next(
        (compilation.frame for name, compilation in by_id.items() if name.startswith(same)), None
    )


def _place(metrics: Mapping[str, Any], frame: SourceLine | None) -> SourceLine | None:
    file, line = (metrics.get(f"fail_user_frame_{name}") for name in ("filename", "lineno"))
    if not isinstance(file, str) or not file:
        return frame
    function = frame.function if frame is not None and frame.file == file else ""
    return SourceLine(file=file, line=logged_count(line) or 0, function=function)
