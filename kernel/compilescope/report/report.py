"""A report: everything known of a subject under some variants.

Every view reads a report and nothing else. These are plain typed structs: no torch import, JSON in
and out (`to_json`, `from_json`), and the front end's TypeScript types are generated from them.
Fields are only ever added, with a default; their types never change within `SCHEMA_VERSION`.

A field that torch did not give is empty and named, with the reason, in the ``absent`` of the struct
that holds it. Line numbers count from 1. Units are in the names (``_us``, ``_s``, ``_bytes``).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgspec

from .changes import Changes
from .compilation.artifacts import Break, Code, Compilation, Effective
from .compilation.cuda_graphs import CudaGraphs
from .compilation.parts import WRAPPERS
from .compilation.wrapper_steps import KernelLoad
from .environment import Environment
from .errors import CompilescopeError
from .late import LateTable
from .measurements.deployment import DeployWay, Objective
from .measurements.recommendation import Recommendation, recommend
from .measurements.sweeps import Sweep
from .measurements.timings import (
    ColdSwitch,
    CompileTime,
    Departure,
    Layers,
    OutputError,
    Payback,
    Peaks,
    Startup,
    Timing,
    Verdict,
)
from .overview import Overview
from .package import Package
from .problem import Problem, SourceLine, Struct
from .ranks import Rank
from .saving.given_files import given_path, writing
from .saving.packed_graphs import pack_compilations
from .target import TargetReport
from .traces import TraceSummary
from .variant import Variant

SCHEMA_VERSION = 1


class DistinctBreak(Struct):
    """A graph break, with all the places that it was met in."""

    cause: Break
    count: int = 1
    cost_us: float | None = None
    """Compile time spent on attempts that it ended, and on what was compiled behind it."""
    before: list[str] = []
    """Compile ids whose graphs end at it."""
    after: list[str] = []
    """Compile ids of what was compiled from behind it on."""
    eager: list[str] = []
    """What runs in eager because of it."""


class VariantReport(Struct):
    """What one variant made of the subject."""

    name: str
    requested: Variant
    stage: Literal["sources", "built", "failed"] = "sources"
    """``sources``: code generated, nothing built. ``built``: built, run and timed."""
    effective: list[Effective] = []
    config: dict[str, str] = {}
    """Settings in force that differ from torch's defaults."""
    compilations: list[Compilation] = []
    compile_time: CompileTime | None = None
    warm_compile_time: CompileTime | None = None
    """The first call again, in a fresh Dynamo but with the caches that the first one filled."""
    breaks: list[DistinctBreak] = []
    """Each distinct graph break once."""
    timing: Timing | None = None
    layers: list[Layers] = []
    """Where a call's time goes: of inference, or of the forward and the backward."""
    verdict: Verdict | None = None
    startups: list[Startup] = []
    paybacks: list[Payback] = []
    accuracy: list[OutputError] = []
    departure: Departure | None = None
    studied: list[str] = []
    """The closer looks that were taken: layers, kernels, startups, accuracy; of a variant for a
    target: assembly, check."""
    target: TargetReport | None = None
    """The device that the code is for, where it is not that of the arguments."""
    problems: list[Problem] = []
    absent: dict[str, str] = {}
    changes: Changes | None = None
    """What it changed, against another variant of the report."""
    cuda_graphs: CudaGraphs | None = None
    kernel_loads: list[KernelLoad] = []
    """How each kernel came to be there: compiled, loaded, first run."""
    cold: list[ColdSwitch] = []
    """What settings change in the first call's time."""
    ways: list[DeployWay] = []
    """The ways to deploy the call, compared."""
    package: Package | None = None
    """The same, compiled ahead of time."""
    earlier: bool = False
    """It is of an earlier run of the same call, which was inspected again with other variants."""
    recorded: bool = False
    """It holds what the user's code compiled as it ran: there is no call of it to build or time."""


AS_WRITTEN = "as written"
"""What a variant is called that has the settings of the user's own ``torch.compile``, if none of
the others has them; and the only variant of a watch."""

IN_CELL = "in the cell"
"""The variant that holds what the user's cell itself compiled as it ran."""


def is_record(variant: VariantReport) -> bool:
    """Whether a variant is what the user's code compiled as it ran, and no setting to compare.

    In a report of an earlier version its name tells.
    """
    watched = variant.name == AS_WRITTEN and variant.requested == Variant()
    return variant.recorded or watched or variant.name == IN_CELL


class Subject(Struct):
    """What was inspected."""

    id: str
    name: str
    kind: Literal[
        "function", "lambda", "method", "module", "callable", "watch", "trace", "package"
    ] = "function"
    """watch: whatever was compiled while the kernel was watched. trace: whatever a file that torch
    wrote tells of. package: what was compiled ahead of time."""
    where: SourceLine | None = None
    call: SourceLine | None = None
    """The line that calls it: the cell's last one, or the caller's of `inspect`."""
    arguments: list[str] = []
    """One line an argument: ``x: float32[4, 8] cpu``."""
    device: str = "cpu"
    cell: str | None = None
    """The notebook cell's id, where the front end sent one."""
    written: str = ""
    """The variant that has the settings of the user's own ``torch.compile``; empty where the
    subject was given uncompiled."""


class Report(Struct, kw_only=True):
    """Everything known of a subject under some variants."""

    schema_version: int = SCHEMA_VERSION
    created: str = ""
    subject: Subject
    environment: Environment = msgspec.field(default_factory=Environment)
    variants: list[VariantReport] = []
    problems: list[Problem] = []
    files: dict[str, str] = {}
    """Notebook cells that the source lines point into: file name → the cell's whole text."""
    peaks: list[Peaks] = []
    """What the devices can do at best: what measured kernels are compared with."""
    sweep: Sweep | None = None
    rank: Rank | None = None
    """Which rank of a distributed run it is of."""
    overview: Overview | None = None
    """What all of it comes to, as of when the report was last written or shown."""
    trace: TraceSummary | None = None
    """Of a trace: all of it at a glance."""

    @property
    def compilations(self) -> list[Compilation]:
        """Every variant's compilations, in the order of the variants."""
        return [compilation for variant in self.variants for compilation in variant.compilations]

    def variant(self, name: str) -> VariantReport:
        """The report of one variant.

        Raises
        ------
        CompilescopeError
            There is none of that name; the message lists those there are.
        """
        for variant in self.variants:
            if variant.name == name:
                return variant
        raise _missing("variant", name, [variant.name for variant in self.variants])

    def compilation(self, compile_id: str, variant: str | None = None) -> Compilation:
        """One compilation, by torch's compile id.

        Without ``variant``, the first variant that has it, its ``code`` completed by the wrapper of
        the other kind from the first variant for the same device that has that.

        Raises
        ------
        CompilescopeError
            There is none of that id; the message lists those there are.
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
        """The report as JSON; `compilescope.load` reads it back.

        Of a variant's options that JSON does not know (a function, say) their ``repr`` is kept.
        """
        replace = msgspec.structs.replace
        conclude(self)
        packed = pack_compilations(
            (variant.name, variant.compilations) for variant in self.variants
        )
        packed_report = replace(
            self,
            variants=[
                replace(variant, compilations=compilations)
                for variant, compilations in zip(self.variants, packed, strict=True)
            ],
        )
        return msgspec.json.encode(packed_report, enc_hook=repr).decode()

    def redacted(self) -> Report:
        """A copy without folders' names, lines of source code, and quoted values.

        Names stay: of files, functions, modules and variables.

        Raises
        ------
        CompilescopeError
            The report is nested too deep.
        """
        # Its expressions take milliseconds to compile, for which `compilescope trace` would wait.
        from .saving.redaction import redact

        try:
            redacted_report = redact(msgspec.to_builtins(self._without_quotes(), enc_hook=repr))
            # Its sentences quote what is left out here: they are made anew of what remains.
            report = msgspec.convert(redacted_report | {"overview": None}, Report)
        except RecursionError:
            raise CompilescopeError(
                "The report cannot be redacted.",
                "It is nested too deep, as no report of compilescope's is.",
                "Save it as it is, or make it again.",
            ) from None
        for compilation in report.compilations:
            completing["conditions"](compilation)
        return report

    def _without_quotes(self) -> Report:
        """The report with nothing in its trace's summary that quotes graphs and guards."""
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

        With ``redact``, without paths and source code; see `redacted`. JupyterLab opens files that
        end in ``.compilescope.json`` as reports.

        Raises
        ------
        CompilescopeError
            It is no path, the ending is neither, or the file cannot be written.
        """
        path = given_path(path, "the file to write: it ends in .json or .html")
        report = self.redacted() if redact else self
        if path.suffix == ".json":
            text = report.to_json()
        elif path.suffix in (".html", ".htm"):
            text = renderers["page"](report)
        else:
            raise CompilescopeError(
                f"A report cannot be saved as {path.name!r}.", remedy="Use .json or .html."
            )
        with writing(path):
            path.write_text(text, encoding="utf-8")
        return path

    def best(
        self, objective: Objective = "balanced", *, memory_gb: float | None = None
    ) -> Recommendation:
        """The way to deploy the call that was measured to be best; after the study ``deploy``.

        >>> cs.study(report, "deploy", variants="python")     # doctest: +SKIP
        >>> compiled = report.best("latency").apply(model)    # doctest: +SKIP

        Ways whose results are not eager's, and those that would give wrong results for another
        call without an error, are left out; so are those that are no faster than eager, unless
        none is.

        Parameters
        ----------
        objective
            ``"latency"``: the fastest calls; of those that the measurement cannot tell apart, what
            starts soonest. ``"cold"``: the soonest first result in a fresh process, with what the
            way ships. ``"balanced"``: the smallest product of both.
        memory_gb
            What a process may hold until its first result.

        Returns
        -------
        Recommendation
            Displays itself; ``code`` is what to paste, ``apply`` compiles a model so.

        Raises
        ------
        CompilescopeError
            Nothing was measured, there is no such objective, or no way fits in the memory.
        """
        ways = ((variant.name, way) for variant in self.variants for way in variant.ways)
        return recommend(ways, objective, memory_gb)

    def panel(self) -> Any:
        """The report's live panel, as the output of a cell: for notebooks other than JupyterLab's.

        All views, with switches, what-if and measuring, as in JupyterLab. It is connected to this
        kernel; that of a report from a file shows what the file holds.

        Returns
        -------
        anywidget.AnyWidget
            Displays itself.

        Raises
        ------
        CompilescopeError
            anywidget is not installed, or compilescope was installed without its front end.
        """
        return panels["widget"](self)

    def _repr_html_(self) -> str:
        return renderers["html"](self)

    def __str__(self) -> str:
        return renderers["text"](self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


concluding: dict[str, Callable[[Report], Overview]] = LateTable()
"""What works out an overview: the analysis, which stands above the report, puts itself here."""


def conclude(report: Report) -> Overview:
    """Works out anew what a report comes to, and leaves it in the report."""
    report.overview = overview = concluding["overview"](report)
    return overview


completing: dict[str, Callable[[Any], None]] = LateTable()
"""What fills in fields that a file of an earlier version lacks: the "conditions" of a compilation,
the "breaks" of a variant, the "verdicts" of a sweep. The analysis puts itself here too."""


renderers: dict[str, Callable[[Report], str]] = LateTable()
"""How a report shows itself: "text", "html" (in a cell) and "page" (a whole file). The views, which
stand above the report, put themselves here."""

panels: dict[str, Callable[[Report], Any]] = {}
"""What makes a report's panel, which stands above the report too."""


def _completed(codes: list[Code]) -> Code:
    """The first code, with the artifacts that it lacks taken from the others."""
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


def _missing(kind: str, name: str, known: list[str]) -> CompilescopeError:
    listed = ", ".join(repr(known_name) for known_name in known) or "none"
    return CompilescopeError(f"The report has no {kind} {name!r}.", remedy=f"It has {listed}.")


Options = dict[str, Any]
