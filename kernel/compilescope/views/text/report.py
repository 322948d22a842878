"""The report in a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from ...analysis.figures.environment_words import environment_line
from ...report import (
    CONDITIONS_TITLE,
    FORMS,
    Break,
    Compilation,
    Kernel,
    Overview,
    Package,
    Recompile,
    Report,
    TargetReport,
    VariantReport,
    conclude,
)
from ...report.break_advice import advice_lines
from .. import recompile_words, wording
from ..rows import changes as changed_rows
from ..rows import (
    cold,
    conditions,
    cuda_graphs,
    deploy,
    package,
    plans,
    ranks,
    routes,
    startups,
    variants,
    watch,
)
from ..rows import kernels as kernel_rows
from ..rows import steps as step_rows
from ..rows import target as target_rows
from ..summary import problems
from ..wrapper_pairs import as_written, compilations, pairs
from . import layout
from . import target as text_target
from .sweep import sweep

_COLORS = {"error": "31", "warning": "33", "info": "36", "bold": "1", "dim": "2"}
_SHOWN_KERNELS = 12
_SHOWN_PROBLEMS = 8
_SHOWN_WATCHED = 40
_SHOWN_CHANGES = 4
_SHOWN_CONDITIONS = 8


def render(report: Report, *, width: int = 100, color: bool = False, name: str = "report") -> str:
    """Return a report as plain text.

    Parameters
    ----------
    report
        What to show.
    width
        Columns of the terminal; text wraps, tables do not.
    color
        Whether to color text with ANSI escapes.
    name
        The variable that holds the report, for lines with the next steps.
    """
    paint = _Paint(color)
    if report.subject.kind == "watch":
        parts = [
            _happened(report, paint, width),
            _problems(report, paint, width),
            _watched(report, paint),
        ]
        return "\n\n".join("\n".join(block) for block in map(list, parts) if block)
    blocks = [
        _head(report, paint),
        _rank(report, paint, width),
        _result(report, name, paint, width),
        _problems(report, paint, width),
        _follows(report, name, paint, width),
    ]
    if report.sweep is not None:
        blocks.append(iter(sweep(report.sweep)))
    blocks.append(_deviations(report, paint, width))
    blocks.append(_cuda_graphs(report, width))
    blocks.append(_changes(report, paint, width))
    blocks.append(_routes(report, paint))
    blocks += [_steps(graph, paint, width) for graph in step_rows.measured(report)]
    blocks.append(_startups(report, paint, width))
    blocks += [_cold(variant, paint, width) for variant in cold.studied(report)]
    blocks += [_deploy(variant, paint, width) for variant in deploy.studied(report)]
    blocks += [
        _package(variant, variant.package, paint, width)
        for variant in package.packaged(report)
        if variant.package is not None
    ]
    blocks += [_target(*targeted, paint, width) for targeted in target_rows.targeted(report)]
    for variant, compilation in compilations(report):
        blocks.append(_compilation(compilation, f"  (as in {variant.name})", paint, width))
    written = as_written(report)
    if written:
        blocks.append(iter([paint("bold", "compiled by the cell itself")]))
        blocks += [_compilation(compilation, "", paint, width) for _, compilation in written]
    blocks.append(_next(report, name, paint))
    return "\n\n".join("\n".join(block) for block in map(list, blocks) if block)


class _Paint:
    def __init__(self, color: bool) -> None:
        self.color = color

    def __call__(self, style: str, text: str) -> str:
        return f"\033[{_COLORS[style]}m{text}\033[0m" if self.color and text else text


def _head(report: Report, paint: _Paint) -> Iterator[str]:
    where = wording.place(report.subject.where)
    yield paint("bold", report.subject.name) + (
        f"  {report.subject.kind}, {where}" if where else ""
    )
    for argument in report.subject.arguments:
        yield f"  {argument}"
    yield paint("dim", environment_line(report.environment))


def _problems(report: Report, paint: _Paint, width: int) -> Iterator[str]:
    listed = problems(report)
    for variant, problem in listed[:_SHOWN_PROBLEMS]:
        mark = paint(problem.severity, f"{wording.MARKS[problem.severity]}:")
        where = wording.place(problem.where)
        scope = f"[{variant}] " if variant else ""
        yield f"{mark} {scope}{problem.what}" + (f"  ({where})" if where else "")
        if problem.where is not None and problem.where.code:
            yield f"  {problem.where.line} | {problem.where.code}"
        yield from _wrapped(problem.why, width, "  ")
        yield from _wrapped(problem.remedy, width, "  → ")
    if len(listed) > _SHOWN_PROBLEMS:
        yield f"… and {wording.count(len(listed) - _SHOWN_PROBLEMS, 'more problem')}: .problems"


def _result(report: Report, name: str, paint: _Paint, width: int) -> Iterator[str]:
    overview = conclude(report)
    yield paint("bold", overview.headline)
    yield from _table([variants.TABLE.head, *variants.rows(report)], paint)
    yield from _wrapped(overview.scope, width, "")
    yield from _wrapped(overview.load, width, "")
    yield from _wrapped(wording.calls_on(name, overview.longer), width, "→ ")


def _follows(report: Report, name: str, paint: _Paint, width: int) -> Iterator[str]:
    """Yield the conclusions: what limits a call, what to change, what happened."""
    overview = conclude(report)
    if overview.wrapper is not None:
        wrapper = overview.wrapper
        sentence = " ".join(
            filter(None, (wrapper.headline, wrapper.text, wording.calls_on(name, wrapper.remedy)))
        )
        yield from _wrapped(sentence, width, "C++ wrapper?  ")
    if overview.limit is not None:
        limit = overview.limit
        parts = ", ".join(part.text for part in limit.parts)
        text = f"{parts}." if parts else limit.text
        sentence = " ".join(
            filter(None, (limit.headline, text, limit.calls, wording.calls_on(name, limit.remedy)))
        )
        yield from _wrapped(sentence, width, "limits?       ")
    for conflict in overview.conflicts:
        if overview.limit is None or conflict.text not in overview.limit.text:
            yield from _wrapped(f"[{conflict.variant}] {conflict.text}", width, "warning:      ")
    yield from _changes_to_make(overview, paint, width)
    yield from _wrapped(" \u00b7 ".join(count.text for count in overview.counts), width, "")
    for count in overview.counts:
        yield from _wrapped(count.why, width, "  ")


def what_to_change(report: Report, *, width: int = 100) -> list[str]:
    """Return what to change, the largest gain first, as lines of text."""
    return list(_changes_to_make(conclude(report), _Paint(color=False), width))


def _changes_to_make(overview: Overview, paint: _Paint, width: int) -> Iterator[str]:
    for number, suggestion in enumerate(overview.suggestions, 1):
        basis = f" ({suggestion.basis})" if suggestion.basis != "unknown" else ""
        gain = f": {suggestion.gain}{basis}" if suggestion.gain else ""
        what = suggestion.what.rstrip(".") if gain else suggestion.what
        yield from _wrapped(f"{what}{gain}", width, f"{number}. ")
        yield from _wrapped(wording.places(suggestion.lines), width, "   ")
        yield from _wrapped(suggestion.why, width, "   ")
        if suggestion.code and suggestion.place:
            yield f"   {suggestion.place}:"
        for line in suggestion.code.splitlines():
            yield f"   {paint('dim', line)}"


def _table(rows: Sequence[Sequence[str]], paint: _Paint) -> Iterator[str]:
    """Yield the lines of a table whose first row is its head; empty columns are left out."""
    for number, line in enumerate(layout.lines(rows)):
        yield paint("bold", line) if number == 0 else line


def _happened(report: Report, paint: _Paint, width: int) -> Iterator[str]:
    """Yield what a watch comes to, and what to change."""
    yield paint("bold", watch.headline(report))
    yield from _changes_to_make(conclude(report), paint, width)


def _watched(report: Report, paint: _Paint) -> Iterator[str]:
    rows = watch.rows(report)
    if len(rows) > _SHOWN_WATCHED:
        yield f"the last {_SHOWN_WATCHED}; all of them: .compilations"
    yield from _table([watch.TABLE.head, *rows[-_SHOWN_WATCHED:]], paint)


def _deviations(report: Report, paint: _Paint, width: int) -> Iterator[str]:
    for variant, deviation in recompile_words.deviations(report):
        both = f"requested {deviation.requested}, effective {deviation.actual}"
        difference = f"{deviation.setting}: {both}"
        yield f"{paint('warning', 'differs:')} [{variant.name}] {difference}"
        yield from _wrapped(deviation.why, width, "  ")
        yield from _wrapped(deviation.remedy, width, "  → ")


def _routes(report: Report, paint: _Paint) -> Iterator[str]:
    rows = routes.routes(report)
    if rows:
        yield paint("bold", "custom operators")
        yield from (f"  {line}" for line in _table([routes.ROUTES.head, *rows], paint))


def _steps(graph: step_rows.Graph, paint: _Paint, width: int) -> Iterator[str]:
    yield paint("bold", step_rows.headline(graph))
    table = [[column.title for column in step_rows.columns(graph)], *step_rows.rows(graph)]
    yield from (f"  {line}" for line in _table(table, paint))
    for line in step_rows.remarks(graph):
        yield from _wrapped(line, width, "  ")


def _startups(report: Report, paint: _Paint, width: int) -> Iterator[str]:
    rows = startups.rows(report)
    if rows:
        yield paint("bold", startups.TITLE)
        yield from (f"  {line}" for line in _table([startups.TABLE.head, *rows], paint))
        for line in startups.paybacks(report):
            yield from _wrapped(line, width, "  ")


def _cold(variant: VariantReport, paint: _Paint, width: int) -> Iterator[str]:
    yield paint("bold", cold.headline(variant))
    yield from (f"  {line}" for line in _table([cold.TABLE.head, *cold.rows(variant)], paint))
    for line in cold.remarks(variant):
        yield from _wrapped(line, width, "  ")


def _deploy(variant: VariantReport, paint: _Paint, width: int) -> Iterator[str]:
    yield paint("bold", deploy.headline(variant))
    yield from (f"  {line}" for line in _table([deploy.TABLE.head, *deploy.rows(variant)], paint))
    for line in deploy.remarks(variant):
        yield from _wrapped(line, width, "  ")


def _package(
    variant: VariantReport, built_package: Package, paint: _Paint, width: int
) -> Iterator[str]:
    yield paint("bold", package.headline(variant, built_package))
    for line in package.lines(built_package):
        yield from _wrapped(line, width, "  ")
    rows = package.entries(built_package)
    if rows:
        yield from (f"  {line}" for line in _table([package.ENTRIES.head, *rows], paint))


def _cuda_graphs(report: Report, width: int) -> Iterator[str]:
    for variant, graphs in cuda_graphs.graphed(report):
        yield f"{variant.name}: {cuda_graphs.graphs_line(graphs)}"
        for line in cuda_graphs.graphs_why(graphs):
            yield from _wrapped(line, width, "  ")


def _rank(report: Report, paint: _Paint, width: int) -> Iterator[str]:
    if report.rank is None:
        return
    yield paint("bold", ranks.rank_line(report))
    for difference in report.rank.differences[:_SHOWN_CHANGES]:
        yield from _wrapped(ranks.difference_line(difference, report.rank.rank), width, "  ")
    for call in report.rank.collectives[:_SHOWN_KERNELS]:
        yield from _wrapped(f"{call.variant}: {ranks.collective_line(call)}", width, "  ")
    if len(report.rank.collectives) > _SHOWN_KERNELS:
        left = len(report.rank.collectives) - _SHOWN_KERNELS
        yield f"  … and {wording.count(left, 'more collective')}: .rank.collectives"


def _changes(report: Report, paint: _Paint, width: int) -> Iterator[str]:
    for variant, changes in changed_rows.changed(report):
        yield from _wrapped(f"{variant.name}: {changes.summary}", width, "changed: ")
        yield from _wrapped(changes.backend_words, width, "  ")
        for row in changed_rows.kernels(changes)[:_SHOWN_CHANGES]:
            yield from _wrapped(f"{row.what}. {row.why}".strip(), width, "  ")


def _target(
    variant: VariantReport, target: TargetReport, paint: _Paint, width: int
) -> Iterator[str]:
    yield paint("bold", text_target.head(variant, target))
    for first, line in text_target.lines(variant, target):
        yield from _wrapped(line, width, first)
    rows, left_out = text_target.kernels(variant)
    if len(rows) > 1:
        yield from (f"  {line}" for line in _table(rows, paint))
    if left_out:
        yield f"  … and {wording.whole_number(left_out)} more: .kernels"


def _compilation(compilation: Compilation, whose: str, paint: _Paint, width: int) -> Iterator[str]:
    where = wording.place(compilation.frame)
    counts = [
        wording.count(len(compilation.kernels), "kernel"),
        wording.count(len(compilation.guards), "guard"),
        wording.count(len(compilation.breaks), "graph break"),
    ]
    head = paint("bold", f"compilation {compilation.id}") + (f"  {where}" if where else "")
    yield f"{head}  {', '.join(counts)}{whose}"
    if compilation.recompile is not None:
        yield from _recompile(compilation.recompile, width)
    for broken in compilation.breaks:
        yield from _break(broken, width)
    yield from _conditions(compilation, paint, width)
    for kernel in compilation.kernels[:_SHOWN_KERNELS]:
        yield from _wrapped(_kernel(kernel), width, "  ")
    if len(compilation.kernels) > _SHOWN_KERNELS:
        left_out = len(compilation.kernels) - _SHOWN_KERNELS
        yield f"  … and {wording.whole_number(left_out)} more: .kernels"
    for plan in plans.plans(compilation):
        yield from _wrapped(plan, width, "  ")


def _conditions(compilation: Compilation, paint: _Paint, width: int) -> Iterator[str]:
    shown = conditions.rows(compilation, _SHOWN_CONDITIONS)
    if not shown:
        return
    yield f"  {paint('dim', f'{CONDITIONS_TITLE}:')}"
    for condition in shown:
        yield from _wrapped(conditions.requirement(condition), width, f"    {condition.name}: ")
    left = conditions.left_out(compilation, _SHOWN_CONDITIONS)
    if left:
        yield f"    … and {wording.count(left, 'more condition')}: .conditions"
    yield from _wrapped(compilation.absent.get("added_guards", ""), width, "    ")


def _recompile(recompile: Recompile, width: int) -> Iterator[str]:
    for reason in recompile_words.reasons(recompile):
        yield from _wrapped(reason, width, "  recompiled: ")
    for symbol in recompile.became_dynamic:
        yield from _wrapped(symbol, width, "    dynamic from now on: ")
    yield from _wrapped(recompile_words.near_the_limit(recompile), width, "    ")
    for what, code in recompile_words.advice(recompile):
        yield from _wrapped(what, width, "    → ")
        for line in code.splitlines():
            yield f"        {line}"


def _break(broken: Break, width: int) -> Iterator[str]:
    where = wording.place(broken.where)
    reason = "; ".join(broken.reason.splitlines())
    yield from _wrapped(reason + (f"  ({where})" if where else ""), width, "  break: ")
    yield from _wrapped(broken.eager, width, "    in eager: ")
    for line in advice_lines(broken):
        yield from _wrapped(line, width, "    → ")


def _kernel(kernel: Kernel) -> str:
    times = len({launch.key for launch in kernel.launches})
    called = f", called {times} times" if times > 1 else ""
    ops = f": {', '.join(kernel.ops)}" if kernel.ops else ""
    fused = ", ".join(plans.fusion(kernel))
    head = f"{kernel.name} ({target_rows.language(kernel)}{called}){ops}"
    parts = [head, kernel_rows.modules(kernel), fused, kernel_rows.descriptors(kernel.descriptors)]
    return "; ".join(filter(None, parts))


def _wrapped(text: str, width: int, first: str) -> Iterator[str]:
    for line in text.splitlines():
        yield from textwrap.wrap(
            line,
            width,
            initial_indent=first,
            subsequent_indent=" " * len(first),
            break_on_hyphens=False,
            break_long_words=False,
        )
        first = " " * len(first)


def _next(report: Report, name: str, paint: _Paint) -> Iterator[str]:
    steps = [(f'{name}.save("report.html")', "everything, in one file")]
    if needed := conclude(report).needed_import:
        steps.insert(0, (needed, "for the calls named above"))
    all_compilations = [compilation for _, compilation in compilations(report)]
    with_code = [
        pair.compilation for pair in pairs(report) if pair.right and pair.right.artifact == "cpp"
    ]
    for compilation in [candidate for candidate in all_compilations if candidate.kernels][:1]:
        expression = f'{name}.compilation("{compilation.id}")'
        steps.append((f"{expression}.kernels[0].source", "a kernel"))
        if compilation.id in with_code:
            steps.append((f"{expression}.code.cpp", "the C++ wrapper"))
    steps += _compiled(report, name)
    size = max(len(step) for step, _ in steps)
    for step, meaning in steps:
        yield f"{step.ljust(size)}  {paint('dim', meaning)}"


def _compiled(report: Report, name: str) -> Iterator[tuple[str, str]]:
    """Yield how to see the last form of the first kernel that was compiled for a target."""
    for variant, _ in target_rows.targeted(report):
        for compilation in variant.compilations:
            for at, kernel in enumerate(compilation.kernels):
                for form in target_rows.forms(kernel)[-1:]:
                    expression = f'{name}.compilation("{compilation.id}", "{variant.name}")'
                    yield f'{expression}.kernels[{at}].assembly["{form}"]', FORMS[form][0]
                    return
