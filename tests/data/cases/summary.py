"""A compilation in short: what a golden file says of it.

One normal form: what belongs to one run (times, addresses) and long texts are left out or counted,
so that a difference in a golden file is a difference in what the analysis understood.
"""

from __future__ import annotations

import re
from typing import Any

from compilescope.report import (
    Break,
    Code,
    Compilation,
    Graph,
    Guard,
    GuardManager,
    Kernel,
    Node,
    Phase,
    Region,
    SourceLine,
)

ADDRESS = re.compile(r"\b\d{12,}\b|0x[0-9a-f]{6,}")


def summarize(compilation: Compilation) -> dict[str, Any]:
    recompile = compilation.recompile
    return {
        "id": compilation.id,
        "attempt": compilation.attempt,
        "frame": line(compilation.frame),
        "graphs": {stage: graph(one) for stage, one in compilation.graphs.items()},
        "code": code(compilation.code),
        "kernels": [kernel(one) for one in compilation.kernels],
        "guards": [guard(one) for one in compilation.guards],
        "guard_tree": [manager(one) for one in compilation.guard_tree],
        "breaks": [break_(one) for one in compilation.breaks],
        "recompile": recompile
        and {
            "previous": recompile.previous,
            "reasons": [plain(reason) for reason in recompile.reasons],
        },
        "phases": [phase(one) for one in compilation.phases],
        "cache": [[one.cache, one.outcome, one.detail] for one in compilation.cache],
        "absent": compilation.absent,
    }


def graph(one: Graph) -> dict[str, Any]:
    return {
        "lines": one.text.count("\n") + 1,
        "nodes": [node(item) for item in one.nodes],
        "absent": sorted(one.absent),
    }


def node(one: Node) -> str:
    shape = "?" if one.shape is None else f"[{', '.join(one.shape)}]"
    stride = "" if one.stride is None else f"[{', '.join(one.stride)}]"
    origin = ";".join(f"{item.file}:{item.line}" for item in one.sources)
    return (
        f"{one.line} {one.name} = {one.op} {one.target}({one.args}) "
        f"<- {','.join(one.inputs)} -> {','.join(one.users)} "
        f": {one.dtype}{shape}{stride} {one.device} @ {origin}"
        + (f" ^ {','.join(one.origins)}" if one.origins else "")
    )


def code(one: Code | None) -> dict[str, Any] | None:
    if one is None:
        return None
    texts = {"python": one.python, "cpp": one.cpp, "shell": one.shell}
    return {
        "direction": one.direction,
        "lines": {name: text.count("\n") + 1 for name, text in texts.items() if text is not None},
        "regions": {name: [region(item) for item in items] for name, items in one.regions.items()},
        "backward": code(one.backward),
        "others": len(one.others),
        "absent": one.absent,
    }


def region(one: Region) -> str:
    origin = ";".join(f"{item.file}:{item.line}" for item in one.sources)
    return (
        f"{one.start}-{one.end} {one.kind} {one.label} [{one.key}] {','.join(one.nodes)} @ {origin}"
    )


def kernel(one: Kernel) -> dict[str, Any]:
    return {
        "name": one.name,
        "language": one.language,
        "direction": one.direction,
        "source": [one.source.count("\n"), *one.source.split("\n")[:2]],
        "ops": one.ops,
        "launches": [f"{item.artifact} {item.line}-{item.end} {item.key}" for item in one.launches],
        "nodes": one.nodes,
        "sources": [line(item) for item in one.sources],
        "grid": one.grid,
        "estimates": [[item.estimated_bytes, item.estimated_operations] for item in one.launches],
        "absent": one.absent,
    }


def guard(one: Guard) -> str:
    return plain(f"{one.type} | {one.source} | {one.expression} | {line(one.origin)}")


def manager(one: GuardManager) -> str:
    shortcut = " shortcut" if one.shortcut else ""
    return plain(
        f"{one.parent} | {one.kind} | {one.source} | {one.accessor} | {one.value_type}{shortcut}"
    )


def break_(one: Break) -> dict[str, Any]:
    return {
        "reason": one.reason,
        "explanation": one.explanation,
        "hints": one.hints,
        "context": one.context,
        "link": one.link,
        "where": line(one.where),
        "stack": [line(item) for item in one.stack],
    }


def phase(one: Phase) -> Any:
    return [one.name, [phase(child) for child in one.children]] if one.children else one.name


def line(one: SourceLine | None) -> str | None:
    return one and f"{one.file}:{one.line} in {one.function}: {one.code}"


def plain(text: str) -> str:
    return ADDRESS.sub("<address>", text)
