"""The subject compiled ahead of time with torch.export and AOTInductor: structs of the report."""

from __future__ import annotations

from typing import Literal

from ..measurements.timings import Timing
from ..problem import Problem, Struct


class PackageFile(Struct):
    """A file in a package."""

    path: str
    bytes: int
    kind: Literal["source", "kernel", "library", "constants", "metadata", "build", "other"] = (
        "other"
    )
    language: str = "text"
    text: str | None = None
    """Of text files up to a limit; `absent` of the package says what was left out."""


class Constant(Struct):
    """A tensor that the package contains: a weight, a buffer, a folded value."""

    name: str
    original: str = ""
    """Its name in the model."""
    dtype: str = ""
    shape: list[int] = []
    bytes: int | None = None
    folded: bool = False


class Entry(Struct):
    """A timed way to call the compiled package."""

    name: str
    """``standalone (AOTIModelPackageLoader)``, ``in process, C++ wrapper``."""
    timing: Timing | None = None
    why: str = ""
    """Why there is no time."""


class Package(Struct):
    """The contents of a ``.pt2`` package."""

    model: str = "model"
    path: str = ""
    device: str = ""
    files: list[PackageFile] = []
    constants: list[Constant] = []
    metadata: dict[str, str] = {}
    inputs: list[str] = []
    outputs: list[str] = []
    dynamic: list[str] = []
    """Ranges of symbols: ``s0 in [2, 1024]``."""
    build: list[str] = []
    """The commands or flags of its build."""
    bytes: int | None = None
    built: bool = False
    """Whether it contains the built library, or only the sources."""
    seconds: float | None = None
    parts: dict[str, float] = {}
    """export, code generation, C++ build, packaging (seconds)."""
    accurate: bool | None = None
    """Whether its outputs equal eager's."""
    entries: list[Entry] = []
    problem: Problem | None = None
    absent: dict[str, str] = {}
    state: str = ""
    """``Sources, not built``; empty if there are no files."""
    results: str = ""
    """``same results as eager``; empty if they were not compared."""
