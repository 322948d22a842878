"""The code of a subject's variants: generated here or in another process, added to the report."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from ..guards.variant_guards import VariantGuards
from ..isolation.separate_context import in_separate_context
from ..progress.progress import Monitor
from ..report import Report, VariantReport
from ..report.variant import Variant
from ..targets.whole_call import SentCall
from . import report_updates
from .code_generation import CodeGeneration
from .results import Results


class VariantSources:
    """Generates the code of variants and adds it to a report.

    `capture` calls the subject and belongs on the main thread. `generate` and `generate_elsewhere`
    call no user code and may run in any thread.

    Parameters
    ----------
    report
        The report that grows.
    results
        Adds to the report.
    generation
        Captures the subject's graphs, and generates code from them.
    guards
        Takes the guards of the captures, for questions about other calls.
    """

    def __init__(
        self, report: Report, results: Results, generation: CodeGeneration, guards: VariantGuards
    ) -> None:
        self._report = report
        self._results = results
        self._generation = generation
        self._guards = guards

    def ready(self) -> list[Variant]:
        """The variants whose code is generated already, but that the report does not have."""
        return self._generation.ready([variant.requested for variant in self._report.variants])

    def has_capture(self, variant: Variant) -> bool:
        """Whether `generate` works for the variant without a call of the subject."""
        return self._generation.has_capture(variant)

    @in_separate_context
    def capture(self, variants: Mapping[str, Variant], monitor: Monitor) -> None:
        """Runs the subject once for every kind of capture that the variants need."""
        for name, variant in variants.items():
            if not self.has_capture(variant):
                monitor.step("Dynamo is tracing the call", variant=name)
                unsaved = self._generation.capture(variant, monitor)
                report_updates.note_unsaved(self._report, unsaved)

    def capture_for_sources(
        self, variants: Mapping[str, Variant], monitor: Monitor
    ) -> SentCall | None:
        """Calls the subject as often as the sources of these variants need it.

        Dynamic sizes take Dynamo several times as long. So the usual variant is captured first if
        nothing is yet: with that, another process may be able to capture them.

        Returns
        -------
        SentCall or None
            The call with its data, if variants need them in the other process; the caller closes
            it.
        """
        running: dict[str, Variant] = {}
        for name, variant in variants.items():
            if variant.dynamic and not self.has_capture(Variant()):
                self.capture({name: Variant()}, monitor)
            if self.has_capture(variant) or self.may_generate_elsewhere(variant):
                continue
            if self._generation.may_run_elsewhere(variant):
                running[name] = variant
            else:
                self.capture({name: variant}, monitor)
        # Last, and once: nothing can fail while the copy of the data is there.
        sent = self._generation.packed_with_values() if running else None
        if sent is None:
            self.capture(running, monitor)
        return sent

    def may_generate_elsewhere(self, variant: Variant) -> bool:
        """Whether `generate_elsewhere` may succeed for a variant that has no capture."""
        return self._generation.may_generate_elsewhere(variant)

    @in_separate_context
    def generate_elsewhere(
        self,
        variants: Mapping[str, Variant],
        monitor: Monitor,
        sent: SentCall | None = None,
    ) -> bool:
        """Generates the sources of variants without a capture in another process.

        It runs nothing of the subject in this process, so a cell may run meanwhile.

        Parameters
        ----------
        sent
            What `capture_for_sources` returned.

        Returns
        -------
        bool
            False if one of them needs a capture, which calls the subject.
        """
        for name, variant in variants.items():
            result = self._generation.generate_elsewhere(name, variant, monitor, sent)
            if result is None:
                return False
            self._results.put_generated(result, lambda: None)
        return True

    @in_separate_context
    def generate(
        self, variants: Mapping[str, Variant], monitor: Monitor, *, is_shown: bool = False
    ) -> None:
        """Generates the sources of variants that have a capture; builds nothing.

        Those for a target are generated in the target's process.

        Parameters
        ----------
        is_shown
            Whether someone sees the report grow: the first variant's graphs precede its code.
        """
        for index, (name, variant) in enumerate(variants.items(), start=1):
            coming = list(variants.values())[index:]
            is_first = is_shown and not self._report.variants
            captured = self._generation.captured(name, variant) if is_first else None
            with self._results.meanwhile(captured):
                monitor.step("generating code", variant=name)
                result = self._generation.generate(variants, name, coming, monitor)
                if result.stage == "failed":
                    monitor.check()
            self._results.put_generated(result, functools.partial(self._keep_guards, name, variant))

    def add_to_build(self, built: VariantReport, variant: Variant, monitor: Monitor) -> None:
        """Generates the code of a variant whose build lacks some; calls the subject if needed."""
        self.capture({built.name: variant}, monitor)
        monitor.step("generating code", variant=built.name)
        self._results.add_sources(self._generation.sources(built.name, variant), built)

    def _keep_guards(self, name: str, variant: Variant) -> None:
        evaluable_guards = self._generation.evaluable_guards(variant)
        if evaluable_guards is not None:
            self._guards.add(name, evaluable_guards)
