"""What one launch of a kernel reads, writes and computes, from the shapes of its graph nodes.

These are estimates: a buffer counts once and as a whole, regardless of the machine's caches, and a
value that several kernels recompute counts in each. They are exact if each kernel reads each of its
buffers once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Sequence
from typing import NoReturn

from ....report import Node
from ...graphs.operation_counts import (
    ACCUMULATES,
    FOREACH_WRITES,
    GATHERS,
    IN_PLACE,
    INDEX_WRITES,
    ITEM,
    SCATTERS,
    VIEWS,
    is_product,
    of_one_tensor,
    operations,
    operator_name,
)
from ...text.brackets import split_list
from ...text.sizes import BYTES, Hints, UnknownSize, count_of, distinct_count
from .concatenations import own_inputs
from .named_operators import is_named_for, is_number, is_subgraph, same_operator
from .node_facts import NodeFacts

_ACCUMULATE = 3
"""The place of the flag among the arguments of an ``index_put``."""
NO_FORMULA = "There is no formula for {}."
NO_SHAPE = "The graph does not give the shape of {}."
NO_BYTES = "The size of an element of {} is not known."


class Traffic:
    """What the kernels of a graph read, write and compute.

    Parameters
    ----------
    nodes
        The graph's, after the post-grad passes.
    groups
        The nodes of each launch: a value that all its users recompute is not written.
    hints
        The values that symbols had when torch compiled.
    facts
        What is known of the nodes; more is added.
    updated
        The nodes that a library computes in place. Generated kernels copy their first argument.
    stored
        The nodes whose values are written to a buffer, even if no other kernel reads it.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        groups: Iterable[Collection[str]],
        hints: Hints,
        facts: NodeFacts,
        updated: Collection[str] = (),
        stored: Collection[str] = (),
    ) -> None:
        self.updated = updated
        self.stored = stored
        self.nodes = {node.name: node for node in nodes}
        self.hints = hints
        self.facts = facts
        self.used: dict[str, int] = {}
        self.groups = [frozenset(group) for group in groups]
        self.groups_of: dict[str, list[frozenset[str]]] = {}
        """Node name → the groups that compute it."""
        for group in self.groups:
            for name in group:
                self.groups_of.setdefault(name, []).append(group)

    def by_library(self, names: Iterable[str], kernel: str) -> list[str]:
        """Of the nodes in a library call's name, those that calls of this library function compute.

        The others are its inputs, which Inductor computes in earlier kernels. A view in the name
        stands for the node that computes what it shows.
        """
        named = [node for node in self._owners(names) if not is_subgraph(node)]
        shown = [self._shown(node) for node in named if self.is_view(node)]
        owners = [node for node in named if node.op != "placeholder" and not self.is_view(node)]
        shown = [node for node in shown if node.op.startswith("call") and not is_subgraph(node)]
        same = same_operator(owners, kernel) or same_operator(shown, kernel)
        products = [node for node in owners if is_product(node.target)]
        return list(dict.fromkeys(node.name for node in same or products or owners[-1:]))

    def called(self, names: Sequence[str], kernel: str) -> list[str]:
        """Of the nodes in a library call's name, the one that it computes, or the view it makes."""
        named = [node for node in self._owners(names) if node.op.startswith("call")]
        views = [node for node in named if self.is_view(node) and is_named_for(node, kernel)]
        others = [node for node in named if not self.is_view(node)]
        same = same_operator([*others, *views], kernel) if views else []
        called = [node.name for node in same if node in views]
        return (called or self.by_library(names, kernel))[-1:]

    def computed(self, names: Iterable[str], elsewhere: Collection[str]) -> list[str]:
        """Of the nodes in a kernel's name, those that it computes, and no library call.

        A node with several results counts as one. A node that a library computes in place stays:
        the kernel copies its first argument.
        """
        owners = dict.fromkeys(
            owner.name for owner in self._owners(names) if not is_subgraph(owner)
        )
        computing = [name for name in owners if name not in elsewhere or name in self.updated]
        return computing if any(not self.is_view(self.nodes[name]) for name in computing) else []

    def called_bytes(self, names: Sequence[str]) -> int:
        """What a library call of these nodes reads and writes."""
        return self.bytes_of(names, by_library=True)

    def bytes_of(self, names: Sequence[str], *, by_library: bool = False) -> int:
        """What a kernel of these nodes reads from elsewhere, and writes for others."""
        inside = frozenset(names)
        read: dict[str, dict[str, int]] = {}
        written: dict[str, int] = {}
        for name in names:
            node = self.nodes[name]
            if self.is_view(node):
                continue
            if node.op == "placeholder":
                # An input that is copied into another layout.
                written[name] = self._bytes(node, self._count(node))
                read[name] = {name: written[name]}
                continue
            if is_product(node.target) and self._is_empty(node):
                continue
            own = self._own_parts(node, inside)
            if own is not None:
                self._add_parts(node, own, inside, read, written)
                continue
            most = None
            arguments = self._arguments(node)
            if operator_name(node.target) in GATHERS and node.shape is not None:
                most = self._count(node)
            updates = name in self.updated
            if updates and not by_library:
                arguments = arguments[:1]
                if any(self._owner(self._base(used)[0]).name in inside for used in arguments):
                    continue  # the library updates what the kernel computes
            back = operator_name(node.target) in IN_PLACE or (updates and by_library)
            listed = self._listed_writes(node)
            is_overwriting = operator_name(node.target) in FOREACH_WRITES
            overwritten = {tensor.name for tensor in listed} if is_overwriting else ()
            for base, count in map(self._base, listed):
                written[base.name] = self._bytes(base, count)
            for place, used in enumerate(arguments):
                if used.name in overwritten:
                    continue
                base, count = self._base(used)
                if back and place == 0:
                    written[base.name] = self._bytes(base, self._at_most(node, count))
                    if self._accumulates(node):
                        read[base.name] = {used.name: written[base.name]}
                elif base.name not in inside and self._owner(base).name not in inside:
                    if place == 0 and most is not None:
                        count = min(count, most)
                    read.setdefault(base.name, {})[used.name] = self._bytes(base, count)
            if not (back or listed):
                for result in self.results(node):
                    if self.leaves(result, inside):
                        written[result.name] = self._bytes(result, self._count(result))
        # A buffer that is read in parts counts at most as a whole.
        whole = {name: self._whole(self.nodes[name]) for name in read}
        looked = sum(min(sum(parts.values()), whole[name]) for name, parts in read.items())
        return looked + sum(written.values())

    def part_bytes(self, name: str, inside: frozenset[str]) -> int | None:
        """What a copy of a kernel's own inputs of a concatenation moves; None if it has no own."""
        own = self._own_parts(self.nodes[name], inside)
        if own is None:
            return None
        read: dict[str, dict[str, int]] = {}
        written: dict[str, int] = {}
        self._add_parts(self.nodes[name], own, frozenset(), read, written)
        return sum(written.values()) + sum(sum(parts.values()) for parts in read.values())

    def _own_parts(self, node: Node, inside: frozenset[str]) -> list[bool] | None:
        """Of the inputs of a concatenation, those that a kernel copies; None if it is not split."""
        groups = self.groups_of.get(node.name, [])
        if operator_name(node.target) != "cat" or len(groups) < 2 or node.name not in self.stored:
            return None
        owners = [self._shown(used).name for used in self._arguments(node)]
        return own_inputs(owners, groups, inside)

    def _add_parts(
        self,
        node: Node,
        own: Sequence[bool],
        inside: frozenset[str],
        read: dict[str, dict[str, int]],
        written: dict[str, int],
    ) -> None:
        """Add what a kernel moves that copies some inputs of a concatenation, and may use it."""
        users = [self.nodes[name] for name in inside if not self.is_view(self.nodes[name])]
        inputs = [self.nodes[name] for user in users for name in user.inputs if name in self.nodes]
        is_used = any(self._shown(used) is node for used in inputs)
        for used, is_own in zip(self._arguments(node), own, strict=True):
            size = self._bytes(node, self._count(used))
            base, count = self._base(used)
            if is_own:
                written[node.name] = written.get(node.name, 0) + size
                if base.name not in inside and self._owner(base).name not in inside:
                    read.setdefault(base.name, {})[used.name] = self._bytes(base, count)
            elif is_used:
                read.setdefault(node.name, {})[used.name] = size

    def _listed_writes(self, node: Node) -> list[Node]:
        """The tensors that a foreach operator updates in place."""
        single = of_one_tensor(node.target)
        is_in_place = single is not None and operator_name(single).endswith("_")
        return self._lists(node)[0] if is_in_place else []

    def _accumulates(self, node: Node) -> bool:
        """Whether a node adds to elements of its first argument."""
        name = operator_name(node.target)
        added = (*split_list(node.args), "", "", "", "")[_ACCUMULATE].rpartition("=")[2]
        return name in ACCUMULATES or (name in INDEX_WRITES and added == "True")

    def _at_most(self, node: Node, count: int) -> int:
        """Of the elements of a node's first argument, those that it writes."""
        name = operator_name(node.target)
        if name in INDEX_WRITES:
            return min(count, self._selected(node, count))
        index = (*self._positions(node), None, None, None)[2] if name in SCATTERS else None
        return count if index is None else min(count, self._count(index))

    def _selected(self, node: Node, count: int) -> int:
        """The elements that an ``index_put_`` writes, whose values may be broadcast to them."""
        target, _, values = (*self._positions(node), None, None, None)[:3]
        texts = split_list((*split_list(node.args), "", "")[1][1:-1])
        indices = [self._node(node, text) for text in texts if text != "None"]
        sizes = self._shape(target) if target is not None else None
        shapes = [self._shape(index) if index is not None else None for index in indices]
        is_mask = any(index is not None and index.dtype in ("bool", "uint8") for index in indices)
        if sizes is None or is_mask or None in shapes:
            count_of_values = self._count(values) if values is not None else 1
            return count_of_values if count_of_values > 1 else count
        whole = [
            size
            for place, size in enumerate(sizes)
            if place >= len(texts) or texts[place] == "None"
        ]
        reversed_shapes = [shape[::-1] for shape in shapes if shape is not None]
        together = map(max, itertools.zip_longest(*reversed_shapes, fillvalue=1))
        return math.prod(together) * math.prod(whole)

    def _whole(self, buffer: Node) -> int:
        return self._bytes(buffer, self._at_most_distinct(buffer, self._count(buffer)))

    def _at_most_distinct(self, buffer: Node, count: int) -> int:
        """Of a number of elements those that are different places in memory.

        An expanded input repeats elements, with a stride of 0. What kernels write does not.
        """
        if buffer.op not in ("placeholder", "get_attr") or not buffer.shape or not buffer.stride:
            return count
        distinct = self.facts.distinct.get(buffer.name)
        if distinct is None:
            try:
                distinct = distinct_count(buffer.shape, buffer.stride, self.hints)
            except UnknownSize:
                return count
            self.facts.distinct[buffer.name] = distinct
        return min(count, distinct)

    def operations_of(self, names: Sequence[str]) -> int:
        """What a kernel of these nodes computes."""
        return self.called_operations([name for name in names if name not in self.updated])

    def called_operations(self, names: Sequence[str]) -> int:
        """What a library call of these nodes computes."""
        total = 0
        for name in names:
            node = self.nodes[name]
            if self.is_view(node) or node.op in ("placeholder", "get_attr"):
                continue
            if node.shape is None and is_number(node):
                continue
            single = of_one_tensor(node.target)
            count: int | None
            if operator_name(node.target) in INDEX_WRITES and self._accumulates(node):
                count = self._selected(node, self._count(node))
            elif single is not None:
                count = self._operations_of_each(node, single)
            else:
                arguments = [
                    self._shape(position) if position else None
                    for position in self._positions(node)
                ]
                shape = self._shape(node)
                count = operations(node.target, shape, arguments, split_list(node.args))
            if count is None:
                raise UnknownSize(NO_FORMULA.format(operator_name(node.target)))
            total += count
        return total

    def _operations_of_each(self, node: Node, target: str) -> int | None:
        """What a foreach operator computes: an operator for each tensor of its lists."""
        items = {split_list(item.args)[-1]: item for item in self.results(node)}
        total = 0
        for place, tensors in enumerate(zip(*self._lists(node), strict=True)):
            shapes = [self._known_shape(tensor) for tensor in tensors]
            item = items.get(str(place))
            shape = self._known_shape(item) if item else max(shapes, key=math.prod)
            count = operations(target, shape, shapes)
            if count is None:
                return None
            total += count
        return total

    def _positions(self, node: Node) -> list[Node | None]:
        positions = self.facts.positions.get(node.name)
        if positions is None:
            texts = split_list(node.args)
            positions = [self._node(node, text) for text in texts]
            self.facts.positions[node.name] = positions
        return positions

    def _node(self, user: Node, text: str) -> Node | None:
        """The node that a name in another node's arguments stands for."""
        prefix, dot, _ = user.name.rpartition(".")
        return self.nodes.get(text) or (self.nodes.get(f"{prefix}.{text}") if dot else None)

    def _lists(self, node: Node) -> list[list[Node]]:
        """The lists of tensors that a foreach operator is given."""
        texts = [text[1:-1] for text in split_list(node.args) if text.startswith("[")]
        lists = [[self._node(node, name) for name in split_list(text)] for text in texts]
        # A list of numbers has no nodes.
        lists = [tensors for tensors in lists if any(tensors)]
        known = [[tensor for tensor in tensors if tensor is not None] for tensors in lists]
        if not known or known != lists or len({len(tensors) for tensors in known}) > 1:
            raise UnknownSize(NO_SHAPE.format(node.name))
        return known

    def _arguments(self, node: Node) -> list[Node]:
        """The nodes that a node uses, its first argument first."""
        arguments = self.facts.arguments.get(node.name)
        if arguments is None:
            arguments = self.facts.arguments[node.name] = self._read_arguments(node)
        return arguments

    def _read_arguments(self, node: Node) -> list[Node]:
        arguments = [self.nodes[name] for name in node.inputs if name in self.nodes]
        first = next(iter(self._positions(node)), None)
        if first is not None and first in arguments:
            arguments.remove(first)
            arguments.insert(0, first)
        return [
            argument
            for argument in arguments
            if argument.op != "get_attr" or argument.shape is not None
        ]

    def _base(self, node: Node) -> tuple[Node, int]:
        """The buffer that holds a value, and how many of its elements are accessed."""
        count = self._count(node) if node.shape is not None else None
        while self.is_view(node):
            source = self.nodes.get(node.inputs[0]) if node.inputs else None
            if source is None:
                break
            node = source
            if node.shape is not None:
                size = self._count(node)
                count = size if count is None else min(count, size)
        if count is None:
            count = self._count(node)
        return node, self._at_most_distinct(node, count)

    def _shown(self, node: Node) -> Node:
        """The node that computes what a view shows."""
        while self.is_view(node) and node.inputs and node.inputs[0] in self.nodes:
            node = self.nodes[node.inputs[0]]
        return self._owner(node)

    def _owners(self, names: Iterable[str]) -> list[Node]:
        """The nodes that compute these values, and views as they are."""
        return [self._owner(self.nodes[name]) for name in names]

    def owner(self, name: str) -> str:
        """The name of the node that computes a value."""
        return self._owner(self.nodes[name]).name

    def _owner(self, node: Node) -> Node:
        """The node that computes a value; for a single result, the node with all results."""
        if node.target in ITEM and node.inputs and not self.is_view(node):
            return self.nodes.get(node.inputs[0], node)
        return node

    def is_view(self, node: Node) -> bool:
        """Whether a value is a view of an existing one."""
        known = self.facts.views.get(node.name)
        if known is None:
            known = self.facts.views[node.name] = self._reads_as_view(node)
        return known

    def _reads_as_view(self, node: Node) -> bool:
        if node.op != "call_function" or operator_name(node.target) not in VIEWS:
            return False
        if node.target not in ITEM:
            return True
        source = self.nodes.get(node.inputs[0]) if node.inputs else None
        return source is not None and self.is_view(source)

    def results(self, node: Node) -> list[Node]:
        """The tensors that a node gives: itself, or the items of several."""
        users = [self.nodes[name] for name in node.users if name in self.nodes]
        several = [user for user in users if user.target in ITEM]
        if node.shape is None and several:
            return [user for user in several if user.shape is not None]
        return [node] if node.shape is not None else []

    def _is_empty(self, node: Node) -> bool:
        """Whether a node's results have no elements, so that a library reads none either."""
        results = self.results(node)
        return bool(results) and not any(map(self._count, results))

    def leaves(self, node: Node, inside: frozenset[str]) -> bool:
        """Whether the value is stored, or a node outside reads it instead of recomputing it."""
        if node.name in self.stored:
            return True
        pending = list(node.users)
        while pending:
            name = pending.pop()
            user = self.nodes.get(name)
            if user is None:
                continue
            if user.op == "output":
                return True
            if self.is_view(user):
                pending += user.users
            elif name not in inside and self._is_written_by(node, user):
                return True
            elif name not in inside or name in self.updated:
                groups = self.groups_of.get(name)
                if not groups or any(node.name not in group for group in groups):
                    return True
        return False

    def _is_written_by(self, node: Node, user: Node) -> bool:
        """Whether a node updates a value, or a view of it, in place."""
        target = next(iter(self._positions(user)), None)
        while target is not None and self.is_view(target):
            target = self.nodes.get(target.inputs[0]) if target.inputs else None
        return operator_name(user.target) in IN_PLACE and target is node

    def is_copied_back(self, node: Node) -> bool:
        """Whether the value is written to a buffer that exists: an input that is updated."""
        users = [self.nodes[name] for name in node.users if name in self.nodes]
        copies = [user for user in users if operator_name(user.target) == "copy_"]
        return any(node in self._positions(copy)[1:] for copy in copies)

    def _shape(self, node: Node) -> list[int] | None:
        if node.shape is None:
            return None
        return [count_of([size], self.hints, self.used) for size in node.shape]

    def _known_shape(self, node: Node) -> list[int]:
        shape = self._shape(node)
        return self._missing(node) if shape is None else shape

    def _count(self, node: Node) -> int:
        if node.shape is None:
            if node.dtype is None and node.op in ("placeholder", "call_function"):
                return 0 if not node.users or is_number(node) else self._missing(node)
            return self._missing(node)
        known = self.facts.counts.get(node.name)
        if known is None:
            used: dict[str, int] = {}
            try:
                known = self.facts.counts[node.name] = count_of(node.shape, self.hints, used), used
            finally:
                self.used.update(used)
        elif known[1]:
            self.used.update(known[1])
        return known[0]

    def _missing(self, node: Node) -> NoReturn:
        raise UnknownSize(NO_SHAPE.format(node.name))

    def _bytes(self, node: Node, count: int) -> int:
        if not count:
            return 0
        size = BYTES.get(node.dtype or "")
        if size is None:
            raise UnknownSize(NO_BYTES.format(node.name))
        return size * count
