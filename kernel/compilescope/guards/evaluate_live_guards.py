"""Evaluates the live guards of the user's own compilations without changing them."""

from __future__ import annotations

import gc
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ..analysis.guards.reasons.failed_guard import recorded_gradients
from ..isolation.global_state import SavedModes
from ..report import Compilation
from ..report.errors import CompilescopeError
from ..report.resumed import is_generated
from ..report.what_if import WhatIf
from ..subject.subject import name_of, unwrap
from ..subject.typed_arguments import evaluate_arguments
from ..torch_api.dynamo import skipping
from ..torch_api.guards.guard_managers import live_guards, recompile_limit
from ..torch_api.trace import compiled_callable
from ..torch_api.trace.entered_functions import entry_functions
from .evaluate_guards import evaluate_guards
from .kept_guards import by_report_id, report_ids

_WHOLE = "The recompile limit is reached: with fullgraph=True, torch then raises an error."
_UNCOMPILED = "{name} itself is not compiled: this is the answer for torch.compile of it."
_TORCH_MODULE = (
    "{name} is a module of torch's own, which torch leaves to eager where a call enters it."
)


def evaluate_compiled(
    fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> WhatIf:
    """Which of the compilations that Dynamo keeps would serve a call of a compiled callable.

    Torch's modes (grad mode, autocast) and its stance count as they are now. Where several
    ``torch.compile`` were made of one function, those compilations are asked that torch would try
    for this one: of its backend, in its cache. Of a plain function, all are, and the answer is that
    of ``torch.compile`` of it.

    Raises
    ------
    CompilescopeError
        ``fn`` cannot be called with these arguments.
    """
    subject = unwrap(fn)
    codes = [function.__code__ for function in entry_functions(subject)]
    wrapper = compiled_callable.wrapper_code_of(fn)
    if wrapper is not None:
        codes.append(wrapper)
    all_guards = [live_guard for code in dict.fromkeys(codes) for live_guard in live_guards(code)]
    around = skipping.wrapper_of(fn)
    # Where torch compiles nothing, it does not ask whose compilation it is either.
    if around is None or skipping.stance() == "eager_on_recompile":
        tried = all_guards
    else:
        tried = [guards for guards in all_guards if around.may_use(guards)]
    limit = around.limit if around is not None else recompile_limit()
    # Those of other backends that are in the same cache count.
    others = [
        guards
        for guards in all_guards
        if around is not None and guards.region == around.region and guards not in tried
    ]
    left = limit - len(others)
    answer = evaluate_guards(subject, name_of(subject), args, kwargs, tried, limit=left)
    skipped = skipping.skipped(answer.subject, codes, all_guards, limit)
    if around is None and _is_uncompiled(fn):
        answer.why = " ".join(filter(None, [_UNCOMPILED.format(name=answer.subject), answer.why]))
    values = [*args, *kwargs.values()]
    if skipped and not all_guards and skipping.is_torchs_alone(fn, values):
        answer.verdict, answer.why = "eager", _TORCH_MODULE.format(name=answer.subject)
        return answer
    return _beyond_guards(answer, skipped, values, is_whole=around is not None and around.is_whole)


def _is_uncompiled(fn: Callable[..., Any]) -> bool:
    """Whether a call of a function, method or module enters no ``torch.compile``."""
    runs = fn.forward if isinstance(fn, torch.nn.Module) else fn
    return unwrap(fn) is fn and unwrap(runs) is runs and inspect.isroutine(runs)


def _beyond_guards(
    answer: WhatIf, skipped: str, values: Sequence[Any], *, is_whole: bool = False
) -> WhatIf:
    """The answer where more than guards decides: stance, ``fullgraph``, frames that torch skips.

    ``skipped`` says why torch may run the call in eager without looking; ``is_whole``, whether the
    wrapper was made with ``fullgraph=True``.
    """
    stance, verdict, why = skipping.stance(), answer.verdict, skipping.stance_in_words()
    compiles = verdict in ("recompile", "limit")
    if stance == "force_eager" or (stance == "eager_on_recompile" and compiles):
        verdict = "eager"
    elif stance == "fail_on_recompile" and verdict == "recompile" and not skipped:
        # Torch passes over frames that have to do with no tensor.
        verdict = "error" if any(isinstance(value, torch.Tensor) for value in values) else "unknown"
    elif stance in ("default", "eager_on_recompile", "fail_on_recompile") and not skipped:
        if verdict == "limit" and stance == "default" and is_whole:
            answer.verdict, answer.why = "error", " ".join(filter(None, [_WHOLE, answer.why]))
        if verdict == "reuse" or stance == "default":
            return answer
        verdict = "unknown"
    else:
        verdict, why = "unknown", skipped or why
    answer.verdict, answer.reuses = verdict, ""
    answer.why = " ".join(text for text in (why, answer.why) if text)
    return answer


def evaluate_compilation(
    code: types.CodeType | None,
    compilation: str,
    text: str,
    namespace: Mapping[str, Any],
    compilations: Mapping[str, Compilation] | None = None,
) -> WhatIf:
    """The same for the frame of a compilation that was watched, with arguments as typed.

    ``compilations`` are those of the report, by id. Whether gradients are recorded counts as it did
    when the compilation was made: another thread, which may ask, has a grad mode of its own.

    Raises
    ------
    CompilescopeError
        The frame no longer exists or is none that a call enters, or the arguments cannot be used.
    """
    if not compilation:
        raise CompilescopeError(
            "A watch has no call of its own.",
            "It shows whatever was compiled.",
            "Choose one of its compilations.",
        )
    function = _function_of(code) if code is not None else None
    if code is None or function is None:
        raise CompilescopeError(
            f"The function that {compilation} was compiled from no longer exists.",
            "Its cell ran again, or it was dropped, and its compilation with it.",
            "Choose a later compilation.",
        )
    if is_generated(function.__code__.co_name):
        raise CompilescopeError(
            f"{compilation} begins after a graph break.",
            "It is reached with values that only running what is before it makes.",
            "Ask about the compilation of the function itself.",
        )
    args, kwargs = evaluate_arguments(text, namespace)
    name = function.__qualname__.rpartition("<locals>.")[2]
    modes = SavedModes()
    guards = (
        compilations[compilation].guards if compilations and compilation in compilations else []
    )
    torch.set_grad_enabled(recorded_gradients(guards, torch.is_grad_enabled()))
    try:
        live = by_report_id(live_guards(function.__code__), report_ids(compilations or {}))
        answer = evaluate_guards(function, name, args, kwargs, list(live.values()), compilations)
        skipped = skipping.skipped(name, [code], live_guards(code))
        return _beyond_guards(answer, skipped, [*args, *kwargs.values()])
    finally:
        modes.restore()


def _function_of(code: types.CodeType) -> types.FunctionType | None:
    """A function that has this code; its defaults and its closure are needed for a call."""
    for referrer in gc.get_referrers(code):
        if isinstance(referrer, types.FunctionType) and referrer.__code__ is code:
            return referrer
    return None
