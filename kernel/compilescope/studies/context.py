"""The context of a study: the variant's report to complete, and the available resources."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..builds.built_variants import VariantBuild
from ..isolation.code_swap import CodeCopies
from ..isolation.user_state import Snapshot
from ..processes.executors import ExecutorChoice
from ..progress.progress import Monitor
from ..report import Peaks, VariantReport
from ..targets.call_packer import CallPacker
from .options import Selected

ALREADY_PROFILING = (
    "torch's profiler is already running, and only one can run. Run the study again when it has "
    "stopped."
)


class StudyProcesses(NamedTuple):
    """Where the processes of a study run, and how they get the call; for studies with a choice."""

    executor: ExecutorChoice = None
    """The executor that runs the processes; None: this machine."""
    factory: Callable[[], Any] | None = None
    """Returns the report's call as (fn, args) or (fn, args, kwargs) in each process; None: the call
    is pickled."""


HERE = StudyProcesses()
"""Processes on this machine that get the pickled call."""


@dataclass
class StudyContext:
    """A study of a variant that runs on this machine.

    The study runs on the thread that may call the subject. It restores ``snapshot`` whenever the
    subject's state must be as it was; the caller does so at the end. The caller isolates Dynamo and
    guards the code copies, as in `builds.build_and_time`.
    """

    fn: Callable[..., Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    report: VariantReport
    """The variant, which the study completes in place."""
    peaks: list[Peaks]
    """The report's peaks; a study may add a device's."""
    code_copies: CodeCopies
    snapshot: Snapshot
    monitor: Monitor
    existing: VariantBuild | None = None
    """A build that may be called in place of a new one; its code is installed."""
    options: Selected = field(default_factory=dict)
    """What is selected with the study's options."""
    processes: StudyProcesses = HERE
    changed: Callable[[], None] = lambda: None
    """Called by a study that takes minutes when there is more in the report, for who watches."""


@dataclass
class TargetContext:
    """A study of a variant for a target: nothing of it is called in this process."""

    report: VariantReport
    """The variant, which the study completes in place."""
    call_packer: CallPacker
    monitor: Monitor
