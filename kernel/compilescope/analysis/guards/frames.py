"""Finds the compiled frame, and the files that the records name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ...capture.logged_values import logged_count
from ...capture.records import Record
from ...report import SourceLine
from ...torch_api.trace.record_names import COMPILATION_METRICS, DYNAMO_START
from ..text.stacks import logged_line


def frame_of(records: Sequence[Record]) -> SourceLine | None:
    """The frame that Dynamo compiled: the innermost of ``dynamo_start``'s stack.

    If that is torch's own wrapper function, the function that it calls, which was looked up when
    torch began.
    """
    for record in records:
        if record.event == DYNAMO_START:
            detail = record.metadata.get(DYNAMO_START)
            called = detail.get("compiled") if isinstance(detail, dict) else None
            if isinstance(called, dict):
                return logged_line(called)
    if (traced := traced_frame(records)) is not None:
        return traced
    for record in records:
        if record.event == COMPILATION_METRICS:
            detail = record.metadata.get(record.event)
            if isinstance(detail, dict) and detail.get("co_filename"):
                return SourceLine(
                    file=str(detail["co_filename"]),
                    line=logged_count(detail.get("co_firstlineno")) or 0,
                    function=str(detail.get("co_name") or ""),
                )
    return None


def first_of_frame(compile_id: str) -> str:
    """The first compilation of the same frame, ``3/0`` for ``3/2``.

    torch does not log the frame again when the recompile limit ends its compilations.
    """
    frame, slash, _ = compile_id.rpartition("/")
    return f"{frame}/0" if slash else compile_id


def traced_frame(records: Sequence[Record]) -> SourceLine | None:
    """The frame whose arguments guards refer to: torch's wrapper function, if there is one."""
    for record in records:
        if record.event == DYNAMO_START and (stack := _stack(record)):
            return logged_line(stack[-1])
    return None


def stack_of(records: Sequence[Record]) -> list[SourceLine] | None:
    """The calls that led to a compilation, outermost first; None if Dynamo did not start."""
    for record in records:
        if record.event == DYNAMO_START:
            return [logged_line(frame) for frame in _stack(record)]
    return None


class Caller(msgspec.Struct, frozen=True):
    """The call of a compiled function."""

    where: SourceLine
    span: tuple[int, int, int, int] | None = None
    """Its first and last line, and its byte offsets in them."""


def caller_of(records: Sequence[Record]) -> Caller | None:
    """The user's call of the frame, if it was looked up when torch began."""
    for record in records:
        if record.event == DYNAMO_START:
            detail = record.metadata.get(DYNAMO_START)
            caller = detail.get("caller") if isinstance(detail, dict) else None
            if isinstance(caller, dict):
                return Caller(logged_line(caller), _span(caller.get("span")))
    return None


def files_of(records: Sequence[Record]) -> list[str]:
    """Every file that the records name in full."""
    files: dict[str, None] = {}
    for record in records:
        if record.event == "str":
            detail = record.metadata.get("str")
            if isinstance(detail, (list, tuple)) and detail:
                files[str(detail[0])] = None
        elif record.event == DYNAMO_START:
            files.update({logged_line(frame).file: None for frame in _stack(record)})
    return list(files)


def _span(span: Any) -> tuple[int, int, int, int] | None:
    if not isinstance(span, list) or not all(
        logged_count(position) is not None for position in span
    ):
        return None
    return (span[0], span[1], span[2], span[3]) if len(span) == 4 else None


def _stack(record: Record) -> list[dict[str, Any]]:
    detail = record.metadata.get(DYNAMO_START)
    stack = detail.get("stack") if isinstance(detail, dict) else None
    frames = stack if isinstance(stack, list | tuple) else []
    return [frame for frame in frames if isinstance(frame, dict)]
