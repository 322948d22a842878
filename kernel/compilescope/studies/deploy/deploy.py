"""Compares the ways to deploy a call, each in separate processes."""

from __future__ import annotations

from collections.abc import Sequence

from ...report import VariantReport
from ...report.measurements.deployment import BLOCKS, NESTED, WAYS_PENDING, WHOLE, DeployWay
from ...report.measurements.recommendation import judge
from ...report.measurements.way_remarks import remarks_on
from ...subject import pickled_subject
from ...torch_api.inductor.headers import FIRST_IMPORTS
from ..context import StudyContext
from ..first_calls.processes import packed, task
from ..options import check_names
from ..table import STUDIES
from .candidates import candidates
from .deploy_progress import DeployProgress
from .on_executor import measure_on
from .way_process import COMMAND, Phase
from .way_worker import WayTask, measure_way
from .ways import EAGER


def study_deploy(study: StudyContext) -> None:
    """Fills in the variant's ways, row by row: what was measured before a cancel stays.

    With the option ``ways``, those alone are measured; rows of other ways stay as they are.

    Raises
    ------
    CompilescopeError
        The subject cannot be sent to another process, or has none of the ways.
    """
    _study_ways(study, "deploy", study.options.get("ways"))


def study_blocks(study: StudyContext) -> None:
    """Fills in the ways that compile a repeated block once, besides the existing ones.

    The whole call is compiled in a new process, too: the first call in this process has less to do.

    Raises
    ------
    CompilescopeError
        The subject cannot be sent to another process.
    """
    has_whole = any(way.name == WHOLE and way.cold_s is not None for way in study.report.ways)
    _study_ways(study, "blocks", (BLOCKS, NESTED) if has_whole else (WHOLE, BLOCKS, NESTED))


def _study_ways(study: StudyContext, study_name: str, names: Sequence[str] | None) -> None:
    report = study.report
    available = candidates(study.fn, study.args, study.kwargs, report)
    selected = [way for way in available if names is None or way.name in names]
    if not selected and names:
        # The names are those of another variant: of one with the other wrapper.
        (option,) = STUDIES["deploy"].options
        check_names(option, names, [way.name for way in available])
    measured = [way for way in selected if not way.why]
    deploy_progress = DeployProgress(measured, report)
    waiting = {way.name: way for way in selected}

    def finish(way: DeployWay) -> None:
        if not way.why:
            deploy_progress.end(way)
        _put(report, way, available)
        waiting.pop(way.name)
        if waiting:
            _conclude(report, available, list(waiting.values()))
            study.changed()

    takes_factory = f'compilescope.study(report, "{study_name}", factory=make)'
    subject = packed(study, study.processes.factory, takes_factory=takes_factory)
    packed_task = task(report.requested, subject)
    executor = study.processes.executor
    try:
        if selected:
            # No recommendation of an earlier study stays while the first way is measured.
            _conclude(report, available, selected)
            study.changed()
        if executor is None:
            for way in selected:
                if not way.why:
                    _measure(study, way, packed_task, deploy_progress)
                finish(way)
            return
        for way in selected:
            if way.why:
                finish(way)
        tasks = [_task(way, packed_task, alone=True) for way in measured]
        if tasks:
            measure_on(executor, tasks, study.monitor, deploy_progress, report.name, finish)
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
    study: StudyContext, way: DeployWay, packed_task: bytes, deploy_progress: DeployProgress
) -> None:
    """Measures a way on this machine."""
    running: Phase = "cached" if way.name == EAGER else "cold"
    shown = ""

    def begins(phase: Phase) -> None:
        nonlocal running
        running = phase
        show()

    def show() -> None:
        nonlocal shown
        step, fraction = deploy_progress.step(way, running)
        if step != shown:
            shown = step
            study.monitor.step(step, variant=study.report.name, fraction=fraction)

    def is_cancelled() -> bool:
        show()
        return study.monitor.cancelled

    measure_way(_task(way, packed_task), begins=begins, cancelled=is_cancelled)


def _task(way: DeployWay, packed_task: bytes, *, alone: bool = False) -> WayTask:
    return WayTask(
        way=way,
        packed_task=packed_task,
        command=COMMAND.format(imports=FIRST_IMPORTS),
        header=pickled_subject.header(),
        is_eager=way.name == EAGER,
        alone=alone,
    )
