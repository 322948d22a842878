"""``compilescope trace``: prints the contents of a TORCH_TRACE log."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..readers.lazy_trace import Trace
from ..readers.trace_summary import compilation_lines, summary_of
from ..report.errors import CompilescopeError
from ..report.subjects.traces import CompilationLine
from . import files, trace_text
from .terminal import Paint, show_progress

_CACHE_ORDER = ("bypass", "miss", "hit")
_SORTS: dict[str, Callable[[CompilationLine], Any]] = {
    "start": lambda line: line.started_s or 0.0,
    "time": lambda line: -(line.duration_s or 0.0),
    "size": lambda line: -(line.nodes or 0),
    "function": lambda line: (line.frame.function if line.frame else "", line.started_s or 0.0),
    "outcome": lambda line: ("failed", "eager", "compiled").index(line.outcome),
    "breaks": lambda line: -line.graph_breaks,
    "recompile": lambda line: (not line.recompile, line.recompile),
    "cache": lambda line: min(map(_CACHE_ORDER.index, line.caches.values()), default=3),
}
_FILTERS: dict[str, Callable[[CompilationLine], bool]] = {
    "failed": lambda line: line.outcome == "failed",
    "fallback": lambda line: line.outcome == "eager",
    "recompiled": lambda line: line.is_recompile,
    "broken": lambda line: line.graph_breaks > 0,
    "cache-hit": lambda line: "hit" in line.caches.values(),
    "cache-miss": lambda line: "miss" in line.caches.values(),
    "cache-bypass": lambda line: "bypass" in line.caches.values(),
}


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's options."""
    parser = commands.add_parser(
        "trace",
        help="summarize a TORCH_TRACE log or a folder of logs",
        description="Summarize the logs that torch wrote to the folder in TORCH_TRACE.",
    )
    parser.add_argument(
        "paths",
        nargs="+",
        type=files.place,
        metavar="PATH",
        help="a log, plain or compressed, or a folder of logs",
    )
    parser.add_argument(
        "-o", "--output", type=Path, help="write a page (.html) or a report (.json)"
    )
    parser.add_argument("--rank", type=int, help="read only this rank")
    parser.add_argument("--redact", action="store_true", help="leave out paths and source code")
    parser.add_argument("--json", action="store_true", help="print the summary or list as JSON")
    parser.add_argument(
        "--follow",
        action="store_true",
        help="print compilations while a job runs; Ctrl-C prints the summary (not with --json)",
    )
    listing = parser.add_argument_group("list of compilations")
    listing.add_argument("--list", action="store_true", help="list every compilation")
    listing.add_argument("--sort", choices=list(_SORTS), help="order of the list (default: start)")
    listing.add_argument("--only", choices=list(_FILTERS), help="list only these")
    listing.add_argument(
        "--min-nodes", type=_count, metavar="N", help="list only graphs with at least N nodes"
    )
    listing.add_argument(
        "--function", metavar="TEXT", help="list only functions or files with TEXT in their name"
    )
    parser.add_argument(
        "--stacks",
        action="store_true",
        help="print the calls that led to compilations, as a tree",
    )
    parser.add_argument(
        "--search",
        metavar="TEXT",
        help="print the lines with TEXT in all texts of all compilations; exit with 1 if none",
    )
    parser.set_defaults(
        command=command, is_brief=lambda options: not options.follow and options.output is None
    )


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is not a number of nodes: give 0 or more")
    return int(text)


def command(options: argparse.Namespace) -> int:
    """Print the summary or the list, and write the requested file."""
    rank = None if options.rank is None else f"rank {options.rank}"
    if options.output is not None:
        files.check_output(options.output)
    if options.search is not None and options.stacks:
        raise CompilescopeError(
            "--search and --stacks print different things.", remedy="Give one of them."
        )
    shown = "--search" if options.search else "--stacks" if options.stacks else ""
    if options.output is not None and shown:
        raise CompilescopeError(
            f"{shown} prints to the terminal, and -o writes a page or a report.",
            remedy="Give one of them.",
        )
    if options.search == "":
        raise CompilescopeError("--search looks for a text, and this one is empty.")
    for path in options.paths:
        if not files.is_trace(path):
            raise CompilescopeError(
                f"{path.name} is not a trace.",
                remedy="compilescope show, diff and open read reports and packages.",
            )
    if options.follow:
        from .follow import check_growth, follow, wait_for_logs

        check_growth(options.paths)
        wait_for_logs(options.paths)
    with Trace(options.paths, show_progress, whole=not options.follow) as trace:
        if options.follow:
            follow(trace, rank=rank, redact=options.redact, as_json=options.json)
        files.refuse_no_trace(trace.processes, trace.problems)
        names = [log.name for log in trace.processes]
        if rank is not None and rank not in names:
            raise CompilescopeError(
                f"The trace has no rank {options.rank}.", remedy=f"It has: {', '.join(names)}."
            )
        if options.search:
            return _search(trace, rank, options)
        if options.stacks:
            return _stacks(trace, rank, options)
        chosen = options.only or options.function or options.min_nodes
        if options.list or options.sort or chosen:
            _list(trace, rank, options)
        elif not (options.follow and options.json):
            _summarize(trace, rank, options)
    if options.output is not None:
        from ..readers.trace import report_of

        report = report_of(options.paths, rank)
        files.write(report, options.output, redact=options.redact)
    return 0


def _summarize(trace: Trace, rank: str | None, options: argparse.Namespace) -> None:
    trace_summary = summary_of(trace, rank=rank, redact=options.redact)
    if options.json:
        files.print_json(trace_summary)
        return
    for line in trace_text.summary(trace_summary, Paint(sys.stdout)):
        print(line)


def _search(trace: Trace, rank: str | None, options: argparse.Namespace) -> int:
    if options.redact:
        raise CompilescopeError(
            "--search prints what torch logged, which --redact leaves out.",
            remedy="Give one of them.",
        )
    from ..readers.search import search

    matches = search(trace, options.search, rank=rank)
    if options.json:
        files.print_json(matches)
    else:
        for hit in matches.hits:
            print(f"{hit.process} {hit.compilation} {hit.name}, line {hit.line}: {hit.text}")
        if matches.is_cut:
            files.print_note(f"there are more than {len(matches.hits)} lines")
    return 0 if matches.hits else 1


def _stacks(trace: Trace, rank: str | None, options: argparse.Namespace) -> int:
    if options.redact:
        raise CompilescopeError(
            "--stacks prints the files and lines that torch logged, which --redact leaves out.",
            remedy="Give one of them.",
        )
    trees = summary_of(trace, rank=rank, stacks=True).stacks
    if options.json:
        files.print_json(trees)
    else:
        for line in trace_text.stacks(trees, Paint(sys.stdout)):
            print(line)
    return 0


def _list(trace: Trace, rank: str | None, options: argparse.Namespace) -> None:
    report = trace.report(rank)
    if options.redact:
        report = report.redacted()
    lines = [
        line
        for variant in report.variants
        for line in compilation_lines(variant)
        if (options.only is None or _FILTERS[options.only](line))
        and _names(line, options.function)
        and (line.nodes or 0) >= (options.min_nodes or 0)
    ]
    if options.sort:
        lines.sort(key=_SORTS[options.sort])
    if options.json:
        files.print_json(lines)
        return
    if not lines:
        files.print_note("no compilation matches")
    for text in trace_text.compilations(lines, Paint(sys.stdout), scoped=len(trace.processes) > 1):
        print(text)


def _names(line: CompilationLine, text: str | None) -> bool:
    """Whether the function or file of a line contains a text."""
    if not text:
        return True
    return line.frame is not None and (text in line.frame.function or text in line.frame.file)
