"""Recommends a way to deploy a call from the measurements of all ways."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import msgspec

from ..argument_checks import check_arguments, check_function
from ..errors import CompilescopeError
from ..problem import Problem
from ..references import names_in_code
from ..units import duration, size
from .deployment import (
    BLOCKS,
    NESTED,
    PACKAGE,
    WAYS_SLOWER,
    WAYS_UNDECIDED,
    WRITTEN,
    DeployWay,
    Objective,
    in_contexts,
    with_imports,
)

OBJECTIVES: tuple[Objective, ...] = get_args(Objective)

_GOALS: dict[Objective, str] = {
    "latency": "lowest latency",
    "cold": "shortest time to the first result among the ways faster than eager",
    "balanced": "best product of first result and call time",
}
"""What each objective selects."""


class Recommendation(msgspec.Struct, frozen=True):
    """A recommended way to deploy a call, with the reason. Displays itself."""

    way: DeployWay
    """The recommended way, with its measurements."""
    variant: str
    """The variant whose settings it uses."""
    objective: Objective
    """What it was chosen for: ``latency``, ``cold`` or ``balanced``."""
    reason: str
    """Its cost compared with the others, in a sentence or two."""

    @property
    def code(self) -> str:
        """Code to paste that creates ``compiled`` from ``model`` (for a function: ``fn``).

        If the way ships files, the code that writes and loads them follows.
        """
        return paste_code(self.way)

    def apply(
        self, model: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Compiles a model this way, in this process, whose settings of torch stay as they are.

        `DeployWay.process_settings` has those of the study.

        Parameters
        ----------
        model
            The module or the function. A way that compiles blocks changes them in the model, and
            ``nested region`` their class, for all its instances.
        args, kwargs
            The arguments of a call; a way that compiles ahead of time compiles for these.

        Returns
        -------
        Callable
            The replacement for the model. A way that compiles blocks modifies the model and returns
            it.

        Raises
        ------
        CompilescopeError
            The way compiles ahead of time, and there are no arguments; it compiles blocks, and this
            model has none of that name; or the values are no model and no arguments.
        """
        check_function("model", model)
        check_arguments(args, kwargs)
        if re.search(r"\bargs\b", self.way.code) and not (args or kwargs):
            raise CompilescopeError(
                f"{self.way.name} compiles for the arguments of a call, and none are given.",
                remedy="Give them: apply(model, (x,)) or apply(model, (), {'x': x}).",
            )
        names = names_in_code()
        names |= {"model": model, "fn": model, "args": tuple(args), "kwargs": dict(kwargs or {})}
        with tempfile.TemporaryDirectory() as folder:
            # The code that views show, except that it writes no file of the current folder.
            package = repr(str(Path(folder) / PACKAGE))
            code = self.way.code.replace(f'"{PACKAGE}"', package)
            code = with_imports(in_contexts(code, self.way.contexts))
            try:
                exec(code, names)
            except AttributeError as error:
                if self.way.name not in (BLOCKS, NESTED):
                    raise
                raise CompilescopeError(
                    f"The model has no such blocks: {error}.",
                    f"{self.way.name!r} compiles the blocks of the model that was studied.",
                    "Apply it to a model of that class.",
                ) from error
        return names["compiled"]

    def __str__(self) -> str:
        lines = [f"{self.way.name}: {self.reason}"]
        if self.way.restrictions:
            lines.append(f"Restrictions: {'; '.join(self.way.restrictions)}.")
        return "\n".join([*lines, "", self.code])

    def __repr__(self) -> str:
        return f"<recommendation for {self.objective}: {self.way.name}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def recommend(
    ways: Iterable[tuple[str, DeployWay]],
    objective: Objective,
    memory_gb: float | None,
    not_tried: Sequence[str] = (),
    failed_study: Problem | None = None,
) -> Recommendation:
    """The recommended way; see `Report.best`.

    Parameters
    ----------
    ways
        Each with its variant's name.
    not_tried
        Names of ways that were not measured and could have been.
    failed_study
        Why a study of the ways failed; None if none did.

    Raises
    ------
    CompilescopeError
        Nothing was measured or the study failed, the objective is unknown, no way fits in the
        memory, or all are slower than eager, which is not among them.
    """
    if objective not in OBJECTIVES:
        raise CompilescopeError(
            f"There is no objective {objective!r}.",
            remedy="Give 'latency', 'cold' or 'balanced'.",
        )
    _check_memory(memory_gb)
    ways = list(ways)
    counted = [(variant, way) for variant, way in ways if counts(way)]
    failed = next((way for _, way in ways if way.problem is not None), None)
    if not counted and failed is not None and failed.problem is not None:
        raise CompilescopeError(
            "No way to deploy the call can be recommended.",
            f"{failed.name} failed: {failed.problem.what}",
            failed.problem.remedy,
        )
    if not counted and failed_study is not None:
        raise CompilescopeError(
            "No way to deploy the call was measured.",
            " ".join(filter(None, [failed_study.what, failed_study.why])),
            failed_study.remedy,
        )
    if not counted:
        raise CompilescopeError(
            "No way to deploy the call was measured.",
            remedy="Measure them first: compilescope.study(report, 'deploy').",
        )
    if all_are_slower(way for _, way in counted):
        raise CompilescopeError(
            "There is no way to recommend.",
            WAYS_SLOWER + _compared(counted, not_tried),
            "To measure the other ways, call compilescope.study(report, 'deploy').",
        )
    fits = [
        (variant, way)
        for variant, way in counted
        if memory_gb is None or (way.memory_bytes or math.inf) <= memory_gb * 1e9
    ]
    if not fits:
        least = min(way.memory_bytes or math.inf for _, way in counted)
        raise CompilescopeError(
            f"No way needs less than {memory_gb:g} GB.",
            f"The smallest peak memory until the first result is {least / 1e9:.2f} GB.",
            "Allow more memory, or use a smaller call.",
        )
    # Eager always has the shortest first call, so a compiled way must be faster in later calls.
    faster = [(variant, way) for variant, way in fits if way.ship_code and _is_faster(way)]
    # Among ways that only may be faster, the choice would be noise.
    eager = [(variant, way) for variant, way in fits if not way.ship_code]
    variant, way = _choose(faster or eager or fits, objective)
    reason = _reason(
        way,
        objective,
        as_fast=_as_fast(way, faster) if faster and objective == "latency" else "",
        has_compiled=any(way.ship_code and way.call_us is not None for _, way in ways),
        faster=bool(faster),
        undecided=_undecided(fits),
    )
    reason += _compared(fits, not_tried)
    doubts = _unsettled(way for _, way in fits)
    return Recommendation(way, variant, objective, " ".join(filter(None, [reason, doubts])))


def _compared(ways: Iterable[tuple[str, DeployWay]], not_tried: Sequence[str]) -> str:
    """A sentence on the ways that were compared; empty if all that can be tried were."""
    if not not_tried:
        return ""
    names = dict.fromkeys(way.name for _, way in ways)
    return f" Compared: {', '.join(names)}. Not tried: {', '.join(dict.fromkeys(not_tried))}."


def _check_memory(memory_gb: object) -> None:
    if memory_gb is None:
        return
    if isinstance(memory_gb, bool) or not isinstance(memory_gb, (int, float)) or not memory_gb > 0:
        raise CompilescopeError(
            f"memory_gb is {memory_gb!r}.", remedy="Give a number above 0 (GB), or None: no limit."
        )


def judge(ways: Sequence[DeployWay]) -> str:
    """Fills in the fields that follow from the measurements of a variant's ways.

    Returns
    -------
    str
        Which way is recommended for which objective, or why none is. Empty if there is no choice.
    """
    front = {id(way) for way in pareto(ways)}
    for way in ways:
        way.as_eager = is_as_eager(way)
        way.first_s = None if way.cold_s is None else first_s(way)
        way.relative = _relative(way) if math.isfinite(_relative(way)) else None
        way.is_pareto = id(way) in front
        way.paste_code = "" if way.cold_s is None else paste_code(way)
        way.best_for = []
    counted = [way for way in ways if counts(way)]
    if not counted:
        return ""
    doubts = _unsettled(counted)
    if all_are_slower(counted):
        return " ".join(filter(None, [WAYS_SLOWER, doubts]))
    if _undecided([("", way) for way in counted]):
        return WAYS_UNDECIDED
    best = {
        objective: recommend([("", way) for way in ways], objective, None).way
        for objective in OBJECTIVES
    }
    for objective, way in best.items():
        way.best_for.append(objective)
    if len(counted) == 1:
        return ""
    faster = [("", way) for way in counted if way.ship_code and _is_faster(way)]
    if not faster:
        return " ".join(filter(None, [WAYS_SLOWER, doubts]))
    as_fast = _as_fast(best["latency"], faster)
    unclear = f" ({as_fast}: no clear difference)" if as_fast else ""
    chosen = [
        f"{_GOALS[objective].capitalize()}: {way.name}{unclear if objective == 'latency' else ''}."
        for objective, way in best.items()
    ]
    return " ".join(filter(None, [*chosen, doubts]))


def all_are_slower(ways: Iterable[DeployWay]) -> bool:
    """Whether the calls of all ways take at least as long as eager's, which is not among them."""
    return all(way.ship_code and not _is_faster(way) and not _may_be_faster(way) for way in ways)


_ARGUMENTS = "# args and kwargs: the arguments of a call, such as args, kwargs = (x,), {}\n"
"""The first line of code that needs them."""


def paste_code(way: DeployWay) -> str:
    """Code to paste: creates ``compiled``, and writes and loads the shipped files if that works."""

    def whole(code: str) -> str:
        settings = "".join(f"{line}\n" for line in way.process_settings)
        arguments = _ARGUMENTS if re.search(r"\bargs\b", code) else ""
        return arguments + with_imports(f"{settings}{in_contexts(code, way.contexts)}")

    if way.shipped_s is None or way.shipped_accurate is False:
        return whole(way.code)
    writing = [
        "",
        "# Once, after a first call: writes what is shipped.",
        "compiled(*args, **kwargs)",
        way.ship_code,
    ]
    code = "\n".join([way.code, *([] if way.ship_code == WRITTEN else writing)])
    return "\n".join([whole(code), "", "# In each process that serves:", whole(way.load_code)])


def counts(way: DeployWay) -> bool:
    """Whether a way can be recommended: it was measured and never returns wrong results.

    The same must hold for its shipped files, if they were tried. Results that draw random numbers
    are not compared.
    """
    measured = way.cold_s is not None and way.call_us is not None
    return measured and is_as_eager(way) is not False and way.safe and way.problem is None


def is_as_eager(way: DeployWay) -> bool | None:
    """What `DeployWay.as_eager` is for these measurements."""
    return False if way.shipped_accurate is False else way.accurate


def first_s(way: DeployWay) -> float:
    """Seconds until the first result in a fresh process, with the shipped files if they work."""
    if way.shipped_s is not None and way.shipped_accurate is not False:
        return min(way.shipped_s, math.inf if way.cold_s is None else way.cold_s)
    return math.inf if way.cold_s is None else way.cold_s


def pareto(ways: Sequence[DeployWay]) -> list[DeployWay]:
    """The ways that no other beats in both the first call and later calls.

    Ways whose latency is too noisy to judge neither beat another nor are among them.
    """
    counted = [way for way in ways if counts(way) and not _may_be_faster(way)]
    return [
        way
        for way in counted
        if not any(_beats(other, way) for other in counted if other is not way)
    ]


def _beats(way: DeployWay, other: DeployWay) -> bool:
    firsts, calls = (first_s(way), first_s(other)), (_relative(way), _relative(other))
    no_worse = firsts[0] <= firsts[1] and calls[0] <= calls[1]
    return no_worse and (firsts[0] < firsts[1] or calls[0] < calls[1])


def _choose(ways: Sequence[tuple[str, DeployWay]], objective: Objective) -> tuple[str, DeployWay]:
    if objective == "cold":
        return min(ways, key=lambda named_way: (first_s(named_way[1]), _relative(named_way[1])))
    if objective == "balanced":
        return min(ways, key=lambda named_way: first_s(named_way[1]) * _relative(named_way[1]))
    return min(_alike(ways), key=lambda named_way: first_s(named_way[1]))


def _alike(ways: Sequence[tuple[str, DeployWay]]) -> list[tuple[str, DeployWay]]:
    """The fastest way, and those that do not differ from it beyond noise."""
    fastest = min((way for _, way in ways), key=_relative)
    least = _interval(fastest)[0]
    return [
        named_way
        for named_way in ways
        if named_way[1] is fastest or _interval(named_way[1])[1] >= least
    ]


def _as_fast(way: DeployWay, ways: Sequence[tuple[str, DeployWay]]) -> str:
    """The ways with a lower latency than one from which they do not differ beyond noise."""
    names = (other.name for _, other in _alike(ways) if _relative(other) < _relative(way))
    return ", ".join(dict.fromkeys(names))


def _undecided(ways: Sequence[tuple[str, DeployWay]]) -> list[str]:
    """The names of the ways that may be faster than eager, if none clearly is."""
    if any(way.ship_code and _is_faster(way) for _, way in ways):
        return []
    return [way.name for _, way in ways if way.ship_code and _may_be_faster(way)]


def _unsettled(ways: Iterable[DeployWay]) -> str:
    """A sentence about the ways whose latencies had not settled; empty if all had."""
    names = [way.name for way in ways if not way.settled]
    if not names:
        return ""
    return f"Latencies had not settled when the warm-up ended: {', '.join(dict.fromkeys(names))}."


def _may_be_faster(way: DeployWay) -> bool:
    return way.speedup is not None and way.speedup.standing in ("noisy", "few")


def _is_faster(way: DeployWay) -> bool:
    """Whether the measurement shows that its calls are faster than eager's."""
    return way.speedup is not None and way.speedup.standing == "faster"


def _relative(way: DeployWay) -> float:
    if not way.ship_code:
        return 1.0  # differences between eager and itself are noise
    return math.inf if way.speedup is None else 1 / way.speedup.ratio


def _interval(way: DeployWay) -> tuple[float, float]:
    """The interval of its speedup over eager."""
    if way.speedup is None or way.speedup.interval is None:
        return (1.0, 1.0)
    return way.speedup.interval


def _reason(
    way: DeployWay,
    objective: Objective,
    *,
    as_fast: str,
    has_compiled: bool,
    faster: bool,
    undecided: Sequence[str],
) -> str:
    measured = f"a call takes {duration(way.call_us or 0)}"
    if way.ship_code:
        measured += f", in eager {duration(way.eager_us or 0)}"
    if way.speedup is not None and way.ship_code:
        measured += f" ({way.speedup.text})"
    measured += f", the first result {duration((way.cold_s or 0) * 1e6)} with nothing cached"
    if way.shipped_s is not None:
        shipped = f"the {size(way.ship_bytes or 0)} it ships"
        measured += f" and {duration(way.shipped_s * 1e6)} with {shipped}"
    if undecided:
        return f"{measured}. {WAYS_UNDECIDED} Not judged: {', '.join(dict.fromkeys(undecided))}."
    if not has_compiled:
        return f"no compiled way was measured; {measured}."
    if not faster:
        return f"no compiled way is faster than eager here; {measured}."
    if as_fast:
        goal = f"fastest first call among ways with no clear difference ({as_fast})"
    else:
        goal = _GOALS[objective]
    return f"the {goal}: {measured}."
