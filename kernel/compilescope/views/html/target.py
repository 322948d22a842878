"""Variants for a GPU that is not there, as HTML: estimates, decisions, kernels with their code."""

from __future__ import annotations

from html import escape

from ...report import FORMS, Kernel, Report, TargetReport, VariantReport
from .. import wording
from ..limits import Limits
from ..rows import target as target_rows
from . import highlight
from .style import Markup
from .summary import details
from .table import table


def targets(report: Report, markup: Markup, limits: Limits, hint: str) -> str:
    """Return every variant for a target; ``hint`` says how to see all."""
    return "".join(
        _target(variant, target, markup, limits, hint)
        for variant, target in target_rows.targeted(report)
    )


def _target(
    variant: VariantReport, target: TargetReport, markup: Markup, limits: Limits, hint: str
) -> str:
    head = (
        f"<b>Target {escape(target_rows.device(target))}</b> · {escape(variant.name)} · estimated"
    )
    told = [target_rows.nothing_ran(target), *target_rows.estimate_lines(variant)]
    told += filter(None, [target_rows.checked(variant)])
    told += [f"no {what}: {why}" for what, why in target.absent.items()]
    parts = [
        markup.element("p", "part", head),
        markup.element("p", "line", "<br>".join(map(escape, told))),
        _kernels(variant, markup, limits, hint),
        _decisions(variant, markup),
        _compiled(variant, markup, limits, hint),
    ]
    return "".join(part for part in parts if part)


def _kernels(variant: VariantReport, markup: Markup, limits: Limits, hint: str) -> str:
    rows = target_rows.kernels(variant)
    shown = rows[: limits.target_kernels]
    if not shown:
        return ""
    made = table(target_rows.HEAD, shown, markup, words=target_rows.WORDS, tag="code", sparse=True)
    return made + _left_out(len(rows) - len(shown), "kernel", markup, hint)


def _decisions(variant: VariantReport, markup: Markup) -> str:
    found = target_rows.decisions(variant)
    if not found:
        return ""
    body = "".join(
        markup.element(
            "div",
            "problem",
            "<br>".join(
                [
                    f"<b>{escape(target_rows.decided(one))}</b>",
                    *map(escape, target_rows.reasons(one)),
                ]
            ),
        )
        for one in found
    )
    return details(f"<b>Decided without the device</b> · {len(found)}", body, markup)


def _compiled(variant: VariantReport, markup: Markup, limits: Limits, hint: str) -> str:
    """Return the kernels' compiled forms and their other configurations."""
    found = [
        kernel
        for compilation in variant.compilations
        for kernel in compilation.kernels
        if target_rows.forms(kernel) or kernel.configs
    ]
    if not found:
        return ""
    body = "".join(_kernel(one, markup, limits, hint) for one in found[: limits.kernels])
    body += _left_out(len(found) - limits.kernels, "kernel", markup, hint)
    return details(f"<b>Compiled kernels</b> · {len(found)}", body, markup)


def _kernel(kernel: Kernel, markup: Markup, limits: Limits, hint: str) -> str:
    body = "".join(
        _form(form, kernel.assembly[form], markup, limits, hint)
        for form in target_rows.forms(kernel)
    )
    for config in kernel.configs:
        if not config.usual:
            told = config.why or ", ".join(
                f"{name} {value:g}" for name, value in config.resources.items()
            )
            body += markup.element(
                "p", "line", f"<code>{escape(config.name)}</code> {escape(told)}"
            )
            body += "".join(
                _form(form, text, markup, limits, hint)
                for form, text in config.assembly.items()
                if limits.assembly_lines
            )
    forms = ", ".join(FORMS[form][0] for form in target_rows.forms(kernel))
    summary = f"<code>{escape(kernel.name)}</code>" + (f" · {escape(forms)}" if forms else "")
    return details(summary, body, markup)


def _form(form: str, text: str, markup: Markup, limits: Limits, hint: str) -> str:
    title = FORMS.get(form, (form, ""))[0]
    lines = highlight.split(text)
    head = f"{escape(title)} · {wording.count(len(lines), 'line')}"
    shown = lines[: limits.assembly_lines]
    if not shown:
        return markup.element("p", "line", head)
    code = highlight.html(highlight.lines("\n".join(shown) + "\n", form), markup)
    left_out = _left_out(len(lines) - len(shown), "line", markup, hint)
    return details(head, markup.element("div", "paper", code) + left_out, markup)


def _left_out(number: int, noun: str, markup: Markup, hint: str) -> str:
    if number <= 0:
        return ""
    more = wording.count(number, f"more {noun}")
    return markup.element("p", "gap", f"{more}: <code>{escape(hint)}</code>")
