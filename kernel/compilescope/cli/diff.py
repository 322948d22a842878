"""``compilescope diff``: what differs between two reports."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from ..analysis.changes.reports import VariantDifference, report_difference
from . import files

_FAILURES = {
    "slower": "",
    "recompiles": "recompiles",
    "graph-breaks": "graph breaks",
    "kernels": "kernels",
    "guards": "guards",
}
"""What --fail-on takes, and the figure that must not grow."""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's options."""
    parser = commands.add_parser(
        "diff",
        help="compare two reports or traces",
        description="Compare two reports or traces of the same script, before and after a change.",
    )
    parser.add_argument("before", type=Path, help=files.FILE)
    parser.add_argument("after", type=Path, help="the same, after the change")
    parser.add_argument("--json", action="store_true", help="print the differences as JSON")
    parser.add_argument(
        "--fail-on",
        type=_names,
        default=[],
        metavar="WHAT,…",
        help=f"exit with 1 where there is more of it: {', '.join(_FAILURES)}",
    )
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Print the differences."""
    difference = report_difference(files.read(options.before), files.read(options.after))
    worse = [
        f"{variant.after}: {name}"
        for variant in difference.variants
        for name in options.fail_on
        if (
            variant.latency is not None and variant.latency.is_slower
            if name == "slower"
            else any(
                figure.name == _FAILURES[name] and figure.after > figure.before
                for figure in variant.figures
            )
        )
    ]
    if options.json:
        files.print_json(difference)
    else:
        for variant in difference.variants:
            same = variant.before == variant.after
            print(variant.after if same else f"{variant.before} → {variant.after}")
            for figure in variant.figures:
                change = figure.after - figure.before
                row = f"  {figure.name:12} {figure.before:6} → {figure.after:<6}"
                print(f"{row} {change:+d}" if change else row.rstrip())
            if variant.latency is not None:
                print(f"  latency      {variant.latency.text}")
            for line in _lines(variant):
                print(line)
        for name in difference.only_before:
            print(f"only before: variant {name}")
        for name in difference.only_after:
            print(f"only after: variant {name}")
    if worse and not options.json:
        print(f"worse: {'; '.join(worse)}")
    return 1 if worse else 0


def _lines(variant: VariantDifference) -> Iterator[str]:
    for mark, things in (("-", variant.gone), ("+", variant.new), ("≠", variant.changed)):
        for thing in things:
            yield f"  {mark} {thing}"


def _names(text: str) -> list[str]:
    names = [name for name in text.split(",") if name]
    unknown = [name for name in names if name not in _FAILURES]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"there is no {unknown[0]!r}; it takes {', '.join(_FAILURES)}"
        )
    return names
