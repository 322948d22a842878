"""Locates a failure inside generated code: wrapper, tensor, operator, the user's line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ...report.compilation.artifacts import Compilation
from ...report.compilation.code import Code, Kernel, Region
from ...report.compilation.graphs import Node
from ...report.problem import Problem
from ..text.cpp_numbers import without_suffixes
from ..wrapper.size_checks import SizeCheck, size_checks


class _Site(NamedTuple):
    compilation: Compilation
    code: Code
    artifact: str
    line: int
    """The line of the generated file, counted from 1."""


def place(problem: Problem, compilations: Sequence[Compilation]) -> None:
    """Add to a problem of generated code its location in the wrapper and in the user's code.

    Adds the facts ``compilation``, ``direction``, ``artifact``, ``wrapper_line`` and, where they
    are known, ``tensor``, ``operator`` and ``nodes``. Does nothing to a problem without facts, or
    whose location no compilation has.
    """
    if not problem.facts:
        return
    site = next(_places(problem.facts, compilations), None)
    if site is None:
        return
    facts = problem.facts
    lines = _text(site).split("\n")
    facts |= {
        "compilation": site.compilation.id,
        "direction": site.code.direction,
        "artifact": site.artifact,
        "wrapper_line": str(site.line),
    }
    facts.setdefault("text", lines[site.line - 1].strip())
    tensor = facts.get("tensor") or _tensor(facts, lines[site.line - 1])
    if tensor:
        facts["tensor"] = tensor
    _complete_shapes(facts, lines[site.line - 1])
    region = _region(site, lines, tensor, facts.get("operator", ""))
    kernel = _kernel(site.compilation, facts.get("kernel") or (region.kernel if region else None))
    nodes = _nodes(site, region, kernel, facts)
    operators = list(dict.fromkeys(filter(None, map(_target, nodes))))
    if operators:
        facts.setdefault("operator", ", ".join(operators))
    if nodes:
        facts["nodes"] = ", ".join(node.name for node in nodes)
    if problem.where is None or not problem.where.function:
        sources = [*(region.sources if region else []), *(kernel.sources if kernel else [])]
        sources += [line for node in nodes for line in node.sources]
        problem.where = sources[-1] if sources else problem.where


def _kernel(compilation: Compilation, name: str | None) -> Kernel | None:
    return (
        next((kernel for kernel in compilation.kernels if kernel.name == name), None)
        if name
        else None
    )


def _nodes(
    site: _Site, region: Region | None, kernel: Kernel | None, facts: dict[str, str]
) -> list[Node]:
    """The nodes of the last graph to which the line belongs.

    Those that torch recorded, if any; otherwise those of the operator, or of the operators in the
    kernel's name.
    """
    graphs = site.compilation.graphs
    graph = next((graphs[stage] for stage in _LAST if stage in graphs), None)
    if graph is None:
        return []
    named = {*(region.nodes if region else []), *(kernel.nodes if kernel else [])}
    if named:
        return [node for node in graph.nodes if node.name in named]
    operator = facts.get("operator", "").replace("::", ".")
    fused = f"{facts.get('kernel') or (region.kernel if region else '') or ''}_"
    return [
        node
        for node in graph.nodes
        if (target := _target(node))
        and (f"{target}.".startswith(f"{operator}.") if operator else _is_fused(target, fused))
    ]


def _target(node: Node) -> str:
    """``aten.sin.default``; empty if it is not an operator."""
    return node.target.removeprefix("torch.ops.") if "." in node.target else ""


def _is_fused(target: str, kernel: str) -> bool:
    return "_fused_" in kernel and f"_{target.split('.')[1]}_" in kernel.partition("_fused")[2]


_LAST = ("post_grad", "before_post_grad", "inference", "forward")
"""The stages in which to look up the nodes of a wrapper's launches, best first."""


def _places(facts: dict[str, str], compilations: Sequence[Compilation]) -> Iterator[_Site]:
    every = [
        (compilation, code) for compilation in compilations for code in _codes(compilation.code)
    ]
    ran = _written(facts.get("wrapper", ""))
    # A different text is a different wrapper, however similar: an earlier compilation may be
    # missing.
    for compilation, code in [pair for pair in every if not ran or _is_in(pair[1], ran)]:
        for artifact in ("cpp", "python"):
            text = getattr(code, artifact)
            line = _line(facts, text.split("\n")) if text else None
            if line is not None:
                yield _Site(compilation, code, artifact, line)
                break


def _written(file: str) -> str:
    """The text of the wrapper that ran; empty if it is unknown or no longer exists."""
    try:
        return Path(file).read_text(encoding="utf-8") if file else ""
    except OSError:
        return ""


def _is_in(code: Code, ran: str) -> bool:
    text = code.cpp or code.python
    return text is not None and text.strip() in ran


def _codes(code: Code) -> Iterator[Code]:
    yield code
    yield from code.others
    if code.backward is not None:
        yield from _codes(code.backward)


def _line(facts: dict[str, str], lines: list[str]) -> int | None:
    """The wrapper's line that failed, from 1."""
    if "kernel" in facts:
        hits = _containing(lines, rf"\b{re.escape(facts['kernel'])}\(.*\);?$")
        return hits[-1] if hits else None
    if "symbol" in facts:
        hits = _containing(lines, rf"\b{re.escape(facts['symbol'])}\(")
        return hits[-1] if hits else None
    if facts.get("kind") in ("shape", "stride", "type"):
        return _assertion(facts, lines)
    if "call" in facts:
        call = facts["call"]
        hits = [number for number, line in enumerate(lines, 1) if call in " ".join(line.split())]
        return _nearest(hits, facts)
    text = facts.get("text", "")
    return (
        _nearest([n for n, line in enumerate(lines, 1) if line.strip() == text], facts)
        if text
        else None
    )


def _assertion(facts: dict[str, str], lines: list[str]) -> int | None:
    """The failed check of a shape: found by the operator, then by the expected sizes."""
    operator = facts["operator"].replace("::", ".")
    hits = _containing(
        lines, rf"assert_(?:size_stride|tensor_meta)\w*\(.*\b{re.escape(operator)}\b"
    )
    expected = _dimensions(facts.get("expected", ""))
    for hit in hits:
        if any(_fits(check, expected) for check in size_checks(lines[hit - 1].strip())):
            return hit
    return hits[0] if hits else None


def _dimensions(message: str) -> dict[int, tuple[str, str]]:
    """Dimension → size and stride, as in a message."""
    matches = re.findall(r"dim (\d+): size (-?\d+), stride (-?\d+)", message)
    return {int(dim): (size, stride) for dim, size, stride in matches}


def _fits(check: SizeCheck, expected: dict[int, tuple[str, str]]) -> bool:
    sizes, strides = check.shape, check.strides
    return all(
        dim < len(sizes) and (without_suffixes(sizes[dim]), without_suffixes(strides[dim])) == pair
        for dim, pair in expected.items()
    )


def _check(facts: dict[str, str], line: str) -> SizeCheck | None:
    """The failed check in a line, which may check several tensors."""
    checks = size_checks(line.strip())
    expected = _dimensions(facts.get("expected", ""))
    return next(
        (check for check in checks if _fits(check, expected)), checks[0] if checks else None
    )


def _complete_shapes(facts: dict[str, str], line: str) -> None:
    """Add the whole shape if the message has only the dimensions that differ."""
    check = _check(facts, line)
    if check is None or not check.shape or facts.get("kind") not in ("shape", "stride"):
        return
    sizes, strides = (
        [without_suffixes(name) for name in layout] for layout in (check.shape, check.strides)
    )
    actual_sizes, actual_strides = list(sizes), list(strides)
    for dim, (size, stride) in _dimensions(facts["found"]).items():
        if dim < len(actual_sizes):
            actual_sizes[dim], actual_strides[dim] = size, stride
    facts["expected"] = f"({', '.join(sizes)}), strides ({', '.join(strides)})"
    if facts["found"].startswith("dim "):
        facts["found"] = f"({', '.join(actual_sizes)}), strides ({', '.join(actual_strides)})"


def _containing(lines: list[str], pattern: str) -> list[int]:
    return [number for number, line in enumerate(lines, 1) if re.search(pattern, line)]


def _nearest(hits: list[int], facts: dict[str, str]) -> int | None:
    if not hits:
        return None
    near = int(facts["line"]) if facts.get("line", "").isdigit() else hits[0]
    return min(hits, key=lambda hit: abs(hit - near))


def _text(site: _Site) -> str:
    return str(getattr(site.code, site.artifact))


def _tensor(facts: dict[str, str], line: str) -> str:
    """The tensor that a wrapper's line creates or checks."""
    check = _check(facts, line)
    if check is not None:
        return check.tensor
    match = re.search(r"&(\w+?)_handle\b|RAIIAtenTensorHandle (\w+)\(", line)
    return next((name for name in match.groups() if name), "") if match else ""


def _region(site: _Site, lines: list[str], tensor: str, operator: str) -> Region | None:
    """The launch that the line belongs to."""
    launches = [
        region for region in site.code.regions.get(site.artifact, []) if region.kind == "launch"
    ]
    inside = [launch for launch in launches if launch.start <= site.line <= launch.end]
    if inside:
        return inside[0]
    either = (operator, operator.replace("::", "."))
    calls = [
        launch
        for launch in launches
        if any(name in f"{launch.label} {launch.kernel}" for name in either)
    ]
    if operator and calls:
        return next((call for call in reversed(calls) if call.end < site.line), calls[0])
    if not tensor:
        return None
    naming = re.compile(rf"\b{re.escape(tensor)}\b")
    about = [
        launch
        for launch in launches
        if any(naming.search(line) for line in lines[launch.start - 1 : launch.end])
    ]
    # A checked tensor was computed before; an allocated one is filled later.
    before = [region for region in about if region.end < site.line]
    after = [region for region in about if region.start > site.line]
    if size_checks(lines[site.line - 1].strip()) and before:
        return before[-1]
    return next(iter(after + before), None)
