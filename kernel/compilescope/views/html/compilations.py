"""A compilation, folded: what broke, why it was compiled again, its kernels, graphs and guards."""

from __future__ import annotations

from html import escape

from ...report import (
    STAGES,
    Break,
    Compilation,
    Guard,
    Kernel,
    SourceLine,
    VariantReport,
    is_record,
)
from .. import deviations, wording
from ..limits import Limits
from ..rows import plans, routes
from ..wrapper_pairs import codes
from . import highlight
from .style import Markup
from .summary import details

_WRAPPERS = {"cpp": "C++", "python": "Python", "aot": "ahead of time"}


def compilation_details(
    variant: VariantReport, compilation: Compilation, markup: Markup, limits: Limits, hint: str
) -> str:
    """Return everything of one compilation beside its wrappers; ``hint`` says how to see all."""
    where = wording.place(compilation.frame)
    head = f"<b>Compilation {escape(compilation.id)}</b>" + (f" · {escape(where)}" if where else "")
    if not is_record(variant):
        head += f" · as in {escape(variant.name)}"
    parts = [
        markup.element("p", "part", head),
        _recompile(compilation, markup),
        "".join(_break(one, markup) for one in compilation.breaks),
        _kernels(compilation.kernels, markup, limits, hint),
        _plans(compilation, markup),
        _graphs(compilation, markup, limits, hint),
        _guards(compilation.guards, markup, limits, hint),
        _settings(variant, markup),
        _absent(compilation, markup),
    ]
    return "".join(part for part in parts if part)


def _recompile(compilation: Compilation, markup: Markup) -> str:
    if compilation.recompile is None:
        return ""
    recompile = compilation.recompile
    told = [*deviations.reasons(recompile)]
    told += [f"dynamic from now on: {symbol}" for symbol in recompile.became_dynamic]
    told += filter(None, [deviations.near_the_limit(recompile)])
    before = recompile.previous
    after = f" of {escape(before)}" if before else ""
    body = f"<b>Compiled again</b>: a guard{after} failed.<br>{'<br>'.join(map(escape, told))}"
    for what, code in deviations.advice(recompile):
        body += f"<br>→ {escape(what)}"
        body += "".join(f"<br><code>{_spaced(line)}</code>" for line in code.splitlines())
    return markup.element("div", "problem problem-warning", body)


def _spaced(line: str) -> str:
    """Return a line of code with its indent."""
    indent = len(line) - len(line.lstrip())
    return "&nbsp;" * indent + escape(line.lstrip())


def _break(broken: Break, markup: Markup) -> str:
    where = f" ({escape(wording.place(broken.where))})" if broken.where else ""
    body = f"<b>Graph break</b>: {escape(broken.reason)}{where}"
    if broken.where and broken.where.code:
        body += f"<br><code>{escape(broken.where.code.strip())}</code>"
    if broken.eager:
        body += f"<br>in eager: <code>{escape(broken.eager)}</code>"
    body += "".join(f"<br>→ {escape(hint)}" for hint in broken.hints)
    if broken.link.startswith("https://"):
        link = escape(broken.link)
        body += f'<br><a href="{link}" rel="noreferrer"{markup.attributes("link")}>{link}</a>'
    if broken.explanation:
        told = markup.element("pre", "code", escape(broken.explanation))
        body += details("explanation", markup.element("div", "paper", told), markup)
    return markup.element("div", "problem problem-warning", body)


def _plans(compilation: Compilation, markup: Markup) -> str:
    told = [escape(one) for one in plans.plans(compilation)]
    return markup.element("p", "line", "<br>".join(told)) if told else ""


def _kernels(kernels: list[Kernel], markup: Markup, limits: Limits, hint: str) -> str:
    if not kernels:
        return ""
    body = "".join(_kernel(one, markup, limits, hint) for one in kernels[: limits.kernels])
    body += _left_out(len(kernels) - limits.kernels, "kernel", markup, hint)
    return details(f"<b>Kernels</b> · {len(kernels)}", body, markup)


def _kernel(kernel: Kernel, markup: Markup, limits: Limits, hint: str) -> str:
    language = "library call" if kernel.language == "extern" else kernel.language
    ops = f" · {escape(', '.join(kernel.ops))}" if kernel.ops else ""
    summary = f"<code>{escape(kernel.name)}</code> ({escape(language)}){ops}"
    told = [
        f"{escape(artifact)} wrapper, line {', '.join(map(str, numbers))}"
        for artifact, numbers in _launches(kernel).items()
    ]
    told += [f"from {escape(_source(source))}" for source in kernel.sources[-4:]]
    told += [f"of {escape(', '.join(kernel.modules[:4]))}" for _ in kernel.modules[:1]]
    told += [escape(one) for one in [plans.kernel(kernel)] if one]
    told += [escape(one) for one in [routes.descriptors(kernel.descriptors)] if one]
    told += [f"no {escape(what)}: {escape(why)}" for what, why in kernel.absent.items()]
    lines = "<br>".join(told)
    body = markup.element("p", "line", lines) if lines else ""
    if kernel.source:
        body += _code(kernel.source, kernel.language, limits.kernel_lines, markup, hint)
    return details(summary, body, markup) if body else markup.element("p", "summary", summary)


def _launches(kernel: Kernel) -> dict[str, list[int]]:
    lines: dict[str, list[int]] = {}
    for launch in kernel.launches:
        numbers = lines.setdefault(_WRAPPERS[launch.artifact], [])
        if launch.line not in numbers:
            numbers.append(launch.line)
    return lines


def _source(source: SourceLine) -> str:
    code = source.code.strip()
    return f"{wording.place(source)}: {code}" if code else wording.place(source)


def _graphs(compilation: Compilation, markup: Markup, limits: Limits, hint: str) -> str:
    order = [stage for stage in STAGES if stage in compilation.graphs]
    order += [stage for stage in compilation.graphs if stage not in STAGES]
    body = ""
    shown = [stage for stage in order if not limits.stages or stage in limits.stages]
    for stage in shown:
        graph = compilation.graphs[stage]
        nodes = f" · {wording.count(len(graph.nodes), 'node')}" if graph.nodes else ""
        code = _code(graph.text, "fx", limits.graph_lines, markup, hint)
        body += details(f"{escape(STAGES.get(stage, stage))}{nodes}", code, markup)
    body += _left_out(len(order) - len(shown), "stage", markup, hint)
    stages = wording.count(len(order), "stage")
    return details(f"<b>Graphs</b> · {stages}", body, markup) if body else ""


def _guards(guards: list[Guard], markup: Markup, limits: Limits, hint: str) -> str:
    if not guards:
        return ""
    rows = "".join(_guard(guard, markup) for guard in guards[: limits.guards])
    heads = "".join(markup.element("th", "head", name) for name in ("type", "check", "from"))
    table = markup.element("table", "table", f"<tr>{heads}</tr>{rows}")
    left_out = _left_out(len(guards) - limits.guards, "guard", markup, hint)
    return details(f"<b>Guards</b> · {len(guards):,}", table + left_out, markup)


def _guard(guard: Guard, markup: Markup) -> str:
    check = f"<code>{escape(guard.expression)}</code>"
    cells = (escape(guard.type), check, escape(wording.place(guard.origin)))
    return "<tr>" + "".join(markup.element("td", "cell", cell) for cell in cells) + "</tr>"


def _settings(variant: VariantReport, markup: Markup) -> str:
    """Return what torch did with the settings, and those that are not torch's default."""
    told = [
        f"<code>{escape(one.setting)}</code>: asked for {escape(one.requested)}, "
        f"got {escape(one.actual)}" + (f" ({escape(one.why)})" if one.why else "")
        for one in variant.effective
    ]
    told += [
        f"<code>{escape(key)} = {escape(value)}</code>" for key, value in variant.config.items()
    ]
    body = markup.element("p", "line", "<br>".join(told))
    return details(f"<b>Settings</b> · {len(told)}", body, markup) if told else ""


def _absent(compilation: Compilation, markup: Markup) -> str:
    missing = dict(compilation.absent)
    for code in codes(compilation):
        missing.update(code.absent)
    told = "<br>".join(f"{escape(what)}: {escape(why)}" for what, why in missing.items())
    body = markup.element("p", "line", told)
    return details(f"<b>Not there</b> · {len(missing)}", body, markup) if told else ""


def _code(text: str, language: str, limit: int, markup: Markup, hint: str) -> str:
    lines = highlight.split(text)
    shown = highlight.lines("\n".join(lines[:limit]) + "\n", language)
    code = highlight.html(shown, markup)
    return markup.element("div", "paper", code) + _left_out(
        len(lines) - limit, "line", markup, hint
    )


def _left_out(number: int, noun: str, markup: Markup, hint: str) -> str:
    if number <= 0:
        return ""
    return markup.element(
        "p", "gap", f"{wording.count(number, f'more {noun}')}: <code>{escape(hint)}</code>"
    )
