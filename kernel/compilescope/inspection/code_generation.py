"""Captures a subject's graphs, and generates the code of variants from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from ..builds import code_reports
from ..builds.aot_compiled import is_aot_compiled
from ..builds.capture_graphs import Captured, Key, capture, key_of
from ..builds.sources import generates, is_pregenerated
from ..builds.subject_error import CALL_ERRORS
from ..guards.kept_guards import EvaluableGuards
from ..isolation.code_swap import CodeCopies
from ..isolation.muted_output import quiet
from ..isolation.user_state import preserved
from ..progress.progress import Monitor
from ..report import VariantReport
from ..report.problem import Problem
from ..report.variant import Variant
from ..report.what_if import WhatIf
from ..targets import local_sources, target_variants
from ..targets.call_packer import CallPacker
from ..targets.whole_call import SentCall
from ..torch_api.failures import failures
from ..torch_api.trace.aot_compiled import AotCompiled
from .captures import Captures


def runs_here(variant: Variant) -> bool:
    """Whether a variant is compiled, and for a device of this machine."""
    return variant.backend is not None and variant.target is None


class CodeGeneration:
    """The captures of one subject, and the code generated from them.

    Parameters
    ----------
    fn, args, kwargs
        The call.
    code_copies
        Copies of the user's code, which Dynamo compiles in place of the original.
    call_packer
        The call, packed for the processes that generate code for targets.
    compiled
        The result of ``aot_compile``, if that is the subject.
    has_worked
        Whether the call has succeeded before the inspection.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        code_copies: CodeCopies,
        call_packer: CallPacker,
        compiled: AotCompiled | None,
        has_worked: bool = False,
    ) -> None:
        self._fn, self._args, self._kwargs = fn, args, kwargs
        self._code_copies = code_copies
        self._call_packer = call_packer
        self._compiled = compiled
        self._has_worked = has_worked
        self._captures = Captures()
        self._version = code_copies.version
        self._for_kernel: set[Key] = set()
        """The captures that another process could not make."""

    def is_aot_compiled(self, variant: Variant) -> bool:
        """Whether the subject is a result of ``aot_compile``, which cannot be rebuilt."""
        return self._compiled is not None and is_aot_compiled(variant)

    def has_capture(self, variant: Variant) -> bool:
        """Whether `generate` works for the variant without a call of the subject."""
        if not runs_here(variant) or self.is_aot_compiled(variant):
            return True
        self._drop_outdated()
        return self._captures.find(variant) is not None

    def _drop_outdated(self) -> None:
        """Drops captures of code that the functions do not have any more."""
        self._code_copies.renew()
        if self._version != self._code_copies.version:
            self._version = self._code_copies.version
            self._captures = Captures()
            self._for_kernel.clear()
            self._call_packer.forget_refusal()

    def may_generate_elsewhere(self, variant: Variant) -> bool:
        """Whether `generate_elsewhere` may succeed for a variant that has no capture."""
        known = self._traceable() if self._is_for_others(variant) else None
        return known is not None and local_sources.may_generate(known[1], variant)

    def _is_for_others(self, variant: Variant) -> bool:
        is_inductors = runs_here(variant) and generates(variant)
        return is_inductors and key_of(variant) not in self._for_kernel

    def may_run_elsewhere(self, variant: Variant) -> bool:
        """Whether `generate_elsewhere` may succeed for a variant with the call's data.

        Ask if it does not succeed without them.
        """
        is_breaking = variant.fullgraph  # it fails at the first graph break
        return not is_breaking and self._is_for_others(variant) and self._known_run() is not None

    def packed_with_values(self) -> SentCall | None:
        """The call with its data, which the caller closes; None if it cannot travel.

        Call it on the thread that calls the subject.
        """
        return local_sources.packed_with_values(self._call_packer)

    def generate_elsewhere(
        self, name: str, variant: Variant, monitor: Monitor, sent: SentCall | None = None
    ) -> VariantReport | None:
        """Generates the code of a variant in another process; None if it needs a capture here.

        Parameters
        ----------
        sent
            What `packed_with_values` returned, if the variant needs it.

        Raises
        ------
        Cancelled
            The monitor was canceled.
        """
        if sent is not None and self.may_generate_elsewhere(variant):
            sent = None
        known = self._traceable() if sent is None else self._known_run()
        if known is None:
            return None
        report = local_sources.generate(self._call_packer, known, name, variant, monitor, sent)
        if report is None:
            self._for_kernel.add(key_of(variant))
        return report

    def what_if_elsewhere(
        self, subject: str, variant: VariantReport, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> WhatIf | None:
        """Evaluates the guards of a variant that `generate_elsewhere` generated; None for others.

        Raises
        ------
        CompilescopeError
            The arguments do not fit, or the guards cannot be evaluated in another process.
        """
        requested = variant.requested
        if (
            variant.stage != "sources"
            or not self._is_for_others(requested)
            or self.has_capture(requested)
        ):
            return None
        known = self._traceable()
        if known is None or not local_sources.may_generate(known[1], requested):
            if self._known_run() is None:
                return None
            raise local_sources.guards_are_elsewhere(variant.name)
        return local_sources.what_if(self._call_packer, known, subject, variant, args, kwargs)

    def _traceable(self) -> tuple[Variant, Captured] | None:
        """A capture with which other processes compare their traces, and its variant."""
        return self._first_capture(local_sources.is_traceable)

    def _known_run(self) -> tuple[Variant, Captured] | None:
        """A capture with which other processes compare their runs, and its variant."""
        return self._first_capture(local_sources.is_runnable)

    def _first_capture(
        self, is_usable: Callable[[Captured], bool]
    ) -> tuple[Variant, Captured] | None:
        if self._compiled is not None:
            return None
        self._drop_outdated()
        for variant, captured in self._captures.all():
            if is_usable(captured):
                return variant, captured
        return None

    def capture(self, variant: Variant, monitor: Monitor) -> Sequence[str]:
        """Runs the subject under Dynamo; returns the state that could not be restored."""
        with preserved(self._fn, self._args, self._kwargs) as snapshot:
            captured = capture(
                self._fn,
                self._args,
                self._kwargs,
                variant,
                self._code_copies,
                explain=failures.under_compile,
            )
            if captured.problem is not None:
                snapshot.restore()
                monitor.check()
                captured.problem = self._attributed(captured.problem)
        self._drop_outdated()
        self._captures.put(variant, captured)
        return snapshot.unsaved

    def captured(self, name: str, variant: Variant) -> VariantReport | None:
        """What Dynamo captured for a variant whose code Inductor generates; None if it failed."""
        if not runs_here(variant) or self.is_aot_compiled(variant) or not generates(variant):
            return None
        captured = self._captures.find(variant)
        if captured is None or captured.problem is not None or not captured.graphs:
            return None
        return code_reports.captured_only(captured, name, variant)

    def evaluable_guards(self, variant: Variant) -> EvaluableGuards | None:
        """Returns the guards of a variant's capture, for checking other calls against them."""
        is_captured = runs_here(variant) and not self.is_aot_compiled(variant)
        captured = self._captures.find(variant) if is_captured else None
        if captured is None:
            return None
        return (
            captured.evaluable_guards_of(variant)
            if generates(variant)
            else captured.evaluable_guards
        )

    def generate(
        self,
        variants: Mapping[str, Variant],
        name: str,
        coming: Sequence[Variant],
        monitor: Monitor,
    ) -> VariantReport:
        """Generates the code of a variant that has a capture; builds nothing.

        Parameters
        ----------
        variants
            All that are being generated, by name.
        name
            The variant among them.
        coming
            Those that are generated after it.
        """
        variant = variants[name]
        if self.is_aot_compiled(variant):
            assert self._compiled is not None, "it was just compared with that"
            return code_reports.of_aot_compiled(self._compiled, name, variant)
        if variant.target is not None:
            return target_variants.generate(self._call_packer, variants, name, monitor)
        with monitor.interruptible() as tell:
            return self.sources(name, variant, lambda step: tell(step, name), coming)

    def sources(
        self,
        name: str,
        variant: Variant,
        on_step: Callable[[str], None] = lambda step: None,
        coming: Sequence[Variant] = (),
    ) -> VariantReport:
        """Generates the code of a variant for this machine, in this process."""
        if variant.backend is None:
            return code_reports.of_eager(name, variant)
        captured = self._captures.find(variant)
        assert captured is not None, "only variants whose capture is there are generated"
        shared = [
            next_variant
            for next_variant in coming
            if runs_here(next_variant)
            and not self.is_aot_compiled(next_variant)
            and self._captures.find(next_variant) is captured
        ]
        return code_reports.generated(
            captured, name, variant, fn=self._fn, on_step=on_step, coming=shared
        )

    def ready(self, present: Sequence[Variant]) -> list[Variant]:
        """Return the variants with the other wrapper whose code was already generated."""
        ready = []
        for variant in filter(runs_here, present):
            other = msgspec.structs.replace(variant, cpp_wrapper=not variant.cpp_wrapper)
            captured = self._captures.find(other)
            if other not in present and captured is not None and is_pregenerated(captured, other):
                ready.append(other)
        return ready

    def is_all_inductors(self, variants: Mapping[str, Variant]) -> bool:
        """Whether Inductor generates all code of these variants, for this machine."""
        return all(
            variant.target is None
            and not self.is_aot_compiled(variant)
            and (variant.backend is None or generates(variant))
            for variant in variants.values()
        )

    def needs_kernels(self, variants: Mapping[str, Variant]) -> bool:
        """Whether the code of a variant depends on its compiled Triton kernels."""
        return any(
            variant.cpp_wrapper and runs_here(variant) and generates(variant)
            for variant in variants.values()
            if not self.is_aot_compiled(variant)
        )

    def _attributed(self, problem: Problem) -> Problem:
        """Returns a problem of the capture, or the subject's own if it fails in eager too."""
        try:
            with quiet():
                self._fn(*self._args, **self._kwargs)
        except CALL_ERRORS as error:
            return failures.subject_failure(error, has_worked=self._has_worked)
        return problem
