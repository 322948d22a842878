"""The partitions of a Python wrapper, each of which becomes a separate CUDA graph.

Code between two partitions, in the function that calls them, is not captured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...report import Code, Compilation
from ...report.compilation.cuda_graphs import Partition
from .launches import codes_of

_PART = re.compile(r"def (partition_\d+)\(args\):")
_CALL = re.compile(r"\s+def call\(self, args\):|def call\(args\):")
_RUN = re.compile(r"self\.partitions\[(\d+)\]\(")
_NOT_CALLED = re.compile(r"[\w.\[\]]+\.copy_\(")
_OPERATOR = re.compile(r"torch\.ops\.(\w+\.\w+)")
_PYTHON = re.compile(
    r"\s*(#|args\b|del |return\b|partition\d+_args|with |torch\.\w+\.set_device|[\w, ()]+ = args\b"
    r"|\w+ = copy_if_misaligned|\w+ = \w+; del |assert|if |raise )"
)


def read_partitions(compilation: Compilation, skipped: str = "") -> list[Partition]:
    """The partitions of a compilation's graphs, in the order in which they run.

    Parameters
    ----------
    compilation
        A compilation with its wrappers and their regions.
    skipped
        The reason if none of them is captured.
    """
    partitions: list[Partition] = []
    for code in codes_of(compilation):
        if code.python is not None and "self.partitions = partitions" in code.python:
            partitions += _in_parts(code, code.python, compilation.id, skipped)
        elif code.python is not None or code.cpp is not None:
            artifact = "python" if code.python is not None else "cpp"
            launches = [
                region for region in code.regions.get(artifact, []) if region.kind == "launch"
            ]
            partitions.append(
                Partition(
                    name=f"the {code.direction} graph",
                    captured=not skipped,
                    compilation=compilation.id,
                    kernels=len(launches),
                    why=skipped,
                )
            )
    return partitions


def _in_parts(code: Code, text: str, compile_id: str, skipped: str) -> Iterator[Partition]:
    lines = text.split("\n")
    launches = [
        region.start for region in code.regions.get("python", []) if region.kind == "launch"
    ]
    bodies = {
        match[1]: _end(lines, number)
        for number, line in enumerate(lines)
        if (match := _PART.match(line))
    }
    starts = {name: end[0] for name, end in bodies.items()}
    call = next((number for number, line in enumerate(lines) if _CALL.match(line)), None)
    if call is None:
        return
    outside_lines: list[int] = []
    prefix = "" if code.direction == "inference" else f"{code.direction}, "
    for number in range(call + 1, _end(lines, call)[1]):
        run = _RUN.search(lines[number])
        if run is None:
            if lines[number].strip() and not _PYTHON.match(lines[number]):
                outside_lines.append(number)
            continue
        yield from _outside(lines, outside_lines, launches, compile_id, prefix)
        outside_lines = []
        name = f"partition_{run[1]}"
        if name in starts:
            first, last = bodies[name]
            yield Partition(
                name=prefix + name,
                captured=not skipped,
                compilation=compile_id,
                kernels=sum(first < line <= last for line in launches),
                why=skipped,
            )
    yield from _outside(lines, outside_lines, launches, compile_id, prefix)


def _outside(
    lines: list[str], numbers: list[int], launches: list[int], compile_id: str, prefix: str
) -> Iterator[Partition]:
    """The code between two partitions, if it does work."""
    texts = [lines[number].strip() for number in numbers]
    why = next((reason for reason in map(_why, texts) if reason), "")
    kernels = sum(number + 1 in launches for number in numbers)
    kernels = kernels or sum(
        min(numbers) < line <= max(numbers) + 1 for line in launches if numbers
    )
    if not why and not kernels:
        return
    yield Partition(
        name=f"{prefix}line {numbers[0] + 1}" + (f" to {numbers[-1] + 1}" if numbers[1:] else ""),
        captured=False,
        compilation=compile_id,
        kernels=kernels,
        why=why or "torch keeps it out of CUDA graphs.",
    )


def _why(line: str) -> str:
    operator = _OPERATOR.search(line)
    if operator:
        return f"{operator[1]} cannot be recorded."
    if "empty_strided_cpu(" in line or line.startswith("cpp_"):
        return "It works on the CPU."
    return "It copies between devices." if _NOT_CALLED.match(line) else ""


def _end(lines: list[str], start: int) -> tuple[int, int]:
    """The first line of a function, and the line after its last, counted from 0."""
    indent = len(lines[start]) - len(lines[start].lstrip())
    end = start + 1
    while end < len(lines):
        line = lines[end]
        if line.strip() and len(line) - len(line.lstrip()) <= indent:
            break
        end += 1
    return start, end
