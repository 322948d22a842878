"""Why a frame was compiled again, in words: the failed guards, and torch's limit."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ....report import STACK_VALUE, Compilation, Failure, Recompile, RecompileCause, SourceLine
from ..compiled_values import Values
from ..conditions import ON_STACK, as_written
from ..global_state import changes_of
from .failed_guard import DTYPES, keys_only_in
from .parse_reason import read_failure

_SUBJECTS = {
    "rank": "{}.dim()",
    "dtype": "{}.dtype",
    "device": "{}.device.index",
    "requires_grad": "{}.requires_grad",
    "dispatch_keys": "dispatch keys of {}",
    "type": "type({})",
    "identity": "id({})",
    "length": "len({})",
}
"""Kinds of failed guards → what they compare, for a source."""
_WHOLE = ("value", "range", "global", "identity")
"""Kinds of failed guards that compare the value itself."""
_CLASS = re.compile(r"^<class '(?:__main__\.)?([^']+)'>(?=$| at 0x)")
_KEY = re.compile(r"\[list\(dict\.keys\([^()]*\)\)\[(\d+)\]\]")
"""An item of a dictionary whose key is an object, as of an optimizer's state."""
_DEVICE = "device index to be "
_TORCH = re.compile(r"[\\/](?:site|dist)-packages[\\/]torch[\\/]")


def add_causes(compilation: Compilation) -> None:
    """Fill in the words of a compilation's recompile, if it is one, from the other fields."""
    recompile = compilation.recompile
    if recompile is None:
        return
    # torch's messages are all that a reader of outlines has.
    failures = recompile.failures or [
        read_failure(reason, {}, Values((), {})) for reason in recompile.reasons
    ]
    recompile.causes = _merged(failures, compilation.frame)
    _add_limit(recompile)


def _merged(failures: Iterable[Failure], frame: SourceLine | None) -> list[RecompileCause]:
    """The causes of a recompile: one for the equal failures of several compilations' guards."""
    causes: dict[tuple[str, str, int], RecompileCause] = {}
    for failure in failures:
        cause = describe(failure)
        cause.where = _place(failure, frame)
        line = (cause.where.file, cause.where.line) if cause.where is not None else ("", 0)
        known = causes.setdefault((cause.text, *line), cause)
        if failure.compilation and failure.compilation not in known.compilations:
            known.compilations.append(failure.compilation)
    return list(causes.values())


def guarded_value(failure: Failure) -> tuple[str, str]:
    """What failed, without the values of one call: the same change avoids equal ones.

    Only of what has few values is the old one part of it: detaching a tensor does not help where
    others need its gradient.
    """
    direction = failure.old if failure.kind in ("requires_grad", "dtype", "grad_mode") else ""
    return failure.source, f"{failure.kind} {direction}"


def describe(failure: Failure) -> RecompileCause:
    """Return what a failed guard says: ``x.size(0): 4 → 5``."""
    guard = as_written(failure.guard)
    if failure.kind == "global_state":
        return _of_state(failure)
    subject = _subject(failure, guard)
    was, now = _values(failure) if subject else ("", "")
    text = f"{subject}: {was or '?'} → {now or '?'}" if was or now else guard or subject
    return RecompileCause(
        subject=subject or guard, text=text, was=was, now=now, guard=failure.guard
    )


def _of_state(failure: Failure) -> RecompileCause:
    changes = changes_of(failure)
    return RecompileCause(
        subject=", ".join(change.subject for change in changes),
        text="; ".join(change.text for change in changes) or failure.guard,
        was=", ".join(filter(None, (change.was for change in changes))),
        now=", ".join(filter(None, (change.now for change in changes))),
        guard=failure.guard,
    )


def _subject(failure: Failure, guard: str) -> str:
    """What the guard compares; empty if the guard does not say."""
    kind, dimension = failure.kind, failure.dimension
    if kind == "grad_mode":
        return "grad mode"
    if kind == "backend":
        return "backend"
    if kind == "other" or not failure.source:
        return ""
    if ON_STACK.fullmatch(failure.source):
        what = kind.replace("_", " ") + ("" if dimension is None else f" {dimension}")
        return STACK_VALUE if kind in _WHOLE else f"{what} of {STACK_VALUE}"
    source = _KEY.sub(r"[key \1]", as_written(failure.source))
    if kind in ("size", "stride"):
        return f"{source}.{kind}({'' if dimension is None else dimension})"
    if kind in ("keys", "attribute"):
        return guard.partition(" == ")[0].removeprefix("not ")
    return _SUBJECTS.get(kind, "{}").format(source)


def _values(failure: Failure) -> tuple[str, str]:
    """The values that the guard expected and that the call had, without torch's notation."""
    old, new = failure.old, failure.new
    if failure.kind in ("size", "stride"):
        return as_written(old), as_written(new)
    if failure.kind == "dtype":
        return DTYPES.get(old, old), DTYPES.get(new, new)
    if failure.kind == "dispatch_keys" and old and new:
        return keys_only_in(old, new), keys_only_in(new, old)
    if failure.kind == "device":
        return old.removeprefix(_DEVICE), new.removeprefix(_DEVICE)
    if failure.kind == "attribute":
        was_there = not failure.guard.startswith("not ") and not failure.guard.endswith("False")
        return str(was_there), str(not was_there)
    return _CLASS.sub(r"\1", old), _CLASS.sub(r"\1", new)


def _place(failure: Failure, frame: SourceLine | None) -> SourceLine | None:
    """The line to go to for a failure.

    An argument of the user's function that a line of torch's guards is the function's matter.
    """
    where = failure.where
    if where is None or frame is None or not failure.source.startswith("L['"):
        return where
    return frame if _TORCH.search(where.file) and not _TORCH.search(frame.file) else where


def _add_limit(recompile: Recompile) -> None:
    count, limit = recompile.count, recompile.limit
    recompile.eager_fallback |= any(advice.kind == "limit" for advice in recompile.advice)
    if count is None or limit is None:
        recompile.at_limit = recompile.eager_fallback
        return
    # torch also gives up at `accumulated_recompile_limit`, before this one.
    recompile.at_limit = recompile.eager_fallback or count >= limit
    recompile.limit_text = (
        f"compiled {count} times, torch's limit; new cases run in eager"
        if recompile.at_limit
        else f"compiled {count} of at most {limit} times; new cases then run in eager"
    )
