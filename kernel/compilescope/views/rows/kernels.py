"""Lines about a kernel: its launches, its source lines, its fusion."""

from __future__ import annotations

from ...report import Descriptor, Kernel, SourceLine
from .. import wording
from . import plans

_WRAPPERS = {"cpp": "C++", "python": "Python", "aot": "ahead of time"}
_SOURCES, _MODULES = 4, 4
"""The most items of each kind shown for a kernel."""


def modules(kernel: Kernel) -> str:
    """Return the modules that a kernel runs: ``of m.fc: Linear, m: Block``; empty without one."""
    shown, left = kernel.modules[:_MODULES], len(kernel.modules) - _MODULES
    more = f", … and {wording.whole_number(left)} more" if left > 0 else ""
    return f"of {', '.join(shown)}{more}" if shown else ""


def lines(kernel: Kernel) -> list[str]:
    """Return lines about a kernel besides its name, its operators and its code."""
    return [
        *_launches(kernel),
        *(f"from {_source(source)}" for source in kernel.sources[-_SOURCES:]),
        *filter(None, [modules(kernel), plans.kernel(kernel), descriptors(kernel.descriptors)]),
        *(f"no {what}: {why}" for what, why in kernel.absent.items()),
    ]


def descriptors(kernel_descriptors: list[Descriptor]) -> str:
    """Return a kernel's TMA descriptors in a few words; empty if it has none."""
    texts = [
        f"{descriptor.name} [{', '.join(descriptor.block)}] built {descriptor.built}"
        for descriptor in kernel_descriptors
    ]
    return f"TMA: {'; '.join(texts)}" if texts else ""


def _launches(kernel: Kernel) -> list[str]:
    lines: dict[str, dict[int, None]] = {}
    for launch in kernel.launches:
        lines.setdefault(_WRAPPERS[launch.artifact], {})[launch.line] = None
    return [
        f"{wrapper} wrapper, line {', '.join(map(str, numbers))}"
        for wrapper, numbers in lines.items()
    ]


def _source(source: SourceLine) -> str:
    code = source.code.strip()
    return f"{wording.place(source)}: {code}" if code else wording.place(source)
