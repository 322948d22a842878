"""How a wrapper uses memory: its buffers, their lifetimes, and the peak."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from ...report import Buffer, Code, Compilation, Memory, Node, Region
from ...report.compilation.plans import memory_peaks
from ..graphs.input_names import input_names, name_of_input
from ..text.sizes import Hints
from ..wrapper.launches import codes_of, nodes_of
from .cpp_statements import read_cpp
from .python_statements import read_python
from .storage_lifetimes import Name, Storage, StorageTracker
from .unfused import unfused_peak
from .unused_results import add_unused

HOW = (
    "Read from the wrapper's own allocations and frees, for the sizes that torch compiled "
    "with. It does not include what libraries allocate inside a call, nor the allocator's "
    "rounding."
)
UNKNOWN = "The size of {} of {} buffers is not known; they count as 0 bytes."
DEVICES = "The memory of {} is counted together."
_WORD = re.compile(r"[A-Za-z_]\w*")


def find_memory(compilation: Compilation, hints: Hints) -> list[Memory]:
    """The memory of each of a compilation's wrappers.

    Parameters
    ----------
    hints
        The values that symbols had when torch compiled.
    """
    nodes = nodes_of(compilation)
    names = input_names(compilation)
    memories = []
    for code in codes_of(compilation):
        artifact = "python" if code.python is not None else "cpp"
        text = code.python if code.python is not None else code.cpp
        if text is not None:
            graph_nodes = nodes.get(_name_of(code, artifact), {})
            memory = _memory(code, text, artifact, graph_nodes, hints)
            for buffer in memory.buffers:
                if buffer.kind == "input":
                    buffer.title = name_of_input(graph_nodes.get(buffer.name), names)
            memories.append(memory)
    return memories


def _name_of(code: Code, artifact: str) -> str:
    """The name of the code's graph, as keys have it."""
    for region in code.regions.get(artifact, ()):
        if region.kind == "launch":
            return region.key.split(":")[1]
    return code.direction


def _memory(
    code: Code, text: str, artifact: str, graph_nodes: Mapping[str, Node], hints: Hints
) -> Memory:
    regions = code.regions.get(artifact, [])
    nodes = list(graph_nodes.values())
    tracker = StorageTracker(nodes)
    if artifact == "python":
        read_python(text, regions, tracker)
    else:
        read_cpp(text, regions, tracker)
    add_unused(tracker)
    memory = Memory(
        direction=code.direction,
        artifact="python" if artifact == "python" else "cpp",
        steps=tracker.steps,
        keys=tracker.keys,
    )
    storages = list(dict.fromkeys(name.storage for name in tracker.names))
    sizes = {id(storage): storage.bytes(hints, memory.assumed) for storage in storages}
    _add_peaks(memory, storages, sizes, len(tracker.steps))
    memory.peak_unfused_bytes = unfused_peak(nodes, hints, memory.assumed) if nodes else None
    launches = {region.key: region for region in regions if region.kind == "launch"}
    memory.buffers = _buffers(tracker, sizes, launches)
    owned = [storage for storage in storages if storage.owned and not storage.items]
    memory.peak_module = _peak_module(memory, launches, graph_nodes)
    memory.how = _how(owned, sizes)
    memory.peaks = memory_peaks(memory)
    return memory


def _add_peaks(
    memory: Memory, storages: Sequence[Storage], sizes: dict[int, int | None], steps: int
) -> None:
    live = [0.0] * steps
    alone: dict[int, int] = {}
    for storage in storages:
        size = sizes[id(storage)] or 0
        # An input is the caller's; only what reuses it is a buffer of the wrapper.
        alone[id(storage)] = size * (len(storage.names) - (not storage.owned))
        if storage.owned and storage.inside is None:
            for step in storage.steps(steps):
                live[step] += size
    pools = {id(storage.inside) for storage in storages if storage.inside is not None}
    for pool in pools:
        alone[pool] = alone.get(pool, 0) - (sizes.get(pool) or 0)
    memory.peak_without_reuse_bytes = _of_one_branch(storages, alone)
    memory.live_bytes = live
    memory.peak_bytes = max(live, default=0.0)


def _peak_module(memory: Memory, launches: Mapping[str, Region], nodes: Mapping[str, Node]) -> str:
    """The module of the last node of the launch that first reaches the peak."""
    if memory.peak_step is None:
        return ""
    region = launches.get(memory.keys[memory.peak_step])
    names = region.nodes if region is not None else []
    modules = [nodes[name].module for name in names if name in nodes]
    return next((module for module in reversed(modules) if module), "")


def _of_one_branch(storages: Sequence[Storage], sizes: dict[int, int], depth: int = 0) -> float:
    """The sum of sizes, of which each condition adds those of its larger branch."""
    total = 0.0
    branches: dict[int, dict[int, list[Storage]]] = {}
    for storage in storages:
        if len(storage.branches) == depth:
            total += sizes[id(storage)]
        else:
            condition, branch = storage.branches[depth]
            branches.setdefault(condition, {}).setdefault(branch, []).append(storage)
    for inside in branches.values():
        total += max(_of_one_branch(part, sizes, depth + 1) for part in inside.values())
    return total


def _buffers(
    tracker: StorageTracker, sizes: dict[int, int | None], launches: dict[str, Region]
) -> list[Buffer]:
    last = max(len(tracker.steps) - 1, 0)
    steps: dict[str, list[int]] = {}
    for step, text in enumerate(tracker.texts):
        for word in dict.fromkeys(_WORD.findall(text)):
            steps.setdefault(word, []).append(step)
    ran = [launches.get(key) for key in tracker.keys]
    buffers = []
    for name in tracker.names:
        storage = name.storage
        if storage.items:
            continue  # several results: each is a buffer of its own
        buffers.append(
            Buffer(
                name=name.name,
                kind=_kind(name),
                bytes=sizes[id(storage)],
                shape=list(name.sizes[0] if name.sizes else storage.shape or ()),
                stride=list(name.sizes[1] if name.sizes else storage.strides),
                dtype=storage.dtype,
                device=storage.device,
                born=min(name.born, last),
                dies=min(name.dies, last),
                reuses=name.reuses or (storage.inside.name if storage.inside else ""),
                nodes=_nodes(name, steps, ran, tracker),
                line=name.line,
            )
        )
    return buffers


def _kind(name: Name) -> Literal["input", "temporary", "output"]:
    storage = name.storage
    if not storage.owned and name is storage.names[0]:
        return "input"
    return "output" if storage.returned and name is storage.names[-1] else "temporary"


def _nodes(
    name: Name,
    steps: dict[str, list[int]],
    launches: Sequence[Region | None],
    tracker: StorageTracker,
) -> list[str]:
    """The nodes whose values a buffer holds: those of its first launch with its size.

    If there are several, those count that are read outside of the launch.
    """
    storage = name.storage
    if storage.unused:
        return []
    if not storage.owned and name is storage.names[0]:
        return [name.name] if name.name in tracker.nodes else []
    written = next((step for step in steps.get(name.name, ()) if step >= name.born), None)
    region = launches[written] if written is not None else None
    names = list(storage.nodes) or (region.nodes if region else [])
    inside = set(names)
    shape = name.sizes[0] if name.sizes else storage.shape
    nodes = [tracker.nodes[node_name] for node_name in names if node_name in tracker.nodes]
    nodes += [
        tracker.nodes[user]
        for node in nodes
        if node.shape is None
        for user in node.users
        if user in tracker.nodes
    ]
    same = [
        n for n in nodes if n.shape == shape and n.dtype == storage.dtype and n.op != "placeholder"
    ]
    leave = [n for n in same if any(user not in inside for user in n.users)]
    return list(dict.fromkeys(node.name for node in leave or same))


def _how(storages: Sequence[Storage], sizes: dict[int, int | None]) -> str:
    parts = [HOW]
    unknown = sum(sizes[id(storage)] is None for storage in storages)
    if unknown:
        parts.append(UNKNOWN.format(unknown, len(storages)))
    devices = list(
        dict.fromkeys(storage.device.partition(":")[0] for storage in storages if storage.device)
    )
    if len(devices) > 1:
        parts.append(DEVICES.format(" and ".join(devices)))
    return " ".join(parts)
