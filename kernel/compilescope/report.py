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

from .errors import CompilescopeError
from .problem import Problem as Problem
from .problem import SourceLine as SourceLine
from .problem import Struct as Struct
from .variant import Variant

SCHEMA_VERSION = 1

Direction = Literal["inference", "forward", "backward"]
Language = Literal["python", "cpp", "triton", "extern", "fx", "text"]


class Node(Struct):
    """An FX node."""

    name: str
    op: str
    target: str
    args: str = ""
    inputs: list[str] = []
    users: list[str] = []
    shape: list[str] | None = None
    """Sizes as text, since a size may be a symbol (``s0``)."""
    stride: list[str] | None = None
    dtype: str | None = None
    device: str | None = None
    sources: list[SourceLine] = []
    """Innermost frame last, as in a traceback."""
    module: str | None = None
    """The path of the owning ``nn.Module`` (``layers.0.attn``)."""
    module_type: str | None = None
    line: int | None = None
    """Where the node stands in the graph's text."""


class Graph(Struct):
    """An FX graph at one stage."""

    stage: str
    text: str
    nodes: list[Node] = []
    absent: dict[str, str] = {}


class Region(Struct):
    """A run of lines of a generated file that means one thing.

    Regions of a Python and a C++ wrapper that do the same thing carry the same ``key``.
    """

    kind: Literal["kernel", "launch", "alloc", "free", "guard", "return", "entry"]
    start: int
    end: int
    """Inclusive."""
    key: str = ""
    label: str = ""
    kernel: str | None = None
    nodes: list[str] = []
    sources: list[SourceLine] = []


class Code(Struct):
    """What Inductor generated for one graph."""

    direction: Direction = "inference"
    python: str | None = None
    """The Python wrapper, with its kernels."""
    cpp: str | None = None
    """The C++ wrapper, as C++."""
    shell: str | None = None
    """The Python around the C++ wrapper, with the C++ cut out."""
    path: str | None = None
    """Where torch wrote it, if it did."""
    regions: dict[str, list[Region]] = {}
    """Artifact ("python", "cpp") → its regions, by start line."""
    backward: Code | None = None
    others: list[Code] = []
    """Further graphs of this direction, where torch compiled several under one id."""
    absent: dict[str, str] = {}


class Launch(Struct):
    """A call of a kernel in a wrapper."""

    artifact: Literal["python", "cpp"]
    variant: str
    line: int
    end: int
    key: str


class Kernel(Struct):
    """A generated kernel (C++ or Triton), or a library call (``extern``)."""

    name: str
    language: Language
    direction: Direction = "inference"
    source: str = ""
    ops: list[str] = []
    launches: list[Launch] = []
    nodes: list[str] = []
    sources: list[SourceLine] = []
    assembly: dict[str, str] = {}
    resources: dict[str, float] = {}
    absent: dict[str, str] = {}


class Guard(Struct):
    """A check that Dynamo makes before it reuses a compilation."""

    expression: str
    type: str = ""
    source: str = ""
    """What is guarded, as Dynamo writes it: ``L['x']``."""
    origin: SourceLine | None = None


class Break(Struct):
    """A graph break."""

    reason: str
    explanation: str = ""
    hints: list[str] = []
    context: str = ""
    link: str = ""
    where: SourceLine | None = None
    stack: list[SourceLine] = []


class Recompile(Struct):
    """Why a frame was compiled again."""

    reasons: list[str]
    previous: str = ""
    """The compile id whose guards failed."""


class Phase(Struct):
    """A span of compile time, with what happened inside it."""

    name: str
    start_us: float
    duration_us: float
    children: list[Phase] = []


class CacheEvent(Struct):
    """What one of torch's compile caches said."""

    cache: str
    outcome: Literal["hit", "miss", "bypass"]
    key: str = ""
    detail: str = ""


class Compilation(Struct):
    """One Dynamo frame compiled once."""

    id: str
    """torch's compile id: ``0/0``, after a recompile ``0/1``."""
    attempt: int = 0
    frame: SourceLine | None = None
    graphs: dict[str, Graph] = {}
    """Stage → graph; the stages are `STAGES`."""
    code: Code = msgspec.field(default_factory=Code)
    kernels: list[Kernel] = []
    guards: list[Guard] = []
    breaks: list[Break] = []
    recompile: Recompile | None = None
    phases: list[Phase] = []
    cache: list[CacheEvent] = []
    absent: dict[str, str] = {}


class Effective(Struct):
    """A setting as asked for and as torch carried it out."""

    setting: str
    requested: str
    actual: str
    why: str = ""


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
    kind: Literal["function", "lambda", "method", "module", "callable"] = "function"
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
        return msgspec.json.encode(self, enc_hook=repr).decode()

    def save(self, path: str | Path) -> Path:
        """Writes the report as ``.json``, or as one ``.html`` file that needs nothing else.

        Raises
        ------
        CompilescopeError
            The ending is neither.
        OSError
            The file cannot be written.
        """
        path = Path(path)
        if path.suffix == ".json":
            text = self.to_json()
        elif path.suffix in (".html", ".htm"):
            text = renderers["page"](self)
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


STAGES: dict[str, str] = {
    "dynamo": "Dynamo",
    "before_pre_grad": "before pre-grad passes",
    "pre_grad": "after pre-grad passes",
    "joint": "joint",
    "before_joint": "before joint passes",
    "after_joint": "after joint passes",
    "inference": "inference",
    "forward": "forward",
    "backward": "backward",
    "before_post_grad": "before post-grad passes",
    "post_grad": "after post-grad passes",
    "backward_before_post_grad": "backward, before post-grad passes",
    "backward_post_grad": "backward, after post-grad passes",
}
"""Stage → title, in the order in which torch makes them."""

Options = dict[str, Any]
