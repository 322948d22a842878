"""``compilescope diff``: what differs between two reports or traces."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ..analysis.changes.reports import ReportDifference, VariantDifference, report_difference
from ..analysis.figures.counts import WRONG
from ..report import Struct
from ..report.errors import CompilescopeError
from ..report.subjects.traces import FigureChange
from . import files
from .terminal import show_progress

_FAILURES = {
    "slower": "",
    "failure": "failures",
    "eager-fallback": "eager fallbacks",
    "wrong-result": WRONG,
    "recompile": "recompiles",
    "graph-break": "graph breaks",
    "more-kernels": "kernels",
    "more-guards": "guards",
}
"""Values of --fail-on → the figure that must not grow."""
_ONLY_REPORTS = {
    "slower": "compares latencies, and a trace has none",
    "wrong-result": "compares results with eager's, which a trace does not have",
}
"""What a trace cannot show, and why."""
_NOT_MEASURED = {
    "slower": "no variant has a latency in both reports",
    "wrong-result": "no variant's results were compared with eager's in both reports",
}
"""Why reports say nothing of it."""
_REPORT = ".compilescope.json"


class FolderDifference(Struct):
    """The differences between two folders of reports, as ``--json`` prints them."""

    reports: dict[str, ReportDifference]
    """The differences of the reports that both folders have."""
    only_before: list[str]
    only_after: list[str]


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's options."""
    parser = commands.add_parser(
        "diff",
        help="compare two reports, folders of reports or traces",
        description="Compare two reports or traces of the same script, before and after a change; "
        "or two folders of reports, matched by file name.",
    )
    parser.add_argument("before", type=files.place, help=files.FILE)
    parser.add_argument("after", type=files.place, help="the same, after the change")
    parser.add_argument("--json", action="store_true", help="print the differences as JSON")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        help="for two traces: write a page (.html) or report (.json) of AFTER with the differences",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="for two traces: compare kernels and guards of every compilation that differs, not "
        "only of the slowest",
    )
    parser.add_argument(
        "--fail-on",
        type=_names,
        default=[],
        metavar="WHAT,…",
        help=f"exit with 1 if AFTER has more of these than BEFORE: {', '.join(_FAILURES)}",
    )
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Print the differences."""
    for place in (options.before, options.after):
        if isinstance(place, Path) and not place.exists():
            raise CompilescopeError(
                f"There is no file or folder {str(place)!r}.",
                "" if place.is_absolute() else f"It was looked for in {Path.cwd()}.",
                f"Give {files.FILE}, or a folder of reports.",
            )
    are_folders = _is_folder(options.before) or _is_folder(options.after)
    for place in () if are_folders else (options.before, options.after):
        if isinstance(place, Path) and place.is_dir() and not any(place.iterdir()):
            raise CompilescopeError(
                f"The folder {str(place)!r} is empty.",
                remedy=f"Give a folder of reports (*{_REPORT}) or of logs of TORCH_TRACE.",
            )
    if not are_folders and files.is_trace(options.before) and files.is_trace(options.after):
        return _of_traces(options)
    if options.output is not None:
        raise CompilescopeError(
            "-o writes a page of two traces.",
            remedy="Leave it out; a saved report is a page already, or becomes one by its save().",
        )
    if are_folders:
        return _of_folders(options)
    difference = report_difference(files.read(options.before), files.read(options.after))
    if options.fail_on and not difference.variants:
        raise CompilescopeError(
            "--fail-on compares nothing: the two have no variant of the same name.",
            _variants_of(difference),
            "Give two reports of the same script, or two traces.",
        )
    if options.json:
        files.print_json(difference)
    else:
        _print_lines(_difference_lines(difference))
    _print_not_compared([difference], options)
    return _status(_worse(difference, options), options)


def _variants_of(difference: ReportDifference) -> str:
    """The variants of two reports that have none in common."""
    before, after = (
        ", ".join(names) or "none" for names in (difference.only_before, difference.only_after)
    )
    return f"Before: {before}. After: {after}."


def _of_folders(options: argparse.Namespace) -> int:
    """Reports of the same name are compared; one without a partner is not counted as worse."""
    before, after = _reports(options.before), _reports(options.after)
    result = FolderDifference(
        reports={
            name: report_difference(files.read(before[name]), files.read(path))
            for name, path in after.items()
            if name in before
        },
        only_before=[name for name in before if name not in after],
        only_after=[name for name in after if name not in before],
    )
    if options.json:
        files.print_json(result)
    else:
        unchanged = [
            name for name, difference in result.reports.items() if _is_unchanged(difference)
        ]
        lines: list[str] = []
        for name, difference in result.reports.items():
            if name not in unchanged:
                lines += [f"{name}:", *_difference_lines(difference)]
        _print_lines(lines)
        if unchanged:
            print(f"no difference: {', '.join(unchanged)}")
        for name in result.only_before:
            print(f"only before: report {name}")
        for name in result.only_after:
            print(f"only after: report {name}")
    worse = [
        f"{name}: {what}"
        for name, difference in result.reports.items()
        for what in _worse(difference, options)
    ]
    status = _status(worse, options)
    _print_not_compared(list(result.reports.values()), options)
    apart = {
        name: difference
        for name, difference in result.reports.items()
        if not difference.variants and (difference.only_before or difference.only_after)
    }
    if options.fail_on and not result.reports:
        raise CompilescopeError(
            "--fail-on compares nothing: the two folders have no report of the same name.",
            f"Before: {', '.join(before) or 'none'}. After: {', '.join(after) or 'none'}.",
            "Give two folders of reports of the same tests, or save the baseline again.",
        )
    if options.fail_on and apart:
        raise CompilescopeError(
            f"--fail-on compares nothing of {', '.join(apart)}: the two reports have no variant "
            "of the same name.",
            " ".join(f"{name}: {_variants_of(difference)}" for name, difference in apart.items()),
            "Give two folders of reports of the same tests, or save the baseline again.",
        )
    return status


def _is_folder(path: Path | str) -> bool:
    """Whether a path is a folder of reports, not of logs."""
    return isinstance(path, Path) and path.is_dir() and bool(_reports(path))


def _reports(folder: Path) -> dict[str, Path]:
    """The reports of a folder by their names, without the ending.

    Raises
    ------
    CompilescopeError
        It is no folder.
    """
    if not Path(folder).is_dir():
        raise CompilescopeError(
            f"{str(folder)!r} is a file, and the other is a folder of reports.",
            remedy="Give two folders, or two reports.",
        )
    return {path.name.removesuffix(_REPORT): path for path in sorted(folder.glob(f"*{_REPORT}"))}


def _is_unchanged(difference: ReportDifference) -> bool:
    return not (difference.only_before or difference.only_after) and all(
        variant.latency is None
        and all(figure.before == figure.after for figure in variant.figures)
        and not any(_lines(variant))
        for variant in difference.variants
    )


def _print_lines(lines: Iterable[str]) -> None:
    """Prints a difference below the signs that it uses."""
    lines = list(lines)
    used = {sign[1] for line in lines if (sign := _SIGN.match(line)) is not None}
    if used:
        print("signs: " + ", ".join(f"{sign} {_SIGNS[sign]}" for sign in _SIGNS if sign in used))
    for line in lines:
        print(line)


_SIGNS = {"-": "only before", "+": "only after", "≠": "in both, but different"}
_SIGN = re.compile(r" +([-+≠]) ")
"""The beginning of a line of a difference."""


def _difference_lines(difference: ReportDifference) -> Iterator[str]:
    for variant in difference.variants:
        yield title(variant.before, variant.after)
        yield from figures(variant.figures)
        if variant.latency is not None:
            yield f"  latency         {variant.latency.text}"
            if variant.latency.conditions:
                yield f"                  measured with {'; '.join(variant.latency.conditions)}"
        yield from _lines(variant)
    for name in difference.only_before:
        yield f"only before: variant {name}"
    for name in difference.only_after:
        yield f"only after: variant {name}"


def _worse(difference: ReportDifference, options: argparse.Namespace) -> list[str]:
    """The figures of --fail-on that grew, each with its variant."""
    return [
        f"{variant.after}: {name}"
        for variant in difference.variants
        for name in [
            *(["slower"] if variant.latency is not None and variant.latency.is_slower else []),
            *_grown(variant.figures),
        ]
        if name in options.fail_on
    ]


def _print_not_compared(
    differences: Sequence[ReportDifference], options: argparse.Namespace
) -> None:
    """Prints to standard error what --fail-on names and no variant has."""
    variants = [variant for difference in differences for variant in difference.variants]
    figures = {figure.name for variant in variants for figure in variant.figures}
    missing = {
        "slower": all(variant.latency is None for variant in variants),
        "wrong-result": WRONG not in figures,
    }
    for name in options.fail_on:
        if variants and missing.get(name):
            print(f"--fail-on {name} compares nothing: {_NOT_MEASURED[name]}.", file=sys.stderr)


def _of_traces(options: argparse.Namespace) -> int:
    from ..readers.lazy_trace import Trace
    from ..readers.trace_difference import MAX_READ, trace_difference
    from .trace_diff_text import difference_text

    for name in options.fail_on:
        if name in _ONLY_REPORTS:
            raise CompilescopeError(
                f"--fail-on {name} {_ONLY_REPORTS[name]}.",
                remedy="Leave it out, or give two reports of measured calls.",
            )
    if options.output is not None:
        files.check_output(options.output)
    every = options.all or not {"more-kernels", "more-guards"}.isdisjoint(options.fail_on)
    with (
        Trace(options.before, show_progress) as before,
        Trace(options.after, show_progress) as after,
    ):
        for trace in (before, after):
            files.refuse_no_trace(trace.processes, trace.problems)
        difference = trace_difference(before, after, most_read=None if every else MAX_READ)
        problems = [
            f"{path}: {problem.what}"
            for path, trace in ((options.before, before), (options.after, after))
            for problem in trace.problems
        ]
    for problem in problems:
        files.print_note(problem)
    if options.json:
        files.print_json(difference)
    else:
        _print_lines(difference_text(difference))
    if options.output is not None:
        from ..readers.trace import report_of

        report = report_of(options.after)
        if report.trace is not None:
            report.trace.difference = difference
        files.write(report, options.output)
    worse = [
        f"{process.after}: {name}"
        for process in difference.processes
        for name in _grown([*process.figures, *process.in_changed])
        if name in options.fail_on
    ]
    return _status(worse, options)


def _grown(figures: Sequence[FigureChange]) -> list[str]:
    """The figures that grew, by the names of --fail-on."""
    grown = {figure.name for figure in figures if figure.after > figure.before}
    return [name for name, figure in _FAILURES.items() if figure in grown]


def _status(worse: Sequence[str], options: argparse.Namespace) -> int:
    if worse and not options.json:
        print(f"worse: {'; '.join(worse)}")
    return 1 if worse else 0


def title(before: str, after: str) -> str:
    """The title of a comparison, in a line."""
    return after if before == after else f"{before} → {after}"


def figures(changes: Sequence[FigureChange]) -> Iterator[str]:
    """Yield a row for each figure."""
    for figure in changes:
        change = figure.after - figure.before
        row = f"  {figure.name:15} {figure.before:6} → {figure.after:<6}"
        yield f"{row} {change:+d}" if change else row.rstrip()


def _lines(variant: VariantDifference) -> Iterator[str]:
    for mark, changes in (("-", variant.gone), ("+", variant.new), ("≠", variant.changed)):
        for change in changes:
            yield f"  {mark} {change}"


def _names(text: str) -> list[str]:
    names = [name for name in text.split(",") if name]
    if not names:
        raise argparse.ArgumentTypeError(f"it is empty; it takes {', '.join(_FAILURES)}")
    unknown = [name for name in names if name not in _FAILURES]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"there is no {unknown[0]!r}; it takes {', '.join(_FAILURES)}"
        )
    return names
