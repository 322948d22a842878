"""Converts failed compilations, and missing or wrong fake kernels, to problems."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from ...capture.logged_values import logged_count
from ...capture.records import Record
from ...report import Compilation
from ...report.problem import FIND_FAILING_PART, Problem, SourceLine
from ...torch_api.failures import cpp_messages
from ...torch_api.failures.restrictions import restriction
from ...torch_api.trace.record_names import BACKWARD_METRICS, DYNAMO_ERROR
from ..figures.wording import count
from .breaks import parse_break
from .failed_records import FAKE_KERNELS, failed, is_hidden, kind_of, ran_in_eager


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
    is_hidden: bool
    """Whether ``suppress_errors`` hides it."""


class RaisedError(NamedTuple):
    """An exception that reached the user's code, with its own problem."""

    problem: Problem
    causes: Sequence[tuple[str, str]]
    """The types and messages of the exception and of those that it wraps."""


@dataclass(eq=False)
class _Failure:
    """A problem, and the compilations that have it."""

    problem: Problem
    cause: _Cause | None = None
    """None for a failure in generated code, and for a fake kernel."""
    ids: dict[str, None] = field(default_factory=dict)
    """In torch's order; of a fake kernel an empty one."""


class Failures:
    """The problems of compilations that failed; what failed alike is one problem.

    A problem is an error if it reached the caller, and a warning if torch ran the frame in eager
    instead. The details are those of the first compilation.

    Parameters
    ----------
    max_details
        How many problems keep their details, to bound memory. None: all.
    """

    def __init__(self, max_details: int | None = None) -> None:
        self._max_details = max_details
        self._failures: dict[object, _Failure] = {}

    def add(self, records: Sequence[Record], compilations: Sequence[Compilation]) -> None:
        """Add what failed, and operators without a right fake kernel.

        Parameters
        ----------
        records
            All that torch logged of some compilations.
        compilations
            The same compilations, for the lines of their code.
        """
        frames = _frames(compilations)
        groups: dict[str | None, list[Record]] = {}
        for record in records:
            groups.setdefault(record.compile_id, []).append(record)
        for record in records:
            if (metrics := failed(record)) is not None:
                self._add(record, metrics, groups[record.compile_id], frames, compilations)
            elif record.event in FAKE_KERNELS:
                self._failures[object()] = _Failure(_fake_kernel(record), ids={"": None})

    def remove(self, compile_id: str) -> None:
        """Remove a compilation, to add it again with further records."""
        for failure in self._failures.values():
            failure.ids.pop(compile_id, None)

    def problems(self, raised: Collection[RaisedError] = ()) -> list[Problem]:
        """The problems, in the order in which they were added.

        Parameters
        ----------
        raised
            The exceptions that are listed themselves: what failed with them is left out.
        """
        return [
            _of_all(failure)
            for failure in self._failures.values()
            if failure.ids and not any(_is_same(failure, error) for error in raised)
        ]

    def _add(
        self,
        record: Record,
        metrics: Mapping[str, Any],
        group: Sequence[Record],
        frames: Mapping[str, SourceLine],
        compilations: Sequence[Compilation],
    ) -> None:
        reason = str(metrics.get("fail_reason") or "")
        generated = cpp_messages.explain(reason)
        if generated is not None:
            from .cpp_errors import place  # most failures are of no generated code

            place(generated, compilations)
            generated.facts.setdefault("compilation", record.compile_id or "")
            failure = _Failure(generated)
            key: object = record.compile_id, generated.what
        else:
            key = cause = _cause(record, metrics, group, frames)
            failure = self._failures.get(cause) or _Failure(
                _problem(cause, record, reason, group), cause
            )
        if key not in self._failures:
            if is_hidden(record, metrics):
                _hide(failure)
            if self._max_details is not None and len(self._failures) >= self._max_details:
                failure.problem.detail = ""
            self._failures[key] = failure
        self._failures[key].ids[record.compile_id or ""] = None


def _of_all(failure: _Failure) -> Problem:
    """The problem, of all compilations that have it."""
    if failure.cause is None:
        return failure.problem
    ids = list(failure.ids)
    facts = failure.problem.facts | {"compilation": ids[0]}
    if len(ids) > 1:
        facts["compilations"] = ", ".join(ids)
    return msgspec.structs.replace(failure.problem, what=_sentence(failure.cause, ids), facts=facts)


def _is_same(failure: _Failure, error: RaisedError) -> bool:
    """Whether an exception is that of a failure."""
    cause = failure.cause
    if cause is None:
        return failure.problem.what == error.problem.what
    return any(
        (cause.kind, cause.message) == (kind, first_sentence(message))
        for kind, message in error.causes
    )


def _hide(failure: _Failure) -> None:
    """Say that ``suppress_errors`` hides it."""
    problem = failure.problem
    problem.severity = "warning"
    is_repeated = failure.cause is not None and problem.why in _sentence(failure.cause, [""])
    problem.why = _SUPPRESSED if is_repeated else f"{_SUPPRESSED} {problem.why}"
    if failure.cause is not None:
        problem.remedy = "Set torch._dynamo.config.suppress_errors = False: then torch raises it."
    problem.facts["hidden_by"] = "suppress_errors"


def read_failures(records: Sequence[Record], compilations: Sequence[Compilation]) -> list[Problem]:
    """The compilations that failed and the operators without a right fake kernel, in torch's order.

    See `Failures`.
    """
    failures = Failures()
    failures.add(records, compilations)
    return failures.problems()


def suppressed(records: Sequence[Record], compilations: Sequence[Compilation]) -> list[Problem]:
    """The failures that ``suppress_errors`` hides; errors if nothing else was compiled."""
    records = [
        record
        for record in records
        if (metrics := failed(record)) is not None and is_hidden(record, metrics)
    ]
    ids = {record.compile_id for record in records}
    problems = read_failures(records, compilations)
    if all(compilation.id in ids for compilation in compilations if compilation.graphs):
        for problem in problems:
            problem.severity = "error"
    return problems


def without_breaks(records: Sequence[Record]) -> list[Record]:
    """The records without those of frames that a graph break or the recompile limit left to eager.

    Parameters
    ----------
    records
        All that torch logged of one compilation.
    """
    return [
        record
        for record in records
        if (metrics := failed(record)) is None
        or is_hidden(record, metrics)
        or not ran_in_eager(record, metrics, records)
    ]


def is_hidden_failure(problem: Problem) -> bool:
    """Whether it is a compilation that failed and that torch ran in eager, raising nothing."""
    return "hidden_by" in problem.facts


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
    explained = _explained(reason, kind_of(metrics))
    compile_id = record.compile_id or ""
    return _Cause(
        kind=kind_of(metrics),
        message=explained.message,
        why=explained.why,
        remedy=explained.remedy,
        where=_place(metrics, frames.get(compile_id) or frames.get(_frame_id(compile_id))),
        is_backward=record.event == BACKWARD_METRICS,
        is_eager=ran_in_eager(record, metrics, group),
        is_hidden=is_hidden(record, metrics),
    )


class _Explained(NamedTuple):
    """Torch's message of a failure, in parts."""

    message: str
    why: str
    remedy: str


@functools.lru_cache(maxsize=64)
def _explained(reason: str, kind: str) -> _Explained:
    # Many compilations may fail for one reason.
    if named := restriction(reason, kind):
        return _Explained(named.what, named.why, named.remedy)
    parsed = parse_break(reason)
    return _Explained(
        message=first_sentence(reason),
        why=parsed.explanation or "\n".join(reason.splitlines()[1:4]).strip(),
        remedy=" ".join(parsed.hints) or FIND_FAILING_PART,
    )


def _problem(cause: _Cause, record: Record, reason: str, group: Sequence[Record]) -> Problem:
    errors = [
        record_in_group.payload
        for record_in_group in group
        if record_in_group.name == DYNAMO_ERROR and record_in_group.payload
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


def _sentence(cause: _Cause, ids: Sequence[str]) -> str:
    several = len(ids) > 1
    subject = count(len(ids), "compilation") if several else ids[0] or "A compilation"
    if cause.is_backward:
        subject = f"The backward of {subject}"
    if cause.is_eager:
        return f"{subject} fell back to eager: {cause.message or cause.kind}"
    return f"{subject} failed: {cause.kind}{cause.message and f': {cause.message}'}"


def first_sentence(reason: str) -> str:
    """The first line, and also the next if the first ends in ``… raised:``."""
    lines = [line.strip() for line in reason.splitlines() if line.strip()]
    ends = next((index for index, line in enumerate(lines) if not line.endswith(":")), 0)
    return " ".join(lines[: ends + 1])


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
