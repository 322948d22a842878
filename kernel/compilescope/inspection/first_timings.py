"""Times variants that were just built, interleaved with eager, for the first figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..builds.build_and_time import time_variants
from ..builds.built_variants import BuiltVariants
from ..builds.subject_error import CALL_ERRORS
from ..isolation.user_state import Snapshot
from ..progress.progress import Cancelled, Monitor
from ..report import Report, Timing
from ..report.variant import Variant
from ..torch_api.failures import failures
from . import report_updates
from .results import Results

LONG_S = 10.0
"""If a variant's first call takes longer, its latency is shown before the next one is built."""


class FirstTimings:
    """The timings of one run of builds.

    Parameters
    ----------
    report, results
        The subject's.
    builds
        The subject's builds, open.
    requested
        Name → the variant that is built.
    snapshot
        The state that calls begin with.
    """

    def __init__(
        self,
        report: Report,
        results: Results,
        builds: BuiltVariants,
        requested: Mapping[str, Variant],
        snapshot: Snapshot,
        monitor: Monitor,
    ) -> None:
        self._report, self._results, self._builds = report, results, builds
        self._requested, self._snapshot, self._monitor = requested, snapshot, monitor

    def between(self, name: str) -> None:
        """Times a variant before the next one is built, if builds take long.

        All variants are timed together afterwards, which replaces this timing.
        """
        built = report_updates.find(self._report, name)
        if built is None or built.compile_time is None or built.compile_time.total_s < LONG_S:
            return
        names = list(self._requested)
        done = (names.index(name) + 1) / (len(names) + 1)
        try:
            timings = self._time([name], done)
        except Cancelled:
            raise
        except CALL_ERRORS:  # `time_all` reports it
            return
        finally:
            self._snapshot.restore()
        self._results.put_timings(timings)

    def time_all(self, long: Mapping[str, Timing]) -> None:
        """Times all that were built, together with earlier builds of the report.

        Parameters
        ----------
        long
            The timings of a measurement, which a short one does not replace.
        """
        requested, variants = self._requested, self._report.variants
        # What was just built is timed even if each call compiles: its calls may read a clock.
        others = [variant for variant in variants if variant.name not in requested]
        earlier = {variant.name: variant.requested for variant in others}
        beside = self._builds.fit(earlier, self._snapshot, self._monitor)
        built = [variant for variant in variants if variant.name in requested]
        if not any(variant.stage == "built" for variant in built):
            return
        ready = [
            variant.name for variant in built if self._builds.find(variant.name, variant.requested)
        ]
        report_updates.note_evicted(self._report, requested, ready)
        try:
            timings = self._time([*ready, *beside])
        except Cancelled:
            raise
        except CALL_ERRORS as error:  # what is built stays
            report_updates.note_untimed(self._report, ready, failures.of_later_call(error))
            return
        measured = [other.name for other in others if other.timing is long.get(other.name, 0)]
        self._results.put_timings(timings, but=measured)

    def _time(self, names: Sequence[str], done: float | None = None) -> dict[str, Timing]:
        return time_variants(
            self._builds,
            names,
            self._snapshot,
            self._monitor,
            fraction=done,
            is_provisional=done is not None,
        )
