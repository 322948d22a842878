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

from .artifacts import GUARD_TYPES as GUARD_TYPES
from .artifacts import PHASE_KINDS as PHASE_KINDS
from .artifacts import STAGES as STAGES
from .artifacts import Advice as Advice
from .artifacts import Autotuning as Autotuning
from .artifacts import Break as Break
from .artifacts import CacheEvent as CacheEvent
from .artifacts import Choice as Choice
from .artifacts import Code as Code
from .artifacts import Compilation as Compilation
from .artifacts import Crossing as Crossing
from .artifacts import Direction as Direction
from .artifacts import Failure as Failure
from .artifacts import Graph as Graph
from .artifacts import Guard as Guard
from .artifacts import GuardManager as GuardManager
from .artifacts import Kernel as Kernel
from .artifacts import Language as Language
from .artifacts import Launch as Launch
from .artifacts import Node as Node
from .artifacts import Phase as Phase
from .artifacts import Recompile as Recompile
from .artifacts import Region as Region
from .errors import CompilescopeError
from .packing import pack
from .problem import Problem as Problem
from .problem import SourceLine as SourceLine
from .problem import Struct as Struct
from .redaction import redact
from .variant import Variant

SCHEMA_VERSION = 1


class Effective(Struct):
    """A setting as asked for and as torch carried it out."""

    setting: str
    requested: str
    actual: str
    why: str = ""
    differs: bool = False
    """Whether torch did something else than was asked for."""
    remedy: str = ""
    """What to change, where something can be done."""
    operators: list[str] = []
    """The operators or fusions concerned."""
    where: SourceLine | None = None


class CompileTime(Struct):
    """How long the first call took, and its parts (seconds, on the wall clock)."""

    total_s: float
    parts: dict[str, float] = {}
    """dynamo, aot_autograd, inductor, code_generation, cpp_build, triton, other."""
    cold: bool = True
    """Measured in empty caches."""


class Timing(Struct):
    """How long a call takes once compiled."""

    median_us: float
    interval_us: tuple[float, float]
    """95 % confidence interval of the median."""
    samples_us: list[float] = []
    calls_per_sample: int = 1
    warmup_calls: int = 0
    device: str = "cpu"
    ratio: float | None = None
    """The baseline's median over this one's: above 1 is faster than the baseline."""
    ratio_interval: tuple[float, float] | None = None
    baseline: str = "eager"


class OutputError(Struct):
    """How far one output is from eager's."""

    path: str
    dtype: str
    max_abs: float
    max_rel: float
    tolerance_abs: float
    tolerance_rel: float
    ok: bool


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
    """sources: code generated, nothing built. built: built, run and timed."""
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
    accuracy: list[OutputError] = []
    problems: list[Problem] = []
    absent: dict[str, str] = {}


class Environment(Struct):
    """Where the report was made."""

    torch: str = ""
    triton: str | None = None
    python: str = ""
    platform: str = ""
    cpu: str = ""
    threads: int = 0
    gpus: list[str] = []
    compiler: str = ""
    compilescope: str = ""


class Subject(Struct):
    """What was inspected."""

    id: str
    name: str
    kind: Literal["function", "lambda", "method", "module", "callable", "watch", "trace"] = (
        "function"
    )
    """watch: whatever was compiled while the kernel was watched. trace: whatever a file that torch
    wrote tells of."""
    where: SourceLine | None = None
    arguments: list[str] = []
    """One line an argument: ``x: float32[4, 8] cpu``."""
    device: str = "cpu"
    cell: str | None = None
    """The notebook cell's id, where the front end sent one."""


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
        the other kind from the first variant that has that.

        Raises
        ------
        CompilescopeError
            There is none of that id; the message lists those there are.
        """
        variants = self.variants if variant is None else [self.variant(variant)]
        found = [one for each in variants for one in each.compilations if one.id == compile_id]
        if not found:
            ids = [one.id for each in variants for one in each.compilations]
            raise _missing("compilation", compile_id, list(dict.fromkeys(ids)))
        return msgspec.structs.replace(found[0], code=_completed([one.code for one in found]))

    def to_json(self) -> str:
        """The report as JSON; `compilescope.load` reads it back.

        Of a variant's options that JSON does not know (a function, say) their ``repr`` is kept.
        """
        replace = msgspec.structs.replace
        packed = replace(
            self,
            variants=[
                replace(
                    variant,
                    compilations=[
                        replace(
                            one, graphs={name: pack(graph) for name, graph in one.graphs.items()}
                        )
                        for one in variant.compilations
                    ],
                )
                for variant in self.variants
            ],
        )
        return msgspec.json.encode(packed, enc_hook=repr).decode()

    def redacted(self) -> Report:
        """A copy without folders' names and without lines of source code.

        Names stay: of files, functions, modules and variables.
        """
        return msgspec.convert(redact(msgspec.to_builtins(self, enc_hook=repr)), Report)

    def save(self, path: str | Path, *, redact: bool = False) -> Path:
        """Writes the report as ``.json``, or as one ``.html`` file that needs nothing else.

        With ``redact``, without paths and source code; see `redacted`. JupyterLab opens files that
        end in ``.compilescope.json`` as reports.

        Raises
        ------
        CompilescopeError
            The ending is neither.
        OSError
            The file cannot be written.
        """
        path = Path(path)
        report = self.redacted() if redact else self
        if path.suffix == ".json":
            text = report.to_json()
        elif path.suffix in (".html", ".htm"):
            text = renderers["page"](report)
        else:
            raise CompilescopeError(
                f"A report cannot be saved as {path.name!r}.", remedy="Use .json or .html."
            )
        path.write_text(text, encoding="utf-8")
        return path

    def _repr_html_(self) -> str:
        return renderers["html"](self)

    def __str__(self) -> str:
        return renderers["text"](self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


renderers: dict[str, Callable[[Report], str]] = {}
"""How a report shows itself: "text", "html" (in a cell) and "page" (a whole file). The views, which
stand above the report, put themselves here."""


def _completed(codes: list[Code]) -> Code:
    """The first code, with the artifacts that it lacks taken from the others."""
    code = codes[0]
    missing = {
        name: next((text for other in codes if (text := getattr(other, name)) is not None), None)
        for name in ("python", "cpp", "shell")
        if getattr(code, name) is None
    }
    backward = [other.backward for other in codes if other.backward is not None]
    regions = {name: value for other in reversed(codes) for name, value in other.regions.items()}
    return msgspec.structs.replace(
        code, **missing, regions=regions, backward=_completed(backward) if backward else None
    )


def _missing(kind: str, name: str, known: list[str]) -> CompilescopeError:
    listed = ", ".join(repr(one) for one in known) or "none"
    return CompilescopeError(f"The report has no {kind} {name!r}.", remedy=f"It has {listed}.")


Options = dict[str, Any]
