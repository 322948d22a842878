"""Compares the ways to deploy a call, each in separate processes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ...processes.folders import temporary
from ...report import VariantReport
from ...report.measurements.deployment import (
    BLOCKS,
    NESTED,
    WAYS_PENDING,
    WHOLE,
    DeployWay,
    in_contexts,
)
from ...report.measurements.recommendation import judge
from ...report.measurements.way_remarks import remarks_on
from ...report.problem import Problem
from ...subject.subject import describe
from ..context import StudyContext
from ..first_calls.processes import first_call, packed, task
from ..options import check_names
from ..table import STUDIES
from .candidates import candidates
from .deploy_progress import DeployProgress
from .way_process import COMMAND, Phase, WayResult
from .ways import EAGER


def study_deploy(study: StudyContext) -> None:
    """Fills in the variant's ways, row by row: what was measured before a cancel stays.

    With the option ``ways``, those alone are measured; rows of other ways stay as they are.

    Raises
    ------
    CompilescopeError
        The subject cannot be sent to another process, or has none of the ways.
    """
    _study_ways(study, study.options.get("ways"))


def study_blocks(study: StudyContext) -> None:
    """Fills in the ways that compile a repeated block once, beside those that are there.

    The whole call is compiled in a new process, too: the first call in this process has less to do.

    Raises
    ------
    CompilescopeError
        The subject cannot be sent to another process.
    """
    has_whole = any(way.name == WHOLE and way.cold_s is not None for way in study.report.ways)
    _study_ways(study, (BLOCKS, NESTED) if has_whole else (WHOLE, BLOCKS, NESTED))


def _study_ways(study: StudyContext, names: Sequence[str] | None) -> None:
    report = study.report
    available = candidates(study.fn, study.args, study.kwargs, report)
    selected = [way for way in available if names is None or way.name in names]
    if not selected and names:
        # The names are those of another variant: of one with the other wrapper.
        (option,) = STUDIES["deploy"].options
        check_names(option, names, [way.name for way in available])
    packed_task = task(report.requested, packed(study))
    device = describe(study.fn, study.args, study.kwargs).device
    deploy_progress = DeployProgress([way for way in selected if not way.why], report)
    try:
        if selected:
            # No recommendation of an earlier study stays while the first way is measured.
            _conclude(report, available, selected)
            study.changed()
        for index, way in enumerate(selected):
            if not way.why:
                began = time.monotonic()
                _measure(study, way, packed_task, device, deploy_progress)
                way.took_s = time.monotonic() - began
                deploy_progress.end(way)
            _put(report, way, available)
            if waiting := selected[index + 1 :]:
                _conclude(report, available, waiting)
                study.changed()
    finally:
        # A canceled study has a verdict too, on what it measured.
        _conclude(report, available)
        study.changed()


def _put(report: VariantReport, way: DeployWay, available: Sequence[DeployWay]) -> None:
    """Adds a way in the order of measuring, in place of its earlier measurement."""
    rows = {known.name: known for known in report.ways} | {way.name: way}
    order = [candidate.name for candidate in available if candidate.name in rows]
    report.ways = [rows[name] for name in dict.fromkeys([*order, *rows])]


def _conclude(
    report: VariantReport, available: Sequence[DeployWay], waiting: Sequence[DeployWay] = ()
) -> None:
    """Judges the ways measured so far; nothing is recommended while others wait."""
    report.best_way, report.ways_remarks = judge(report.ways), remarks_on(report.ways)
    pending = [way.name for way in waiting if not way.why]
    if pending:
        for way in report.ways:
            way.best_for = []
        measured = sum(way.cold_s is not None and way.name not in pending for way in report.ways)
        report.best_way = WAYS_PENDING.format(measured, measured + len(pending))
    known = {*pending, *(way.name for way in report.ways)}
    report.ways_not_tried = [way.name for way in available if way.name not in known and not way.why]


def _measure(
    study: StudyContext,
    way: DeployWay,
    packed_task: bytes,
    device: str,
    deploy_progress: DeployProgress,
) -> None:
    """Measures a way in up to three processes."""

    def process(phase: Phase, code: str, caches: Path, folder: Path) -> WayResult:
        shown = ""

        def show() -> None:
            nonlocal shown
            step, fraction = deploy_progress.step(way, phase)
            if step != shown:
                shown = step
                study.monitor.step(step, variant=study.report.name, fraction=fraction)

        show()
        header = {
            "phase": phase,
            "code": in_contexts(code, way.contexts),
            "is_eager": way.name == EAGER,
            "ship": way.ship_code if phase == "cold" else "",
            "folder": str(folder),
            "device": device,
        }
        answer = first_call(study, COMMAND, packed_task, caches, header, meanwhile=show)
        if isinstance(answer, Problem):
            return WayResult(problem=answer)
        return msgspec.json.decode(answer, type=WayResult)

    with temporary("deploy") as place:
        caches, empty, folder = (place / name for name in ("caches", "empty", "shipped"))
        for directory in (caches, empty, folder):
            directory.mkdir()
        if way.name != EAGER:
            cold = process("cold", way.code, caches, folder)
            way.cold_s, way.problem = cold.first_s, cold.problem
            way.ships, way.ship_bytes = list(cold.ships), sum(cold.ships.values()) or None
            way.shipped_why = cold.ship_problem or way.shipped_why
            if way.problem is not None:
                return
            if cold.ships:
                shipped = process("shipped", way.load_code, empty, folder)
                way.shipped_s, way.shipped_accurate = shipped.first_s, shipped.accurate
                way.comparison = shipped.comparison and f"as shipped, {shipped.comparison}"
                if shipped.problem is not None:
                    way.shipped_why = shipped.problem.what
        cached = process("cached", way.code, caches, folder)
        if way.name == EAGER:
            way.cold_s = cached.first_s
        else:
            way.cached_s = cached.first_s
        way.problem = cached.problem
        way.call_us, way.call_interval_us = cached.call_us, cached.call_interval_us
        way.eager_us, way.memory_bytes = cached.eager_us, cached.memory_bytes
        way.speedup = cached.speedup if way.name != EAGER else None
        way.settled, way.accurate = cached.settled, cached.accurate
        way.comparison = cached.comparison or way.comparison
