"""A report: everything known about a subject under some variants.

Every view reads a report and nothing else. These are plain typed structs: no torch import, JSON in
and out (`to_json`, `from_json`), and the front end's TypeScript types are generated from them.
Within a `SCHEMA_VERSION`, fields are only added, with a default, or renamed (`earlier_names` lists
the earlier names); their types never change.

A field that torch did not provide is empty; the ``absent`` field of its struct names it with the
reason. Line numbers count from 1. Units are in the names (``_us``, ``_s``, ``_bytes``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from .compilation.artifacts import Compilation
from .compilation.code import Code
from .compilation.parts import WRAPPERS
from .contents import Contents
from .environment import Environment
from .errors import CompilescopeError
from .measurements.deployment import WAY_STUDIES, Objective
from .measurements.recommendation import Recommendation, recommend
from .measurements.sweeps import Sweep
from .measurements.timings import Peaks
from .overview import Overview
from .problem import STUDY_FAILED, Problem, Struct
from .provided_functions import completing, concluding, panels, renderers
from .saving.packed_graphs import pack_compilations
from .saving.path_checks import report_path, write_whole
from .subjects.ranks import Rank
from .subjects.subject import Subject
from .subjects.traces import TraceSummary
from .tiers import GraphTiers
from .variant_report import VariantReport

SCHEMA_VERSION = 1


class Report(Struct, kw_only=True):
    """Everything known about a subject under some variants.

    Examples
    --------
    >>> report.variant("cpp").requested.cpp_wrapper
    True
    >>> report.compilation("0/0").kernels[0].language
    'cpp'
    """

    schema_version: int = SCHEMA_VERSION
    """The version of the file format."""
    created: str = ""
    """When the inspection, watch or sweep began, in ISO 8601; for a file of torch, when it was
    written."""
    subject: Subject
    """The inspected call; or the watch, trace or package."""
    environment: Environment = msgspec.field(default_factory=Environment)
    """The versions, devices and settings that the report was made with."""
    variants: list[VariantReport] = []
    """The results, one entry per variant."""
    problems: list[Problem] = []
    """Problems of the whole report; those of one variant are in `VariantReport.problems`."""
    files: dict[str, str] = {}
    """Notebook cells that source lines refer to: file name → the cell's whole text."""
    peaks: list[Peaks] = []
    """The peak rates of the devices, with which measured kernels are compared."""
    sweep: Sweep | None = None
    """For a sweep: its cells and the fastest of them."""
    rank: Rank | None = None
    """For a report of a distributed run: its rank, and the differences from the other ranks."""
    overview: Overview | None = None
    """The summary, computed when the report is saved or displayed."""
    trace: TraceSummary | None = None
    """For a trace: its summary."""
    tiers: list[GraphTiers] = []
    """For a watch: the tiers of what it saw compiled by the backend ``compilescope``, as they stand
    when the report is read or saved."""
    contents: Contents | None = None
    """In a saved file: summaries and the positions of texts, for a panel without a kernel."""

    @property
    def compilations(self) -> list[Compilation]:
        """Every variant's compilations, in the order of the variants."""
        return [compilation for variant in self.variants for compilation in variant.compilations]

    def variant(self, name: str) -> VariantReport:
        """The results of one variant.

        Parameters
        ----------
        name
            The variant's name in the report: ``"python"``.

        Returns
        -------
        VariantReport
            The variant, not a copy.

        Raises
        ------
        CompilescopeError
            No variant has this name; the message lists the existing ones.

        Examples
        --------
        >>> report.variant("cpp").stage
        'built'
        """
        for variant in self.variants:
            if variant.name == name:
                return variant
        raise _missing("variant", name, [variant.name for variant in self.variants])

    def compilation(self, compile_id: str, variant: str | None = None) -> Compilation:
        """One compilation, by torch's compile id.

        Parameters
        ----------
        compile_id
            ``"0/0"``, and ``"0/1"`` for its first recompile.
        variant
            The variant's name. None: the first variant that has the compilation.

        Returns
        -------
        Compilation
            A copy. Without ``variant``, its ``code`` also has the other kind of wrapper, from the
            first variant for the same device that has one.

        Raises
        ------
        CompilescopeError
            No compilation has this id, or no variant this name; the message lists the existing
            ones.

        Examples
        --------
        >>> code = report.compilation("0/0").code
        >>> code.python is not None and code.cpp is not None
        True
        """
        variants = self.variants if variant is None else [self.variant(variant)]
        matches = [
            (compilation, variant_report.requested.target)
            for variant_report in variants
            for compilation in variant_report.compilations
            if compilation.id == compile_id
        ]
        if not matches:
            ids = [
                compilation.id
                for variant_report in variants
                for compilation in variant_report.compilations
            ]
            raise _missing("compilation", compile_id, list(dict.fromkeys(ids)))
        first, target = matches[0]
        codes = [compilation.code for compilation, device in matches if device == target]
        return msgspec.structs.replace(first, code=_completed(codes))

    def to_json(self) -> str:
        """The report as JSON; `compilescope.load` reads it from a file.

        Returns
        -------
        str
            The text. Options of a variant that JSON cannot represent, such as functions, are stored
            as their ``repr``.

        Examples
        --------
        >>> json.loads(report.to_json())["subject"]["name"]
        'fn'
        """
        replace = msgspec.structs.replace
        conclude(self)
        packed = pack_compilations(
            (variant.name, variant.compilations) for variant in self.variants
        )
        packed_report = replace(
            self,
            contents=concluding["contents"](self),
            variants=[
                replace(variant, compilations=compilations)
                for variant, compilations in zip(self.variants, packed, strict=True)
            ],
        )
        return msgspec.json.encode(packed_report, enc_hook=repr).decode()

    def redacted(self) -> Report:
        """A copy without names of folders, lines of source code, and quoted values.

        Returns
        -------
        Report
            The copy. It keeps the names of files, functions, modules and variables.

        Raises
        ------
        CompilescopeError
            The report is nested too deeply.

        Examples
        --------
        >>> report.redacted().subject.where.code
        ''
        """
        # Its expressions take milliseconds to compile, for which `compilescope trace` would wait.
        from .saving.redaction import redact

        try:
            redacted_report = redact(msgspec.to_builtins(self._without_quotes(), enc_hook=repr))
            # Its sentences quote redacted text, so compute them again from the redacted report.
            report = msgspec.convert(redacted_report | {"overview": None}, Report)
        except RecursionError:
            raise CompilescopeError(
                "The report cannot be redacted.",
                "It is nested too deeply; compilescope does not write such reports.",
                "Save it without redaction, or inspect the call again.",
            ) from None
        for compilation in report.compilations:
            completing["conditions"](compilation)
            completing["causes"](compilation)
        return report

    def _without_quotes(self) -> Report:
        """The report without quoted graphs and guards in its trace's summary."""
        if self.trace is None:
            return self
        difference = self.trace.difference
        trace = msgspec.structs.replace(
            self.trace,
            slowest=[],
            fix_first=[],
            ranks=None,
            difference=difference and difference.without_quotes(),
        )
        return msgspec.structs.replace(self, trace=trace)

    def save(self, path: str | Path, *, redact: bool = False) -> Path:
        """Writes the report as ``.json``, or as one ``.html`` file that needs nothing else.

        Parameters
        ----------
        path
            A file that ends in ``.json`` or ``.html``. JupyterLab opens files that end in
            ``.compilescope.json`` as reports.
        redact
            Leave out paths and source code, as `redacted` does.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        CompilescopeError
            The path has another ending or is invalid, the folder does not exist, or the file cannot
            be written.

        Examples
        --------
        >>> report.save(folder / "run.html").name
        'run.html'
        """
        from .argument_checks import check_flag

        path = report_path(path)
        check_flag("redact", redact)
        report = self.redacted() if redact else self
        text = report.to_json() if path.suffix == ".json" else renderers["page"](report)
        write_whole(path, text)
        return path

    def best(
        self, objective: Objective = "balanced", *, memory_gb: float | None = None
    ) -> Recommendation:
        """The best measured way to deploy the call. Requires the study ``deploy``.

        Ways whose results differ from eager's, or that would silently return wrong results for
        other arguments, are excluded. If no way is clearly faster than eager, that is eager, and
        ``reason`` says whether noise may hide a faster way. If the study measured only some of the
        ways, ``reason`` says which were compared.

        Parameters
        ----------
        objective
            ``"latency"``: the lowest latency; if the difference is within noise, the shortest first
            call. ``"cold"``: the shortest time to the first result in a fresh process, with the
            files that the way ships. ``"balanced"``: the smallest product of the two.
        memory_gb
            The limit of the memory of a process until its first result (GB). None: no limit.

        Returns
        -------
        Recommendation
            Displays itself; ``code`` is the code to paste, ``apply`` compiles a model this way.

        Raises
        ------
        CompilescopeError
            No way was measured, for instance since the study failed; the objective does not exist;
            or no way needs so little memory.

        Examples
        --------
        >>> report = cs.study(report, "deploy", variants="python")    # doctest: +SKIP
        >>> compiled = report.best("latency").apply(model)            # doctest: +SKIP
        """
        if self.rank is not None:
            raise CompilescopeError(
                "No way to deploy the call was measured.",
                "This is the report of a rank, whose process has ended.",
                "Compare variants on all ranks: compilescope.ranks(factory, variants=...).",
            )
        studied = [variant for variant in self.variants if variant.ways]
        ways = ((variant.name, way) for variant in studied for way in variant.ways)
        not_tried = [
            name if len(studied) == 1 else f"{name} ({variant.name})"
            for variant in studied
            for name in variant.ways_not_tried
        ]
        failures = [STUDY_FAILED.format(name) for name in WAY_STUDIES]
        failed = (
            problem
            for variant in self.variants
            for problem in variant.problems
            if problem.what in failures
        )
        return recommend(ways, objective, memory_gb, not_tried, next(failed, None))

    def panel(self) -> Any:
        """The report's live panel as a widget, for notebooks other than JupyterLab.

        It has all views, switches and buttons of JupyterLab's panel, and is connected to this
        kernel. For a report from a file it only shows the file's contents.

        Returns
        -------
        anywidget.AnyWidget
            Displays itself.

        Raises
        ------
        CompilescopeError
            anywidget is not installed, or compilescope was installed without its front end.

        Examples
        --------
        >>> report.panel()                                    # doctest: +SKIP
        """
        return panels["widget"](self)

    def _repr_html_(self) -> str:
        return renderers["html"](self)

    def __str__(self) -> str:
        return renderers["text"](self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def conclude(report: Report) -> Overview:
    """Computes a report's overview again and stores it in the report."""
    overview: Overview = concluding["overview"](report)
    report.overview = overview
    return overview


def _completed(codes: list[Code]) -> Code:
    """The first code, completed with the artifacts of the others."""
    code = codes[0]
    missing = {
        name: next((text for other in codes if (text := getattr(other, name)) is not None), None)
        for name in WRAPPERS
        if getattr(code, name) is None
    }
    backward = [other.backward for other in codes if other.backward is not None]
    regions = {name: value for other in reversed(codes) for name, value in other.regions.items()}
    return msgspec.structs.replace(
        code, **missing, regions=regions, backward=_completed(backward) if backward else None
    )


def _missing(kind: str, name: str, present: list[str]) -> CompilescopeError:
    listed = ", ".join(repr(known_name) for known_name in present) or "none"
    return CompilescopeError(f"The report has no {kind} {name!r}.", remedy=f"It has {listed}.")
