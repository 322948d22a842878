"""Evaluates the guards of compilations for a call that is not made.

No user code runs and nothing is compiled: the arguments are bound to the signature and the guards
are evaluated by ``check_verbose``, which changes neither counters nor the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from ..analysis.guards.compiled_values import class_in
from ..analysis.guards.guard_tree import parse_guards
from ..analysis.guards.origin import Files, with_full_path
from ..analysis.guards.reasons.failed_guard import changed_modes, find_guard, parse_failure
from ..report import Compilation, Guard
from ..report.errors import CompilescopeError
from ..report.what_if import GuardOutcome, WhatIf
from ..subject import arguments
from ..torch_api.guards.guard_managers import KeptGuards, global_modes, recompile_limit
from ..torch_api.guards.size_guard_lines import SizeGuards
from ..torch_api.trace import compiled_callable
from .entry_frames import EntryFrame, entry_frames

_NOT_EVALUATED = (
    "Code after a graph break, or in a function that is called from eager, gets values that exist "
    "only when the call runs: the guards of {ids} are not evaluated."
)
_RESUMES = (
    "It has a graph break: the code after it has guards of its own, which were not evaluated, and "
    "may be compiled again."
)
_NO_ENTRY = (
    "torch compiled no frame of {name} itself, only functions that it calls. Which of their guards "
    "hold depends on values that only running the call makes."
)
_NOTHING = (
    "torch has compiled nothing of {name}, or dropped it since. The call would compile, if there "
    "is anything in it to compile."
)
_GONE = "the globals of its module have changed since"


def evaluate_guards(
    fn: Callable[..., Any],
    name: str,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    guard_sets: Sequence[KeptGuards],
    compilations: Mapping[str, Compilation] | None = None,
    limit: int | None = None,
) -> WhatIf:
    """Which compilation would serve a call.

    Parameters
    ----------
    fn
        The callable, under every ``torch.compile``; ``name`` is what it is called.
    args, kwargs
        The call's arguments.
    guard_sets
        The guards of its compilations, in the order in which torch tries them.
    compilations
        The compilations of a report by id; without, guards are read from the trees themselves.
    limit
        How many such compilations torch makes; by default torch's setting.

    Raises
    ------
    CompilescopeError
        ``fn`` cannot be called with these arguments.
    """
    _check(runs(fn), name, args, kwargs)
    answer = WhatIf(subject=name, arguments=arguments.lines(runs(fn), args, kwargs))
    limit = recompile_limit() if limit is None else limit
    if not guard_sets:
        answer.verdict = "recompile" if limit > 0 else "limit"
        answer.why = _NOTHING.format(name=name) if limit > 0 else ""
        return answer
    frames = entry_frames(fn, args, kwargs)
    entered = [
        (kept_guards, frame)
        for kept_guards in guard_sets
        for frame in frames
        if frame.is_of(kept_guards)
    ]
    others = [
        kept_guards.compile_id
        for kept_guards in guard_sets
        if not any(frame.is_of(kept_guards) for frame in frames)
    ]
    if not entered:
        answer.why = _NO_ENTRY.format(name=name)
        return answer
    for kept_guards, frame in entered:
        known = (compilations or {}).get(kept_guards.compile_id)
        outcome = _outcome(kept_guards, frame, known.guards if known is not None else [])
        answer.outcomes.append(outcome)
        if outcome.passes:
            answer.verdict, answer.reuses = "reuse", kept_guards.compile_id
            answer.why = _RESUMES if kept_guards.resumes else ""
            break
    else:
        answer.verdict = "limit" if len(entered) >= limit else "recompile"
        unclear = [
            unclear_outcome
            for unclear_outcome in answer.outcomes
            if unclear_outcome.guard is None and _GONE in unclear_outcome.message
        ]
        if unclear:
            answer.verdict = "unknown"
    if others:
        ids = ", ".join(others[:5]) + (" …" if len(others) > 5 else "")
        not_evaluated = _NOT_EVALUATED.format(ids=ids)
        answer.why = " ".join(filter(None, [answer.why, not_evaluated]))
    return answer


def runs(fn: Callable[..., Any]) -> Callable[..., Any]:
    """What has the signature of a call: a module's ``forward``, else the callable itself."""
    shown = compiled_callable.module_of(fn) or fn
    return shown.forward if isinstance(shown, torch.nn.Module) else shown


def _check(
    fn: Callable[..., Any], name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    try:
        arguments.check_fit(fn, name, args, kwargs)
    except CompilescopeError as error:
        raise CompilescopeError(
            error.problem.what,
            error.problem.why,
            f"Give the arguments of one call of {name}.",
        ) from None


def _outcome(kept_guards: KeptGuards, frame: EntryFrame, guards: Sequence[Guard]) -> GuardOutcome:
    outcome = GuardOutcome(compilation=kept_guards.compile_id, passes=False)
    reason = kept_guards.invalid()
    if reason:
        outcome.message = reason
        return outcome
    with kept_guards.root_in_scope() as root:
        answer = root.check_verbose(frame.f_locals)
        look = _Expressions(kept_guards.scope(frame.f_locals))
        parts = list(answer.verbose_code_parts)
        sizes = kept_guards.sizes
        if sizes is not None and (answer.result or sizes.replaces(parts)):
            parts = list(_failing_sizes(sizes, look))[:1]
            outcome.passes = not parts
        else:
            outcome.passes = bool(answer.result)
        if outcome.passes:
            return outcome
        outcome.message = _failing(parts, look)
        if not guards:
            guards = parse_guards(str(kept_guards.manager), [kept_guards.code.co_filename]).guards
        files = [
            kept_guards.code.co_filename,
            *(guard.origin.file for guard in guards if guard.origin),
        ]
        outcome.message = with_full_path(outcome.message, Files(files))
        failure = parse_failure(outcome.message, look)
        outcome.expected, outcome.actual = failure.expected, failure.actual
        outcome.place = find_guard(failure, guards)
        if failure.kind == "missing" and failure.source.startswith("G['__"):
            outcome.message = f"{outcome.message}: {_GONE}"
            outcome.place = None
    if outcome.place is not None:
        outcome.guard = guards[outcome.place]
        if failure.kind == "global":
            modes = changed_modes(outcome.guard.expression, global_modes())
            outcome.expected, outcome.actual = modes if any(modes) else ("", failure.actual)
        elif failure.kind == "type" and outcome.guard.type == "TENSOR_MATCH":
            outcome.expected = class_in(outcome.guard.expression)
        elif failure.kind == "alias" and not failure.source:
            outcome.actual = look.aliased(outcome.guard.expression) or failure.actual
    return outcome


def _failing_sizes(sizes: SizeGuards, look: _Expressions) -> Iterator[str]:
    """The guards on sizes that fail; torch checks the relations of sizes after all others."""
    for _, tensor_sizes in sizes.tensors:
        tensor = look.value(tensor_sizes.source)
        if isinstance(tensor, torch.Tensor) and (mismatch := tensor_sizes.mismatch(tensor)):
            yield mismatch
    yield from (line for line in sizes.after if look.value(line) is False)


def _failing(parts: list[str], look: _Expressions) -> str:
    """The expression that fails, of a guard that has several."""
    if len(parts) > 1:
        for part in parts:
            if look.value(part) is False:
                return part
    return parts[0] if parts else "A guard failed that torch does not name."


class _Expressions:
    """What the expressions of guards are, for the values of a frame."""

    def __init__(self, scope: dict[str, Any]) -> None:
        self._scope = scope

    def __call__(self, expression: str) -> str:
        value = self.value(expression)
        if value is _UNKNOWN:
            return ""
        return value.__qualname__ if isinstance(value, type) else arguments.summary(value)

    def value(self, expression: str) -> Any:
        """Torch evaluates the same expressions to say why it recompiles."""
        try:
            return eval(expression.strip(), dict(self._scope))
        except Exception:  # noqa: BLE001 - a guard that fails may name what is not there
            return _UNKNOWN

    def aliased(self, expression: str) -> str:
        """Which two of ``check_no_aliasing(L['x'], L['y'])`` are one tensor."""
        names = expression.removeprefix("check_no_aliasing(").removesuffix(")").split(", ")
        seen: dict[int, str] = {}
        for name in names:
            value = self.value(name)
            if value is _UNKNOWN:
                continue
            if id(value) in seen:
                return f"{name} is {seen[id(value)]}"
            seen[id(value)] = name
        return ""


_UNKNOWN = object()
