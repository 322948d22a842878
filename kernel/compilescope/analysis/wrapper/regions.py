"""Finds the regions of a wrapper: kernels, launches, allocations, frees, guards, return, entry."""

from __future__ import annotations

from ...report import Region, WrapperLanguage
from ..text.wrapper_marks import Mark
from .cpp_regions import scan_cpp
from .python_regions import scan_python


def scan(text: str, artifact: WrapperLanguage) -> list[Mark]:
    """Find the regions of a wrapper.

    Parameters
    ----------
    text
        The Python wrapper, or the C++ wrapper as `split.split` gives it.
    artifact
        Which of the two.

    Returns
    -------
    list of Mark
        By start line. Launches have the facts in their comments; see `links` for more.
    """
    marks = scan_python(text) if artifact == "python" else scan_cpp(text)
    marks.sort(key=lambda mark: (mark.start, -mark.end))
    return marks


def to_regions(marks: list[Mark], direction: str) -> list[Region]:
    """Turn marks into the report's regions, with keys that are equal in both wrappers.

    A launch's key is its debug handle counted from the wrapper's first (the numbers continue from
    the forward to the backward wrapper if both are generated together), or its index among the
    launches if torch wrote no handles. A kernel's key is its name.
    """
    launches = [mark for mark in marks if mark.kind == "launch"]
    first = min((mark.handle for mark in launches if mark.handle is not None), default=1)
    order = {
        id(mark): place
        for place, mark in enumerate(sorted(launches, key=lambda mark: mark.order), start=1)
    }
    seen: dict[str, int] = {}
    regions = []
    for mark in marks:
        if mark.kind == "launch":
            number = f"{order[id(mark)]}" if mark.handle is None else f"#{mark.handle - first + 1}"
            key = f"launch:{direction}:{number}"
        elif mark.kind == "kernel":
            key = f"kernel:{mark.kernel}"
        else:
            name = f"{mark.kind}:{direction}:{mark.label}"
            seen[name] = seen.get(name, 0) + 1
            key = name if seen[name] == 1 else f"{name}:{seen[name]}"
        mark.key = key
        regions.append(
            Region(
                kind=mark.kind,
                start=mark.start,
                end=mark.end,
                key=key,
                label=mark.label,
                kernel=mark.kernel,
            )
        )
    return regions
