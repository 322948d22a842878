"""Divides nodes that several kernels compute in parts, so that each launch has its own part.

On a GPU Inductor splits a large reduction: a first kernel writes partial results, and later ones
reduce these. torch maps all of them to the one node of the reduction, and also the kernels that
only read its result. In the same way a library's convolution is mapped together with the kernel
that adds its bias, and a scatter with the kernel that copies what it updates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from ....report import Kernel, Node
from ...graphs.operation_counts import (
    IN_PLACE,
    ITEM,
    UPDATES,
    is_convolution,
    is_reduction,
    operator_name,
)
from ...text.brackets import names, split_list
from ...text.sizes import BYTES, Hints, UnknownSize, count_of
from .fusion import kind_of
from .triton_buffers import Access, accesses

Groups = Mapping[str, Sequence[str]]
_COMBINE = "torch.ops.aten.clone.default"
"""The target of a later stage: the first one counts the operations of the whole reduction."""
_ADD = "torch.ops.aten.add.Tensor"
_BIAS = 2
"""The place of the bias among the arguments of a convolution."""
_SUM_OF_TWO = re.compile(r"\b(tmp\d+) \+ (tmp\d+)\b")
_LOADED = re.compile(r"\b(tmp\d+) = tl\.load\(")


@dataclass(frozen=True)
class _Launch:
    key: str
    kernel: Kernel
    line: int
    call: str
    """Its text in the wrapper."""
    accesses: list[Access] | None
    """Its accesses to buffers; None if its text cannot be parsed."""

    @property
    def reduces(self) -> bool:
        return "reduction" in kind_of(self.kernel)


class ComputedParts:
    """The nodes of a graph in the parts that launches compute, and the parts of each launch.

    Parameters
    ----------
    kernels, groups, nodes, hints
        As for `KernelGraph`.
    wrapper
        The text that launches the kernels.
    """

    def __init__(
        self,
        kernels: Sequence[Kernel],
        groups: Groups,
        nodes: Sequence[Node],
        hints: Hints,
        wrapper: str,
    ) -> None:
        self.nodes = {node.name: node for node in nodes}
        self.groups = {key: list(names) for key, names in groups.items()}
        self.hints = hints
        lines = wrapper.split("\n")
        self._calls = [
            (kernel, launch)
            for kernel in kernels
            for launch in kernel.launches
            if kernel.language in ("triton", "extern")
        ]
        self._launches = [
            _Launch(launch.key, kernel, launch.line, call, accesses(kernel, call, hints))
            for kernel, launch in self._calls
            if kernel.language == "triton"
            for call in ["\n".join(lines[launch.line - 1 : launch.end])]
        ]
        self._launches.sort(key=lambda launch: launch.line)
        for node in nodes:
            if is_reduction(node.target):
                self._split_reduction(node)
            elif is_convolution(node.target):
                self._split_bias(node)
            elif operator_name(node.target) in UPDATES:
                self._split_copy(node)
            elif operator_name(node.target) in IN_PLACE:
                self._take_initial_value(node)

    def _computing(self, node: Node) -> list[_Launch]:
        return [item for item in self._launches if node.name in self.groups.get(item.key, ())]

    def _split_reduction(self, node: Node) -> None:
        launches = self._computing(node)
        if len(launches) <= 1 or not launches[0].reduces:
            return
        stages, sizes = launches[:1], []
        results = self._results(node)
        for launch in launches[1:]:
            if not launch.reduces:
                continue
            size = _partial_bytes(stages[-1], launch, results)
            if size != 0:
                stages.append(launch)
                sizes.append(size)
        for launch in launches[1:]:
            self._leave_out(node, launch, stages[0], keep=launch in stages)
        self._add_partials(node, stages, sizes)

    def _add_partials(
        self, node: Node, stages: Sequence[_Launch], sizes: Sequence[int | None]
    ) -> None:
        previous: Node | None = None
        for number, (launch, size) in enumerate(zip(stages, sizes, strict=False)):
            suffix = f" {number + 1}" if len(sizes) > 1 else ""
            partial = msgspec.structs.replace(
                self.nodes[node.name],
                name=f"{node.name} (partial results{suffix})",
                shape=None if size is None else [str(size)],
                dtype=None if size is None else "uint8",
                users=[],
            )
            self._rename(launch.key, node.name, partial.name)
            self._follow(partial, previous, node)
            self.nodes[partial.name] = previous = partial
        if previous is not None:
            final = msgspec.structs.replace(self.nodes[node.name])
            self._follow(final, previous, node)
            self.nodes[node.name] = final

    def _follow(self, part: Node, previous: Node | None, node: Node) -> None:
        """Make a part read the one before, or the inputs of the whole node."""
        if previous is None:
            for name in node.inputs:
                if name in self.nodes:
                    source = self.nodes[name]
                    users = [part.name if user == node.name else user for user in source.users]
                    self.nodes[name] = msgspec.structs.replace(source, users=users)
            return
        previous.users = [part.name]
        part.target, part.inputs, part.args = _COMBINE, [previous.name], previous.name

    def _leave_out(self, node: Node, launch: _Launch, first: _Launch, *, keep: bool) -> None:
        """Remove from a later launch what the first one computes for a reduction."""
        names = self.groups[launch.key]
        before, inside, left_out = set(self.groups[first.key]), set(names), {node.name}
        for name in reversed([known for known in self.nodes if known in inside & before]):
            users = inside.intersection(self.nodes[name].users)
            if users and users <= left_out and self.nodes[name].op.startswith("call"):
                left_out.add(name)
        if keep:
            left_out.remove(node.name)
        remaining = [name for name in names if name not in left_out]
        if any(self.nodes[name].op.startswith("call") for name in remaining if name in self.nodes):
            self.groups[launch.key] = remaining

    def _results(self, node: Node) -> int | None:
        """The number of elements of the largest result of a node."""
        users = [self.nodes[name] for name in node.users if name in self.nodes]
        items = [user for user in users if user.target in ITEM]
        results = [node] if node.shape is not None else items
        try:
            counts = [count_of(result.shape or (), self.hints, {}) for result in results]
        except UnknownSize:
            return None
        return max(counts, default=None)

    def _split_bias(self, node: Node) -> None:
        """Assign the addition of a convolution's bias to the kernels after the library call."""
        texts = split_list(node.args)
        bias = self.nodes.get(texts[_BIAS]) if len(texts) > _BIAS else None
        library = [
            launch
            for kernel, launch in self._calls
            if kernel.language == "extern"
            and "convolution" in kernel.name
            and self._convolution(launch.key) == node.name
        ]
        if bias is None or len(library) != 1:
            return
        launches = self._computing(node)
        adding = [
            item
            for item in launches
            if item.line > library[0].line
            and _adds(item.kernel)
            # torch also maps to a kernel the convolutions that its inputs come from.
            and (bias.op != "placeholder" or names(item.call, {bias.name}))
        ]
        if not adding:
            return
        product = msgspec.structs.replace(
            node,
            name=f"{node.name} (without bias)",
            args=", ".join([*texts[:_BIAS], "None", *texts[_BIAS + 1 :]]),
            inputs=[name for name in node.inputs if name != bias.name],
            users=[node.name],
        )
        for key, group in self.groups.items():
            if node.name in group and key not in {item.key for item in adding}:
                self._rename(key, node.name, product.name)
        for name in product.inputs:
            if name in self.nodes:
                source = self.nodes[name]
                users = [product.name if user == node.name else user for user in source.users]
                self.nodes[name] = msgspec.structs.replace(source, users=users)
        self.nodes[product.name] = product
        self.nodes[node.name] = msgspec.structs.replace(
            node,
            target=_ADD,
            args=f"{product.name}, {bias.name}",
            inputs=[product.name, bias.name],
        )

    def _split_copy(self, node: Node) -> None:
        """Assign the copy of what a scatter updates to the kernel before it."""
        launches = self._computing(node)
        first, *others = split_list(node.args) or [""]
        if len(launches) != 2 or first not in self.nodes or not _updates(*launches):
            return
        copying, updating = (launch.key for launch in launches)
        copy = msgspec.structs.replace(
            node,
            name=f"{node.name} (copy)",
            target=_COMBINE,
            args=first,
            inputs=[first],
            users=[node.name],
        )
        rest = [name for name in node.inputs if name != first]
        copied, scattered = self._needed([first], copying), self._needed(rest, updating)
        self.groups[copying] = [
            name for name in self.groups[copying] if name in copied or name == node.name
        ]
        self._rename(copying, node.name, copy.name)
        self.groups[updating] = [
            name
            for name in self.groups[updating]
            if name in scattered or name not in self._needed([first], updating)
        ]
        source = self.nodes[first]
        users = [copy.name if user == node.name else user for user in source.users]
        self.nodes[first] = msgspec.structs.replace(source, users=users)
        self.nodes[copy.name] = copy
        overload = node.target.rpartition(".")
        self.nodes[node.name] = msgspec.structs.replace(
            node,
            target=f"{overload[0]}_.{overload[2]}",
            args=", ".join([copy.name, *others]),
            inputs=[copy.name, *rest],
        )

    def _take_initial_value(self, node: Node) -> None:
        """Remove from an in-place kernel the value that an earlier kernel writes."""
        first = next(iter(split_list(node.args)), "")
        for launch in self._computing(node):
            group = self.groups[launch.key]
            earlier = [
                other
                for other in self._launches
                if other.line < launch.line
                and first in self.groups.get(other.key, ())
                and _updates(other, launch)
            ]
            if first in group and earlier:
                self.groups[launch.key] = [name for name in group if name != first]

    def _needed(self, names: Sequence[str], key: str) -> set[str]:
        """These nodes and their inputs, as far as a launch computes them."""
        inside, needed = set(self.groups[key]), set()
        pending = [name for name in names if name in inside]
        while pending:
            name = pending.pop()
            if name not in needed:
                needed.add(name)
                inputs = self.nodes[name].inputs if name in self.nodes else []
                pending += [used for used in inputs if used in inside]
        return needed

    def _convolution(self, key: str) -> str:
        """Of the nodes of a library's launch the convolution: the last; the others are inputs."""
        known = [name for name in self.groups.get(key, ()) if name in self.nodes]
        convolutions = [name for name in known if is_convolution(self.nodes[name].target)]
        return convolutions[-1] if convolutions else ""

    def _rename(self, key: str, old: str, new: str) -> None:
        self.groups[key] = [new if name == old else name for name in self.groups[key]]


def _partial_bytes(first: _Launch, then: _Launch, results: int | None) -> int | None:
    """The bytes of partial results that one launch writes for another.

    Returns
    -------
    int or None
        0 if there are none: the second launch reads at most finished results. None if unknown.
    """
    if first.accesses is None or then.accesses is None:
        return None
    read = {access.buffer for access in then.accesses if access.read and access.buffer}
    shared = [access for access in first.accesses if access.written and access.buffer in read]
    total = 0
    for access in shared:
        if access.elements is None or results is None or access.dtype not in BYTES:
            return None
        # A finished result has the elements of the node; partial results are more.
        if access.elements > results:
            total += access.elements * BYTES[access.dtype]
    return total


def _updates(first: _Launch, then: _Launch) -> bool:
    """Whether a launch writes to a buffer that an earlier one writes."""
    written = [
        {access.buffer for access in launch.accesses or () if access.written and access.buffer}
        for launch in (first, then)
    ]
    return not written[0].isdisjoint(written[1])


def _adds(kernel: Kernel) -> bool:
    """Whether a kernel adds two values that it loads."""
    loaded = set(_LOADED.findall(kernel.source))
    return any(loaded.issuperset(pair) for pair in _SUM_OF_TWO.findall(kernel.source))
