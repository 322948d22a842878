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
        "graphs": {stage: graph(fx_graph) for stage, fx_graph in compilation.graphs.items()},
        "code": code(compilation.code),
        "kernels": [kernel(generated) for generated in compilation.kernels],
        "guards": [guard(condition) for condition in compilation.guards],
        "guard_tree": [manager(tree) for tree in compilation.guard_tree],
        "breaks": [break_(graph_break) for graph_break in compilation.breaks],
        "recompile": recompile
        and {
            "previous": recompile.previous,
            "reasons": [plain(reason) for reason in recompile.reasons],
        },
        "phases": [phase(span) for span in compilation.phases],
        "cache": [[event.cache, event.outcome, event.detail] for event in compilation.cache],
        "absent": compilation.absent,
    }


def graph(fx_graph: Graph) -> dict[str, Any]:
    return {
        "lines": fx_graph.text.count("\n") + 1,
        "nodes": [node(item) for item in fx_graph.nodes],
        "absent": sorted(fx_graph.absent),
    }


def node(fx_node: Node) -> str:
    shape = "?" if fx_node.shape is None else f"[{', '.join(fx_node.shape)}]"
    stride = "" if fx_node.stride is None else f"[{', '.join(fx_node.stride)}]"
    origin = ";".join(f"{item.file}:{item.line}" for item in fx_node.sources)
    return (
        f"{fx_node.line} {fx_node.name} = {fx_node.op} {fx_node.target}({fx_node.args}) "
        f"<- {','.join(fx_node.inputs)} -> {','.join(fx_node.users)} "
        f": {fx_node.dtype}{shape}{stride} {fx_node.device} @ {origin}"
        + (f" ^ {','.join(fx_node.origins)}" if fx_node.origins else "")
    )


def code(sources: Code | None) -> dict[str, Any] | None:
    if sources is None:
        return None
    texts = {"python": sources.python, "cpp": sources.cpp, "shell": sources.shell}
    return {
        "direction": sources.direction,
        "lines": {name: text.count("\n") + 1 for name, text in texts.items() if text is not None},
        "regions": {name: [region(item) for item in items] for name, items in sources.regions.items()},
        "backward": code(sources.backward),
        "others": len(sources.others),
        "absent": sources.absent,
    }


def region(lines: Region) -> str:
    origin = ";".join(f"{item.file}:{item.line}" for item in lines.sources)
    return (
        f"{lines.start}-{lines.end} {lines.kind} {lines.label} [{lines.key}] {','.join(lines.nodes)} @ {origin}"
    )


def kernel(generated: Kernel) -> dict[str, Any]:
    return {
        "name": generated.name,
        "language": generated.language,
        "direction": generated.direction,
        "source": [generated.source.count("\n"), *generated.source.split("\n")[:2]],
        "ops": generated.ops,
        "launches": [f"{item.artifact} {item.line}-{item.end} {item.key}" for item in generated.launches],
        "nodes": generated.nodes,
        "sources": [line(item) for item in generated.sources],
        "grid": generated.grid,
        "estimates": [[item.estimated_bytes, item.estimated_operations] for item in generated.launches],
        "absent": generated.absent,
    }


def guard(condition: Guard) -> str:
    return plain(f"{condition.type} | {condition.source} | {condition.expression} | {line(condition.origin)}")


def manager(tree: GuardManager) -> str:
    shortcut = " shortcut" if tree.shortcut else ""
    return plain(
        f"{tree.parent} | {tree.kind} | {tree.source} | {tree.accessor} | {tree.value_type}{shortcut}"
    )


def break_(graph_break: Break) -> dict[str, Any]:
    return {
        "reason": graph_break.reason,
        "explanation": graph_break.explanation,
        "hints": graph_break.hints,
        "context": graph_break.context,
        "link": graph_break.link,
        "where": line(graph_break.where),
        "stack": [line(item) for item in graph_break.stack],
    }


def phase(span: Phase) -> Any:
    return [span.name, [phase(child) for child in span.children]] if span.children else span.name


def line(place: SourceLine | None) -> str | None:
    return place and f"{place.file}:{place.line} in {place.function}: {place.code}"


def plain(text: str) -> str:
    return ADDRESS.sub("<address>", text)
