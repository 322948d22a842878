"""Suggests to compile a repeated block once, and reports the result of the trial."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ....report import Report, Suggestion, VariantReport
from ....report.measurements.deployment import BLOCKS, NESTED, WHOLE, DeployWay
from ....report.problem import STUDY_FAILED
from ....report.units import duration
from ...graphs.repeated_blocks import compile_each, repeated_blocks, written_path
from ..cpp_wrapper_gain import CHANCE, first_call, trusted
from ..time_breakdown import parts_of_call
from .ranked_suggestion import Ranked

_SLOW_S = 3.0
"""If the first call is shorter than this, regional compilation is not suggested."""
_WORTH = 0.6
"""If regional compilation leaves more than this share of the first call, it is not suggested."""


def regional_compilation(report: Report, now: VariantReport) -> Iterator[Ranked]:
    """Suggests regional compilation if many equal blocks make the first call long.

    After a trial the suggestion stays, and reports the result.
    """
    cold_s = first_call(now)
    trial = _trial(now)
    if cold_s is None or now.target is not None or (trial is None and cold_s < _SLOW_S):
        return
    best = max(
        (
            (blocks, compilation)
            for compilation in now.compilations
            if (blocks := repeated_blocks(compilation)) is not None
        ),
        key=lambda repeated: repeated[0].share,
        default=None,
    )
    if best is None:
        return
    blocks, compilation = best
    if blocks.differs and (trial is None or trial.quickest is None):
        return
    # Equal blocks share their kernels: those are built once in any case.
    built_s = _built_s(now)
    left_s = built_s + (cold_s - built_s) * (1 - blocks.share * (1 - 1 / blocks.number))
    if trial is None and left_s > _WORTH * cold_s:
        return
    kind, path = blocks.type or "block", written_path(blocks.path, compilation, report.subject)
    suggestion = Suggestion(
        what=f"Compile the repeated block once: {kind} \u00d7 {blocks.number} in {path}",
        why="Equal blocks share one compilation; each is then a separate call.",
        code=compile_each(
            path, torchs_own=blocks.torchs_own, only=blocks.type if blocks.mixed else ""
        ),
        place="in place of torch.compile, before the first call",
        of=now.name,
    )
    left = left_s / cold_s
    if trial is not None:
        left = _tried(suggestion, trial, now)
    else:
        suggestion.gain = (
            f"first call {duration(cold_s * 1e6)} \u2192 about {duration(left_s * 1e6)}"
            f"{_entering(now, blocks.number - 1)}"
        )
        suggestion.basis, suggestion.view = "estimated", "compile-time"
        # The study compiles the blocks of a list that holds nothing else.
        tries = report.subject.kind == "module" and not blocks.mixed
        suggestion.study = "blocks" if tries else ""
    yield Ranked(0.25 * max(1 - left, 0.0), suggestion, trial is not None)


def _built_s(now: VariantReport) -> float:
    """How long the first call waited for kernels to be built."""
    kinds = now.compile_time.kinds if now.compile_time is not None else []
    return sum(kind.self_us for kind in kinds if kind.kind in ("triton", "cpp_build")) / 1e6


def _entering(now: VariantReport, times: int) -> str:
    """What entering compiled code more often costs, in words; empty if unknown.

    At most: a block has fewer inputs and guards than the whole.
    """
    if not now.layers or not trusted(now):
        return ""
    entry = sum(
        layer.us
        for layer in parts_of_call(now)
        if layer.kind in ("guards", "bytecode", "aot", "inductor")
    )
    return f", but up to {duration(entry * times)} more per call"


class _Trial(NamedTuple):
    """The result of compiling the repeated block once."""

    quickest: DeployWay | None
    """The way with the shortest first call of those with correct results."""
    why: str = ""
    """Why there is no such way."""


def _trial(now: VariantReport) -> _Trial | None:
    """The result of the trial; None if it was not tried."""
    ways = [way for way in now.ways if way.name in (BLOCKS, NESTED)]
    measured = [way for way in ways if way.cold_s is not None and not way.why]
    right = [way for way in measured if way.accurate is not False and way.problem is None]
    if right:
        return _Trial(min(right, key=lambda way: way.cold_s or 0.0))
    failed = STUDY_FAILED.format("blocks")
    problems = [problem for problem in now.problems if problem.what == failed]
    whys = [
        *(way.problem.what for way in ways if way.problem is not None),
        *("the results differ from eager's" for way in measured if way.accurate is False),
        *(way.why for way in ways if way.why),
        *(problem.why for problem in problems),
    ]
    return _Trial(None, whys[0]) if whys else None


def _tried(suggestion: Suggestion, trial: _Trial, now: VariantReport) -> float:
    """Adds the trial's result to the suggestion; returns the share of the first call that is left.

    Both first calls are those of new processes with nothing cached.
    """
    quickest = trial.quickest
    suggestion.view = "sweep"
    if quickest is None or quickest.cold_s is None:
        suggestion.gain, suggestion.study = f"failed: {trial.why}", "blocks"
        suggestion.code = suggestion.place = ""
        return 1.0
    over = quickest.speedup
    decided = over is not None and over.standing in ("faster", "slower")
    then = f", then {over.text} than eager" if over is not None and decided else ""
    suggestion.basis = "measured"
    if quickest.name == NESTED:
        suggestion.code = quickest.code
    whole_s = next((way.cold_s for way in now.ways if way.name == WHOLE), None)
    after = duration(quickest.cold_s * 1e6)
    if whole_s is None:  # a file of an earlier version
        suggestion.gain = f"first call in a new process {after}{then}"
        return 1.0
    shorter = f"first call in a new process {duration(whole_s * 1e6)} \u2192 {after}{then}"
    suggestion.gain = shorter
    if quickest.cold_s > (1 - CHANCE) * whole_s:
        suggestion.gain = f"no gain: {shorter}"
        suggestion.code = suggestion.place = ""
    return quickest.cold_s / whole_s
