"""The results about a subject: its report, and the callbacks for changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from ..builds.built_variants import EAGER
from ..builds.warm_rebuild import Rebuilt, add_warm
from ..report import Report, Timing, VariantReport
from ..report.problem import fault
from ..report.variant import Variant
from . import report_updates


class Results:
    """Adds results to a report, from any thread.

    Parameters
    ----------
    report
        The report that grows.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._changed: Callable[[Collection[str]], None] = lambda variants: None
        self._lock = threading.RLock()
        self._order: Sequence[str] = ()
        """The variants' names: those of an earlier report of the call, and those to come."""

    def on_change(self, changed: Callable[[Collection[str]], None]) -> None:
        """Calls ``changed`` whenever the report has new results.

        Its argument has the variants whose texts, or what their lines mean, may have changed.
        """
        self._changed = changed

    def changed(self, variant: str) -> None:
        """Calls the callback: the results of a variant have changed."""
        self._changed({variant})

    def put(self, result: VariantReport) -> None:
        """Adds a variant, or takes the place of its earlier results."""
        with self._lock:
            changed = report_updates.put(self._report, result, self._order)
        self._changed(changed)

    @contextmanager
    def meanwhile(self, result: VariantReport | None) -> Iterator[None]:
        """Adds a variant that the block completes; removed again if the block raises."""
        if result is not None:
            self.put(result)
        try:
            yield
        except BaseException:
            if result is not None:
                with self._lock:
                    variants = self._report.variants
                    self._report.variants = [known for known in variants if known is not result]
                self._changed({result.name})
            raise

    def put_generated(self, result: VariantReport, added: Callable[[], None]) -> None:
        """Adds a variant's sources, unless a build that has finished meanwhile has more results.

        Parameters
        ----------
        added
            Called if they were added.
        """
        with self._lock:
            changed: Collection[str] = ()
            current = report_updates.find(self._report, result.name)
            if current is None or current.stage != "built":
                changed = report_updates.put(self._report, result, self._order)
                added()
        self._changed(changed)

    def expect(self, names: Sequence[str]) -> None:
        """Sets the order of new variants; eager, their baseline, follows them."""
        known = self._order
        self._order = [*known, *(name for name in [*names, EAGER] if name not in known)]

    def put_built(self, result: VariantReport) -> None:
        """Adds the results of a variant's build to its sources in the report."""
        with self._lock:
            merged = report_updates.merged(self._report, result)
            changed = report_updates.put(self._report, merged, self._order)
        self._changed(changed)

    def put_rebuilt(self, name: str, rebuilt: Rebuilt) -> None:
        """Adds a variant's second compilation, with warm caches."""
        with self._lock:
            variant = self._report.variant(name)
            add_warm(variant, rebuilt)
            report_updates.conclude(self._report, variant)
        self._changed({name})

    def add_sources(self, sources: VariantReport, built: VariantReport) -> None:
        """Adds the sources of a variant whose build lacks some."""
        with self._lock:
            changed = report_updates.put(self._report, sources)
            changed |= report_updates.put(self._report, report_updates.merged(self._report, built))
            if built.timing is not None:
                report_updates.conclude(self._report, built)
        self._changed(changed)

    def put_timings(self, timings: Mapping[str, Timing], but: Collection[str] = ()) -> None:
        """Adds timings and the conclusions from them; some variants keep their timing."""
        if not timings:
            return
        with self._lock:
            report_updates.put_timings(self._report, timings, but)
        self._changed(())

    def conclude(self, variant: VariantReport) -> None:
        """Adds the conclusions from a study of a variant."""
        with self._lock:
            report_updates.conclude(self._report, variant)
        self._changed({variant.name})

    def adopt(self, before: Report, but: Collection[str], requested: Collection[Variant]) -> None:
        """Takes over the variants of an earlier report of the same call, except those named.

        Variants that are requested under another name are left out too. Figures and code are kept;
        builds are not, and are rebuilt when needed. A variant that is inspected again keeps its
        place.
        """
        with self._lock:
            self._order = [variant.name for variant in before.variants]
            report_updates.add_earlier_variants(self._report, before, but, list(requested))

    def fault(self, error: Exception) -> None:
        """Records an error of compilescope, which ends the work on this report."""
        with self._lock:
            self._report.problems.append(fault(error))
        self._changed(())
