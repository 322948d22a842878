"""Recompiles that are normal: each compilation serves another kind of call, of which few exist."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

import msgspec

from ....report import Failure, Recompile
from ..compiled_values import Values
from ..global_state import CHANGED
from .failed_guard import keys_only_in
from .other_changes import first_few
from .parse_reason import read_failure
from .recompile_words import describe, guarded_value

_OF_GRADIENTS = re.compile(r"Autograd\w*|Autocast\w*|ADInplaceOrView|no others")
"""Dispatch keys that a tensor has or not as gradients, autocast or inference mode are on."""
_RANGE = re.compile(r"\d+ to \d+|at (?:least|most) \d+|not \d+")
_AT_LEAST_TWO = "at least 2"
_OF_STATE = re.compile(r"L\['self'\]|G\[")
"""A value that outlives a call: of the module itself, or a global one."""
_FLAGS = {"True", "False"}
_GLOBAL_FLAGS = {
    "torch_function",
    "deterministic_algorithms",
    "deterministic_algorithms_warn_only",
    "allow_tf32",
    "allow_fp16_reduce",
    "allow_bf16_reduce",
}
"""torch's names of global states with two values, besides those that `_modes` knows."""
BACKENDS = (
    "The function is compiled with two backends or modes: normal if you compare them; otherwise "
    "compile it once."
)
_TRAINING = ".training"
"""The attribute that ``train()`` and ``eval()`` set, of a module and of each of its parts."""


SAVES_NOTHING = ("stance", "other_guards", "constant", "normal")
"""Kinds of advice that do not save the time of the compilations."""


def is_avoidable(recompile: Recompile) -> bool:
    """Whether a change of the code may save the compilation.

    torch's messages are all that a reader of outlines has: without advice, a recompile that is
    normal by each of them is not to be avoided.
    """
    if recompile.advice:
        return recompile.advice[0].kind not in SAVES_NOTHING
    failures = recompile.failures or [
        read_failure(reason, {}, Values((), {})) for reason in recompile.reasons
    ]
    return not failures or not all(normal_recompile([_with_flags(failure)]) for failure in failures)


def _with_flags(failure: Failure) -> Failure:
    """Add to what torch's message alone tells: a flag that changed has the other value.

    The new value of a guard on a value is not in the message, and neither value of a global state.
    """
    is_global = failure.kind == "global_state" and not failure.old
    if is_global and failure.guard.removeprefix(CHANGED) in _GLOBAL_FLAGS:
        return msgspec.structs.replace(failure, old="True", new="False")
    if failure.old in _FLAGS and not failure.new:
        (other,) = _FLAGS - {failure.old}
        return msgspec.structs.replace(failure, new=other)
    return failure


def normal_recompile(changes: Sequence[Failure]) -> str:
    """Return a sentence if a recompile is normal: each kind of call has a compilation.

    Training and evaluation differ in a few global modes and flags; a flag has two values, a value
    may be None, as a cache is before the first call, and a size that the code branches on has a
    range for each branch.

    Parameters
    ----------
    changes
        All that the call changed, compared with one earlier compilation.
    """
    if changes and changes[0].kind == "backend":
        return BACKENDS
    modes: list[str] = []
    flags: list[str] = []
    branches: list[str] = []
    optional: list[str] = []
    for change in changes:
        if of_change := _modes(change):
            modes += of_change
        elif {change.old, change.new} == _FLAGS:
            flags.append(describe(change).subject)
        elif "None" in (change.old, change.new):
            optional.append(describe(change).subject)
        elif change.kind == "size" and _RANGE.fullmatch(change.old) and not _is_single(change):
            branches.append(describe(change).subject)
        else:
            return ""
    names = list(dict.fromkeys([*modes, *flags, *branches, *optional]))
    if not names:
        return ""
    if branches and not (modes or flags or optional):
        return f"The code branches on {first_few(names)}. {_normal('for each branch')}"
    if modes and not (branches or optional):
        which = "for training and one for evaluation"
    elif len(flags) == 1 and not (modes or branches or optional):
        which = "for each of its two values"
    else:
        which = "for each kind of call"
    return f"The calls differ in {first_few(names)}. {_normal(which)}"


def serves_later_sizes(
    failures: Sequence[Failure],
    became: Sequence[str],
    recurring: Collection[tuple[str, str]],
    others: Callable[[Failure], Sequence[Failure]],
) -> str:
    """Return a sentence if a size changed again, and the new compilation is dynamic in it.

    Parameters
    ----------
    failures
        The failed guards.
    became
        Sources that became symbols in the new compilation.
    recurring
        What caused earlier recompiles of the frame.
    others
        What else changed since the compilation of a failed guard.
    """
    changes = _changes(failures, others)
    if not _are_dynamic(changes, became) or guarded_value(failures[0]) not in recurring:
        return ""
    return _served(changes, "later")


def serves_larger_sizes(
    failures: Sequence[Failure],
    became: Sequence[str],
    others: Callable[[Failure], Sequence[Failure]],
) -> str:
    """Return a sentence if state grew from a size of 0 or 1, and the compilation is dynamic in it.

    That is normal for what a module keeps and each call extends, such as the cache of a decoder.

    Parameters
    ----------
    failures, became, others
        As for `serves_later_sizes`.
    """
    changes = _changes(failures, others)
    is_grown = all(
        change.old in ("0", "1") and _OF_STATE.match(change.source) for change in changes
    )
    if not is_grown or not _are_dynamic(changes, became):
        return ""
    return f"torch compiles sizes of 0 and 1 separately. {_served(changes, 'larger')}"


def _changes(
    failures: Sequence[Failure], others: Callable[[Failure], Sequence[Failure]]
) -> list[Failure]:
    return [change for failure in failures for change in (failure, *others(failure))]


def _are_dynamic(changes: Sequence[Failure], became: Sequence[str]) -> bool:
    """Whether all that changed are sizes that became symbols."""
    return bool(changes) and all(
        change.kind == "size" and f"{change.source}.size()[{change.dimension}]" in became
        for change in changes
    )


def _served(changes: Sequence[Failure], which: str) -> str:
    names = list(dict.fromkeys(describe(change).subject for change in changes))
    are = "is a symbol" if len(names) == 1 else "are symbols"
    return (
        f"{first_few(names)} {are} in the new compilation, which serves {which} sizes too without "
        "a recompile; nothing to change."
    )


def _normal(which: str) -> str:
    return f"One compilation {which} is normal; nothing to change."


def _modes(change: Failure) -> list[str]:
    """What training and evaluation differ in; empty if the change is something else."""
    if change.kind == "grad_mode":
        return ["grad mode"]
    if change.kind == "global_state":
        names = change.guard.removeprefix(CHANGED).split()
        known = [_mode(name) for name in names]
        return known if all(known) else []
    subject = describe(change).subject
    if {change.old, change.new} == _FLAGS and subject.endswith(_TRAINING):
        return ["training mode"]
    if change.kind == "requires_grad":
        return [subject]
    if change.kind == "dispatch_keys" and change.old and change.new:
        keys = (keys_only_in(change.old, change.new), keys_only_in(change.new, change.old))
        if all(_OF_GRADIENTS.fullmatch(key) for key in ", ".join(keys).split(", ")):
            return [subject]
    return []


def _mode(name: str) -> str:
    if name == "grad_mode":
        return "grad mode"
    return "autocast" if name.startswith("autocast") else ""


def _is_single(change: Failure) -> bool:
    """Whether a size becomes 0 or 1, which torch compiles separately without any branch."""
    return change.old == _AT_LEAST_TWO or change.new in ("0", "1")
