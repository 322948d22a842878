"""A subject under inspection: its captures, and the report that grows as variants are asked for."""

from __future__ import annotations

import datetime
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import torch

from ..analysis.backward import complete
from ..analysis.distinct import distinct_breaks
from ..analysis.links import pair
from ..problem import Problem
from ..report import Report, VariantReport
from ..torch_api import compiled, compiling, failures
from ..torch_api.environment import environment
from ..variant import Variant
from . import arguments, notebook
from .asking import Questions
from .call_text import evaluate_arguments
from .callees import functions_of
from .capturing import Captured, capture, key_of
from .progress import Monitor
from .quiet import quiet
from .remarks import remarks
from .runs import run_variants
from .sources import generate
from .state import preserved
from .subject import describe, unwrap
from .wardrobe import Wardrobe
from .what_if import runs
from .what_if_result import WhatIf


class Inspection:
    """One subject and everything found out about it.

    Methods that call the subject (`capture`, `run`) belong on the main thread: they put the user's
    state back afterwards, so nobody else may work on it meanwhile. `generate` calls nothing of the
    user's and may run in any thread.

    Parameters
    ----------
    fn, args, kwargs
        The call.

    Raises
    ------
    CompilescopeError
        ``fn`` cannot be called with these arguments.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        cell: str | None = None,
    ) -> None:
        subject = describe(fn, args, kwargs)
        subject.cell = cell
        self.fn = unwrap(fn)
        self.args = tuple(args)
        self.kwargs = dict(kwargs or {})
        self.report = Report(
            created=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            subject=subject,
            environment=environment(),
        )
        self._changed: Callable[[str], None] = lambda variant: None
        self._lock = threading.RLock()
        self._captures: dict[tuple[bool | None, bool], Captured] = {}
        self._wardrobe = Wardrobe(functions_of(self.fn, self.args, self.kwargs))
        self._questions = Questions(self.fn, subject.name, self._wardrobe)

    def on_change(self, changed: Callable[[str], None]) -> None:
        """Has ``changed`` called with a variant's name after the report has something new of it."""
        self._changed = changed

    def has_capture(self, variant: Variant) -> bool:
        """Whether `generate` can serve the variant without calling the subject."""
        return variant.backend is None or self._capture_for(variant) is not None

    def capture(self, variants: Mapping[str, Variant], monitor: Monitor) -> None:
        """Runs the subject once for every kind of capture that the variants need."""
        for name, variant in variants.items():
            if not self.has_capture(variant):
                monitor.step("running the subject under Dynamo", variant=name)
                with preserved(self.fn, self.args, self.kwargs) as snapshot:
                    captured = capture(self.fn, self.args, self.kwargs, variant, self._wardrobe)
                    snapshot.restore()
                    if captured.problem is not None:
                        captured.problem = self._blame(captured.problem)
                self._captures[key_of(variant)] = captured
                self._note_unsaved(snapshot.unsaved)

    def generate(self, variants: Mapping[str, Variant], monitor: Monitor) -> None:
        """Generates the sources of variants whose capture is there; builds nothing."""
        for name, variant in variants.items():
            monitor.step("generating code", variant=name)
            result = self._sources(name, variant)
            with self._lock:
                current = self._find(name)
                # A build that has finished meanwhile knows more.
                if current is None or current.stage != "built":
                    self._put(result)
                    self._keep_guards(name, variant)
            self._changed(name)

    def run(self, names: Sequence[str], monitor: Monitor) -> None:
        """Builds, checks and times variants of the report against eager.

        Parameters
        ----------
        names
            Which; those that are not in the report are left out.
        """
        wanted = {one.name: one.requested for one in self.report.variants if one.name in names}
        with preserved(self.fn, self.args, self.kwargs) as snapshot:
            results = run_variants(
                self.fn,
                self.args,
                self.kwargs,
                wanted,
                self._wardrobe,
                snapshot,
                monitor,
                self._questions.keep,
            )
            try:
                for result in results:
                    with self._lock:
                        self._put(self._merged(result))
                    self._changed(result.name)
            finally:
                self._questions.lighten(wanted)
        self._note_unsaved(snapshot.unsaved)

    def what_if(self, variant: str, text: str, namespace: Mapping[str, Any]) -> WhatIf:
        """What a call with other arguments would meet; runs and compiles nothing.

        Parameters
        ----------
        variant
            Whose guards are asked.
        text
            The arguments as typed in a call.
        namespace
            What names in them mean; the subject's own argument names are known besides.

        Raises
        ------
        CompilescopeError
            The arguments cannot be read, evaluated or bound; or the guards are not here.
        """
        own = arguments.named(runs(self.fn), self.args, self.kwargs)
        args, kwargs = evaluate_arguments(text, {**own, **namespace})
        return self.ask(variant, args, kwargs)

    def ask(self, variant: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> WhatIf:
        """The same for arguments that are there.

        torch's modes count as they were when the inspection was made.
        """
        return self._questions.ask(self.report.variant(variant), args, kwargs)

    def has_guards(self, variant: str) -> bool:
        """Whether `ask` can answer for a variant."""
        return self._questions.has(variant)

    def _keep_guards(self, name: str, variant: Variant) -> None:
        captured = self._capture_for(variant) if variant.backend is not None else None
        if captured is not None and captured.askable is not None:
            self._questions.keep(name, captured.askable)

    def put(self, result: VariantReport) -> None:
        """Adds a variant that somebody else found out about."""
        with self._lock:
            self._put(result)
        self._changed(result.name)

    def fault(self, error: Exception) -> None:
        """Notes an error of compilescope's own, which ends the work on this report."""
        with self._lock:
            self.report.problems.append(
                Problem(
                    severity="error",
                    what=f"compilescope failed: {type(error).__name__}: {error}",
                    why="This is a fault of compilescope, not of your code.",
                    remedy="Please report it with the details below.",
                    detail="".join(traceback.format_exception(error)),
                )
            )
        self._changed("")

    def _sources(self, name: str, variant: Variant) -> VariantReport:
        if variant.backend is None:
            absent = {"compilations": "Eager compiles nothing."}
            return VariantReport(name=name, requested=variant, absent=absent)
        captured = self._capture_for(variant)
        assert captured is not None, "generate() is for variants whose capture is there"
        sources = generate(captured, name, variant)
        problems = sources.problems
        if captured.problem is not None:
            problems.insert(0, captured.problem)
        else:
            problems += remarks(sources.compilations)
        failed = any(problem.severity == "error" for problem in problems)
        return VariantReport(
            name=name,
            requested=variant,
            stage="failed" if failed else "sources",
            config=compiling.differing_settings(compiling.settings_of(variant))
            if variant.backend == "inductor"
            else {},
            effective=sources.effective,
            compilations=sources.compilations,
            problems=problems,
        )

    def _capture_for(self, variant: Variant) -> Captured | None:
        dynamic, fullgraph = key_of(variant)
        exact = self._captures.get((dynamic, fullgraph))
        if exact is not None:
            return exact
        # Without a break, a full graph is the same graph; without symbols, so is a static one.
        for (other_dynamic, other_full), captured in self._captures.items():
            whole = captured.problem is None and len(captured.graphs) == 1
            same_graph = other_full == fullgraph or whole
            same_sizes = other_dynamic == dynamic or (
                not other_dynamic and not dynamic and not _symbolic(captured)
            )
            if same_graph and same_sizes:
                return captured
        return None

    def _merged(self, built: VariantReport) -> VariantReport:
        """A built variant, with what only its sources know: a backward that never ran, say."""
        before = self._find(built.name)
        if before is None:
            return built
        if built.stage == "failed" and len(before.compilations) >= len(built.compilations):
            # A build that failed knows less: torch tells the guards and where kernels come from
            # only at the end.
            built.compilations = before.compilations
        known = {compilation.id: compilation for compilation in before.compilations}
        for compilation in built.compilations:
            earlier = known.get(compilation.id)
            if earlier is not None and compilation.code.backward is None:
                compilation.code.backward = earlier.code.backward
            elif earlier is not None:
                complete(compilation, earlier)
        return built

    def _blame(self, problem: Problem) -> Problem:
        """A problem of the capture; the subject's own when it fails in eager too."""
        try:
            with quiet():
                self.fn(*self.args, **self.kwargs)
        except Exception as error:  # noqa: BLE001 - it is the subject's problem
            return failures.own(error)
        return problem

    def _find(self, name: str) -> VariantReport | None:
        return next((one for one in self.report.variants if one.name == name), None)

    def _put(self, result: VariantReport) -> None:
        """Adds a variant or takes the place of an earlier one; then links it with its partner."""
        for compilation in result.compilations:
            if compiled.is_wrapper(compilation.frame):
                compilation.frame = self.report.subject.where
                if compilation.frame is None:
                    compilation.absent["frame"] = _NO_FRAME
        result.breaks = distinct_breaks(result.compilations)
        variants = self.report.variants
        for index, one in enumerate(variants):
            if one.name == result.name:
                variants[index] = result
                break
        else:
            variants.append(result)
        self._pair(result)
        self.report.files |= notebook.cells(result.compilations)

    def _pair(self, result: VariantReport) -> None:
        """Links a Python wrapper with the C++ wrapper under otherwise the same settings."""

        def other_wrapper(variant: Variant) -> Variant:
            return msgspec.structs.replace(variant, cpp_wrapper=not variant.cpp_wrapper)

        for one in self.report.variants:
            if one.requested == other_wrapper(result.requested) and one.name != result.name:
                python, cpp = (one, result) if result.requested.cpp_wrapper else (result, one)
                by_id = {compilation.id: compilation for compilation in cpp.compilations}
                for compilation in python.compilations:
                    if compilation.id in by_id:
                        pair(compilation, by_id[compilation.id])

    def _note_unsaved(self, unsaved: Sequence[str]) -> None:
        problems = self.report.problems
        told = next((one for one in problems if one.what == _UNSAVED), None)
        for reason in unsaved:
            if told is None:
                told = Problem(severity="info", what=_UNSAVED, why=reason)
                problems.append(told)
            elif reason not in told.why:
                told.why += f" {reason}"


_UNSAVED = "Some of the subject's state is not put back after an inspection."
_NO_FRAME = "The subject is not written in Python: Dynamo compiled a wrapper of its own around it."


def _symbolic(captured: Captured) -> bool:
    return any(
        isinstance(value, torch.SymInt)
        or (
            isinstance(value, torch.Tensor)
            and any(isinstance(s, torch.SymInt) for s in value.shape)
        )
        for graph in captured.graphs
        for value in graph.inputs
    )
