"""Reads reports from files."""

from __future__ import annotations

import threading
from functools import cache
from pathlib import Path

import msgspec

from ..compilation.plans import memory_peaks
from ..compilation.wrapper_steps import Route, sum_kinds
from ..errors import CompilescopeError
from ..measurements.recommendation import is_as_eager
from ..measurements.way_remarks import remarks_on
from ..provided_functions import completing
from ..report import SCHEMA_VERSION, Report
from .earlier_names import with_present_names
from .packed_graphs import unpack_compilations
from .page_contents import report_in_page
from .path_checks import given_path, reading

_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The errors of msgspec for text that is truncated, not text at all, or nested too deep."""


_WHAT = "a file that report.save wrote"


class _Version(msgspec.Struct):
    schema_version: int


_first_use = threading.Lock()
"""msgspec crashes if two threads use a type for the first time at once."""


@cache
def _decoders() -> tuple[msgspec.json.Decoder[_Version], msgspec.json.Decoder[Report]]:
    return msgspec.json.Decoder(_Version), msgspec.json.Decoder(Report)


_START = 1024
"""How many bytes to search for the first character of a text."""


def load(path: str | Path) -> Report:
    """Reads a report that `Report.save` wrote; see `compilescope.load`."""
    file = given_path(path, _WHAT)
    with reading(file, _WHAT):
        if file.exists() and not file.is_file():
            # A device or a pipe may never end.
            raise CompilescopeError(
                f"{file} is not a report.",
                "It is not a regular file.",
                f"Give {_WHAT}.",
            )
        text = file.read_bytes()
    return from_json(text, name=str(path))


def from_json(text: str | bytes, name: str = "The text") -> Report:
    """The report that `Report.to_json` wrote, or the one in a saved page.

    ``name`` appears in error messages.
    """
    text = text if isinstance(text, bytes) else text.encode()
    if text[:_START].lstrip()[:1] == b"<":
        text = report_in_page(text, name)
    with _first_use:
        version_decoder, report_decoder = _decoders()
    try:
        version = version_decoder.decode(text).schema_version
    except _UNREADABLE as error:
        raise CompilescopeError(
            f"{name} is not a report.",
            f"{error}.",
            "Give a file that report.save wrote; write a truncated file again.",
        ) from None
    if version > SCHEMA_VERSION:
        raise CompilescopeError(
            f"{name} was written by a newer compilescope.",
            f"Its format is version {version}; this one reads up to {SCHEMA_VERSION}.",
            "Upgrade with pip install -U jupyterlab-compilescope.",
        )
    try:
        report = report_decoder.decode(with_present_names(text))
    except _UNREADABLE as error:
        raise CompilescopeError(
            f"{name} is damaged.", f"{error}.", "Write the report again."
        ) from None
    unpack_compilations((variant.name, variant.compilations) for variant in report.variants)
    complete(report)
    report.contents = None  # of the file: the report may change, and writing it computes them again
    return report


def complete(report: Report) -> None:
    """Fill in the fields that a file of an earlier version lacks, in place."""
    for compilation in report.compilations:
        if compilation.crossings and not compilation.routes:
            compilation.routes = [
                Route(
                    operator=crossing.operator,
                    artifact=crossing.artifact,
                    direction=crossing.direction,
                    lines=crossing.lines,
                    gil=len(crossing.lines),
                    why=crossing.why,
                    remedy=crossing.remedy,
                )
                for crossing in compilation.crossings
            ]
        if compilation.guards and not compilation.conditions:
            completing["conditions"](compilation)
        completing["symbols"](compilation)
        if compilation.recompile is not None and not compilation.recompile.causes:
            completing["causes"](compilation)
        for steps in compilation.steps:
            steps.kinds = sum_kinds(steps.steps)
        for memory in compilation.memory:
            memory.peaks = memory.peaks or memory_peaks(memory)
    for variant in report.variants:
        # It was listed as a setting; the overview reads the calls themselves.
        variant.effective = [
            setting for setting in variant.effective if setting.setting != "calls through Python"
        ]
        completing["backends"](variant)
        completing["breaks"](variant)
        if variant.cold and not variant.cold[0].label:
            completing["cold"](variant)
        for way in variant.ways:
            way.as_eager = is_as_eager(way)
        variant.ways_remarks = remarks_on(variant.ways)
        if variant.cuda_graphs is not None and not variant.cuda_graphs.words:
            completing["cuda_graphs"](variant.cuda_graphs)
        completing["launches"](variant)
        if report.subject.kind == "trace":
            completing["outcomes"](variant)
        completing["checks"](variant)
        completing["tiles"](variant)
        completing["package"](variant)
        completing["times"](variant)
        completing["bound"](variant)
    completing["break_costs"](report)
    for graph in report.tiers:
        if not graph.lines:
            completing["tiers"](graph)
    if report.rank is not None and not report.rank.title:
        completing["rank"](report.rank)
    if report.trace is not None:
        completing["trace"](report.trace)
    if report.sweep is not None and not report.sweep.status:
        completing["sweep"](report.sweep)
