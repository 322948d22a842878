"""``compilescope trace``: what TORCH_TRACE logged."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..report import Report
from ..report.errors import CompilescopeError
from . import files


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's options."""
    parser = commands.add_parser(
        "trace",
        help="summarize a TORCH_TRACE log or a folder of logs",
        description="Summarize what torch logged because TORCH_TRACE was set.",
    )
    parser.add_argument("path", type=Path, help="a log, plain or compressed, or a folder of logs")
    parser.add_argument(
        "-o", "--output", type=Path, help="write a page (.html) or a report (.json)"
    )
    parser.add_argument("--rank", type=int, help="of several ranks, this one only")
    parser.add_argument("--redact", action="store_true", help="leave out paths and source code")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Print the summary, and write the file that was asked for."""
    from .. import views  # noqa: F401 - reports print themselves through it
    from ..readers.trace import report_of

    report = report_of(options.path)
    if options.rank is not None:
        report = _of_rank(report, options.rank)
    if options.redact:
        report = report.redacted()
    if options.json:
        files.print_json(files.summary(report))
    else:
        print(report)
    if options.output is not None:
        files.write(report, options.output)
    return 0


def _of_rank(report: Report, rank: int) -> Report:
    name = f"rank {rank}"
    variants = [each for each in report.variants if each.name.partition(",")[0] == name]
    if not variants:
        listed = ", ".join(each.name for each in report.variants)
        raise CompilescopeError(f"The trace has no rank {rank}.", remedy=f"It has: {listed}.")
    report.variants = variants
    return report
