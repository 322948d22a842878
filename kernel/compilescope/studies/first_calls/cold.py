"""The effect of torch's settings on a first call's time, each in separate processes.

Measured cold, also without precompiled C++ headers, and with the caches that this run filled; then
the latency. The unchanged settings run first and last: their difference is noise.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from ...analysis.phases.cold import add_words, compare
from ...processes.folders import temporary
from ...report import ColdSwitch
from ...report.measurements.timings import AS_IT_IS, HEADERS_KEPT, ONCE_MORE
from ...report.problem import Problem
from ...report.variant import Variant
from ...subject.subject import describe
from ...torch_api.inductor.first_call_settings import INDUCTOR, Switch, switches
from ..context import StudyContext
from .cold_process import COMMAND, ColdResult
from .processes import first_call, packed, task

HOW = (
    "Each figure is one first call in a new process; the latency of later calls is the median "
    "over half a second in the process with warm caches."
)
_HEADERS = "precompiled_headers"
_NONE = Switch({}, "")


def study_cold(study: StudyContext) -> None:
    """Fills in what each setting changes, row by row: what was measured before a cancel stays.

    Raises
    ------
    CompilescopeError
        The subject cannot be sent to another process.
    """
    variant = study.report.requested
    subject = packed(study)
    device = describe(study.fn, study.args, study.kwargs).device
    cold_switches = switches(variant, device)
    looks = _ColdRuns(study, subject, 2 + sum(not switch.why for switch in cold_switches))
    rows: list[ColdSwitch] = []

    def add(row: ColdSwitch) -> None:
        rows.append(row)
        compare(rows)
        study.report.cold = list(rows)
        add_words(study.report)
        study.changed()

    with temporary("cold") as folder:
        headers = folder / _HEADERS
        first = ColdSwitch(switch=AS_IT_IS, title="torch's settings as they are here", how=HOW)
        looks.row(first, _NONE, headers)
        add(first)
        if headers.exists():
            headers_row = ColdSwitch(
                switch=HEADERS_KEPT,
                title="C++ headers precompiled by an earlier first call, as they stay on a machine",
                why="Warm is as in the row before.",
            )
            looks.cold(headers_row, headers)
            add(headers_row)
    for switch in cold_switches:
        row = ColdSwitch(
            switch=switch.names,
            value=switch.values,
            title=switch.title,
            code=switch.code,
            why=switch.why,
        )
        if not switch.why:
            looks.row(row, switch)
        add(row)
    last = ColdSwitch(switch=AS_IT_IS, value=ONCE_MORE, title="repeated to show the noise")
    looks.row(last, _NONE)
    add(last)


class _ColdRuns:
    """The processes, one after the other.

    Parameters
    ----------
    rows
        How many rows there will be with two processes each.
    """

    def __init__(self, study: StudyContext, subject: bytes, rows: int) -> None:
        self._study = study
        self._subject = subject
        self._rows = rows
        self._done = 0.0

    def row(self, row: ColdSwitch, switch: Switch, headers: Path | None = None) -> None:
        """Fills in a row: a first call in empty caches, and one in what this has filled."""
        with temporary("cold") as folder:
            caches = folder
            for cache in ("cold", "warm"):
                if row.problem is None:
                    self._call(row, switch, caches, headers or caches / _HEADERS, cache)
        self._done += 1

    def cold(self, row: ColdSwitch, headers: Path) -> None:
        """Fills in the first call in empty caches alone, with headers that there are."""
        with temporary("cold") as folder:
            self._call(row, _NONE, folder, headers, "cold")

    def _call(
        self,
        row: ColdSwitch,
        switch: Switch,
        caches: Path,
        headers: Path,
        cache: Literal["cold", "warm"],
    ) -> None:
        study = self._study
        study.monitor.step(
            f"{' '.join((row.switch, row.value)).strip()}, {cache}",
            variant=study.report.name,
            fraction=min((self._done + (cache == "warm") / 2) / self._rows, 1.0),
        )
        header: dict[str, Any] = {
            "cache": cache,
            "headers": str(headers),
            "settings": switch.settings,
            "timed": cache == "warm",
        }
        packed_task = task(_with_switch(study.report.requested, switch), self._subject)
        answer = first_call(study, COMMAND, packed_task, caches, header, variables=switch.variables)
        if isinstance(answer, Problem):
            row.problem = answer
        else:
            _fill(row, cache, msgspec.json.decode(answer, type=ColdResult))


def _with_switch(variant: Variant, switch: Switch) -> Variant:
    """A variant whose own options, which override torch's settings, are as the switch says."""
    settings = switch.settings.get(INDUCTOR, {})
    options = {name: settings.get(name, value) for name, value in variant.options.items()}
    return msgspec.structs.replace(variant, options=options)


def _fill(row: ColdSwitch, cache: Literal["cold", "warm"], measured: ColdResult) -> None:
    startup = measured.startup
    if startup.problem is not None:
        row.problem = startup.problem
    elif cache == "cold":
        row.cold_s, row.cold_parts = startup.first_call_s, startup.parts
    else:
        row.warm_s, row.warm_parts = startup.first_call_s, startup.parts
    if measured.timing is not None:
        timing = measured.timing
        row.call_us = timing.median_us
        row.call_interval_us = None if timing.few else timing.interval_us
