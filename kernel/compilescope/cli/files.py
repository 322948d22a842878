"""Reads and writes the files of commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from ..analysis.figures.counts import guard_count, kernel_count, recompile_count
from ..readers.remote import is_remote
from ..report import CompilescopeError, Problem, Report, Struct, conclude
from ..report.measurements.sweeps import CellState, SweepCell
from ..report.variant import Variant

FILE = "a report saved as .json or .html, a TORCH_TRACE log or folder of logs, or a .pt2 package"
"""The kinds of files that `read` accepts, for the commands' help."""


class Summary(Struct):
    """A report's summary, as ``--json`` prints it."""

    name: str
    kind: str
    headline: str
    variants: list[VariantSummary]
    problems: list[Problem]
    cells: list[CellSummary] = []
    """The cells of a sweep, in its order."""


class VariantSummary(Struct):
    """A variant in a `Summary`."""

    name: str
    stage: str
    compilations: int
    recompiles: int
    graph_breaks: int
    kernels: int
    guards: int
    compile_time_s: float
    median_us: float | None
    interval_us: tuple[float, float] | None
    problems: list[Problem]


class CellSummary(Struct):
    """A cell of a sweep in a `Summary`."""

    name: str
    shape: str
    variant: Variant
    """The settings that were measured."""
    state: CellState
    median_us: float | None
    interval_us: tuple[float, float] | None
    speedup: float | None
    """How many times as fast as eager."""
    speedup_interval: tuple[float, float] | None
    compile_time_s: float | None
    memory_bytes: float | None
    accurate: bool | None
    problem: Problem | None


_PAGES = (".html", ".htm")


def place(text: str) -> Path | str:
    """A command's argument: a path, or the address of a remote trace."""
    return text if is_remote(text) else Path(text)


def is_trace(path: Path) -> bool:
    """Whether `read` treats a path as a trace, by its ending."""
    return path.suffix not in (".json", ".pt2", *_PAGES)


def is_page(path: Path) -> bool:
    """Whether a path is a saved page that exists."""
    return path.suffix in _PAGES and path.is_file()


def read(path: Path) -> Report:
    """Read a report from any kind of file.

    Raises
    ------
    CompilescopeError
        The file does not exist, cannot be read, or is damaged.
    """
    if path.suffix in (".json", *_PAGES):
        from ..report.saving.storage import load  # a trace needs none of it

        return load(path)
    # Both import parts of the analysis, which a report does not need.
    if path.suffix == ".pt2":
        from ..readers.package import report_of as open_package

        return open_package(path)
    from ..readers.trace import report_of as read_trace

    report = read_trace(path)
    refuse_no_trace(report.variants, report.problems)
    return report


def refuse_no_trace(processes: Sequence[object], problems: Sequence[Problem]) -> None:
    """Refuse files of which none holds a record: a script has to learn it from the exit status.

    Parameters
    ----------
    processes
        What was found in the files.
    problems
        What of the files cannot be read.

    Raises
    ------
    CompilescopeError
        Nothing was found, because of an error.
    """
    error = next((problem for problem in problems if problem.severity == "error"), None)
    if error is not None and not processes:
        raise CompilescopeError(error.what, error.why, error.remedy)


def check_output(path: Path) -> None:
    """Refuse a file that cannot be written, before the work that it is the result of.

    Raises
    ------
    CompilescopeError
        Its ending is neither .html nor .json, or its folder cannot be written to.
    """
    if path.suffix not in (".json", *_PAGES):
        raise CompilescopeError(
            f"A report cannot be saved as {path.name!r}.", remedy="Use .json or .html."
        )
    if not os.access(path.parent, os.W_OK):
        raise CompilescopeError(
            f"{path.parent} is not a writable folder.", remedy="Give a file in another folder."
        )


def check_page(path: Path) -> None:
    """Refuse a page's file that has another ending, or cannot be written.

    Raises
    ------
    CompilescopeError
        Its ending is not .html, or its folder cannot be written to.
    """
    if path.suffix not in _PAGES:
        raise CompilescopeError(f"A page cannot be saved as {path.name!r}.", remedy="Use .html.")
    check_output(path)


def write(report: Report, path: Path, *, redact: bool = False) -> None:
    """Save a report and say where, on standard error.

    Raises
    ------
    CompilescopeError
        The file's ending is neither .html nor .json, or it cannot be written.
    """
    report.save(path, redact=redact)
    print_note(f"wrote {path}")


def summary(report: Report) -> Summary:
    """Return the summary of a report that ``--json`` prints."""
    return Summary(
        name=report.subject.name,
        kind=report.subject.kind,
        headline=conclude(report).headline,
        variants=[
            VariantSummary(
                name=variant.name,
                stage=variant.stage,
                compilations=len(variant.compilations),
                recompiles=recompile_count(variant.compilations),
                graph_breaks=len(variant.breaks),
                kernels=sum(map(kernel_count, variant.compilations)),
                guards=sum(map(guard_count, variant.compilations)),
                compile_time_s=sum(
                    compilation.duration_s or 0.0 for compilation in variant.compilations
                ),
                median_us=variant.timing.median_us if variant.timing else None,
                interval_us=variant.timing.interval_us if variant.timing else None,
                problems=variant.problems,
            )
            for variant in report.variants
        ],
        problems=[*report.problems, *(report.sweep.problems if report.sweep is not None else ())],
        cells=[_cell_summary(cell) for cell in (report.sweep.cells if report.sweep else ())],
    )


def _cell_summary(cell: SweepCell) -> CellSummary:
    timing = cell.timing
    return CellSummary(
        name=cell.name,
        shape=cell.shape,
        variant=cell.variant,
        state=cell.state,
        median_us=timing.median_us if timing is not None else None,
        interval_us=timing.interval_us if timing is not None else None,
        speedup=timing.ratio if timing is not None else None,
        speedup_interval=timing.ratio_interval if timing is not None else None,
        compile_time_s=cell.compile_time.total_s if cell.compile_time is not None else None,
        memory_bytes=cell.memory_bytes,
        accurate=cell.accurate,
        problem=cell.problem,
    )


def print_json(value: object) -> None:
    """Print a struct as indented JSON."""
    print(msgspec.json.format(msgspec.json.encode(value, enc_hook=repr)).decode())


def print_json_line(value: object) -> None:
    """Print a struct as a line of JSON."""
    print(msgspec.json.encode(value, enc_hook=repr).decode())


def print_note(text: str) -> None:
    """Print a line to standard error."""
    print(f"compilescope: {text}", file=sys.stderr)


def print_lines(lines: Iterable[str]) -> None:
    """Print several lines to standard error."""
    for line in lines:
        print(line, file=sys.stderr)
