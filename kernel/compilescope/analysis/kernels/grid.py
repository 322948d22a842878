"""How a kernel's work is distributed: Triton's launch grid, the loops of C++."""

from __future__ import annotations

import re

from ..text.brackets import closing, split_list
from ..text.cpp_numbers import without_suffixes
from ..text.triton_source import ARGUMENT, NUMEL, SIGNATURE

GRID_TYPE = re.compile(r"'grid_type': '(\w+)'")
_CALL = re.compile(r"[\w.]+\(")
LOOP = re.compile(
    r"(?P<indent> *)for\s*\(\s*int64_t (?P<name>\w+)=.*?; ?\w+<(?P<end>.*?); ?"
    r"\w+\+=(?P<step>.*)\)\s*$"
)
"""A loop of generated C++."""
_CAST = re.compile(r"static_cast<int64_t>\((.*)\)$")
PARALLEL = re.compile(r"\s*#pragma omp (?:parallel )?for\b(?:.*collapse\((\d+)\))?")
"""A directive that spreads the loop below it over threads; with how many loops, where it says."""
_NUMELS = re.compile(r"(\w*numel)=(.+?)(?=, \w*numel=|$)")
_KIND = re.compile(r" \(\w+\)$")
_MAX_LOOPS = 4


def grid_of(language: str, source: str, launch: str) -> str:
    """Describe how one kernel's work is distributed.

    Parameters
    ----------
    language, source
        The kernel's.
    launch
        The text of a call of it in the wrapper, whole.

    Returns
    -------
    str
        For Triton the numbers of elements that the wrapper launches it with and how the grid comes
        of them: ``xnumel=4096, r0_numel=512 (Grid1D)``. For C++ its outer loops: ``parallel x0: 512
        by 16``. Empty if it is unknown.
    """
    if language == "triton":
        return _triton(source, launch)
    return _cpp(source) if language == "cpp" else ""


def _triton(source: str, launch: str) -> str:
    numels = dict(NUMEL.findall(source))
    call = _CALL.search(launch)
    if call:
        start = call.end() - 1
        values = split_list(launch[start + 1 : closing(launch, start) - 1])
        for (name, _), value in zip(signature_of(source), values, strict=False):
            if name.endswith("numel"):
                numels[name] = without_suffixes(value)
    kind = GRID_TYPE.search(source)
    text = ", ".join(f"{name}={value}" for name, value in sorted(numels.items(), reverse=True))
    return f"{text} ({kind.group(1)})" if kind and text else text or (kind.group(1) if kind else "")


def signature_of(source: str) -> list[tuple[str, str]]:
    """The parameters that a wrapper passes to a Triton kernel, with their types."""
    signature = SIGNATURE.search(source)
    arguments = ARGUMENT.findall(signature.group(1)) if signature else []
    # The wrapper does not pass block sizes.
    return [(name, kind) for name, kind in arguments if not name.isupper()]


def numels_of(grid: str) -> list[tuple[str, str]]:
    """The numbers of elements in what `grid_of` says of a Triton kernel: name and number."""
    return _NUMELS.findall(_KIND.sub("", grid))


def _cpp(source: str) -> str:
    lines = source.split("\n")
    parallel: list[str] = []
    loops: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        pragma = PARALLEL.match(line)
        if pragma:
            threads = int(pragma.group(1) or 1)
            inner = [match for other in lines[number:] if (match := LOOP.match(other))]
            parallel.append(", ".join(_extent(match) for match in inner[:threads]))
        elif match := LOOP.match(line):
            loops.append((len(match["indent"]), _extent(match)))
    if parallel:
        return _joined("parallel", parallel)
    outermost = min((indent for indent, _ in loops), default=0)
    return _joined("serial", [text for indent, text in loops if indent == outermost])


def _extent(loop: re.Match[str]) -> str:
    step = extent_of(loop["step"])
    return f"{loop['name']}: {extent_of(loop['end'])}" + ("" if step == "1" else f" by {step}")


def extent_of(text: str) -> str:
    """The end of a loop as torch means it: without casts and suffixes."""
    cast = _CAST.match(text.strip())
    return without_suffixes(cast.group(1) if cast else text.strip())


def _joined(kind: str, loops: list[str]) -> str:
    different = list(dict.fromkeys(loops))
    if not different:
        return ""
    more = len(different) - _MAX_LOOPS
    text = "; ".join(different[:_MAX_LOOPS])
    return f"{kind} {text}" + (f"; and {more} more" if more > 0 else "")
