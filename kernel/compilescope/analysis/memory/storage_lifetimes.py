"""Tracks the lifetimes of a wrapper's storages and the names that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...report import Node, Region
from ..graphs.operation_counts import VIEWS, operator_name
from ..text.sizes import BYTES, Hints, UnknownSize, size_of

NEVER_FREED = 1 << 60
LOOP_ITERATIONS = 2
"""How many iterations of a loop are followed: from the second on it also holds the last one's
results."""
Sizes = tuple[list[str], list[str]]
"""Sizes and strides."""


@dataclass(eq=False)
class Storage:
    """A piece of memory with its successive names."""

    name: str
    born: int
    line: int = 0
    shape: list[str] | None = None
    strides: list[str] = field(default_factory=list)
    dtype: str = ""
    device: str = ""
    owned: bool = True
    """Whether the wrapper allocates it; inputs come from the caller."""
    inside: Storage | None = None
    """The pool that it is a part of."""
    items: dict[str, Storage] = field(default_factory=dict)
    """For an operator with several results: those that the wrapper uses."""
    nodes: Sequence[str] = ()
    """What the launch that created it computes."""
    place: str = ""
    """Its index among several results, from 0."""
    unused: bool = False
    """Whether it is a result that the graph does not use, so that no node stands for it."""
    dies: int = NEVER_FREED
    absent: list[range] = field(default_factory=list)
    """Steps of a branch that frees it, although another branch still holds it later."""
    branches: tuple[tuple[int, int], ...] = ()
    """The branches that it is allocated in, outermost first: a condition's and its own number."""
    returned: bool = False
    names: list[Name] = field(default_factory=list)

    def bytes(self, hints: Hints, used: dict[str, int]) -> int | None:
        """Its bytes for the sizes that torch compiled with; None if unknown."""
        size = BYTES.get(self.dtype)
        if self.shape is None or size is None:
            return None
        try:
            sizes = [size_of(name, hints, used) for name in self.shape]
            steps = [size_of(stride, hints, used) for stride in self.strides]
        except UnknownSize:
            return None
        if 0 in sizes:
            return 0
        pairs = zip(sizes, steps, strict=False)
        return size * (1 + sum((count - 1) * step for count, step in pairs))

    def steps(self, end: int) -> Iterator[int]:
        """The steps before ``end`` in which it exists."""
        for step in range(self.born, min(self.dies + 1, end)):
            if not any(step in steps for steps in self.absent):
                yield step


@dataclass(eq=False)
class Name:
    """One name of a storage, with its lifetime."""

    name: str
    storage: Storage
    born: int
    line: int
    dies: int = NEVER_FREED
    reuses: str = ""
    sizes: Sizes | None = None
    """Sizes and strides, if the storage's are those of an earlier name."""


@dataclass
class _Condition:
    """What existed before the branches of a condition."""

    scopes: list[dict[str, list[Storage]]]
    holders: dict[int, int]
    current: dict[int, Name]
    dies: list[tuple[Name, int]]
    """Each name of the storages that exist, with its end."""
    number: int
    branch: int = 0


class StorageTracker:
    """Follows a wrapper's statements in the order in which they run.

    Parameters
    ----------
    nodes
        The graph's, after the post-grad passes.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = {node.name: node for node in nodes}
        self.names: list[Name] = []
        """All names of storages."""
        self.steps: list[str] = []
        self.keys: list[str] = []
        self.texts: list[str] = []
        """The statement of each step."""
        self.scopes: list[dict[str, list[Storage]]] = [{}]
        self._holders: dict[int, int] = {}
        """Storage → how many names hold it."""
        self._current: dict[int, Name] = {}
        self._conditions: list[_Condition] = []
        self._condition_count = 0

    @property
    def now(self) -> int:
        """The step that ran last; -1 before the first."""
        return len(self.steps) - 1

    @property
    def scope(self) -> dict[str, list[Storage]]:
        """The names of the function that runs."""
        return self.scopes[-1]

    def step(self, label: str, key: str, text: str) -> None:
        """Record that a launch or a call runs."""
        self.steps.append(label)
        self.keys.append(key)
        self.texts.append(text)

    def add_input(self, name: str, line: int) -> None:
        """Record an input."""
        node = self.nodes.get(name)
        if node is None or node.shape is None:
            return  # a size, not a tensor
        storage = Storage(
            name,
            0,
            line,
            shape=node.shape,
            strides=node.stride or [],
            dtype=node.dtype or "",
            device=node.device or "",
            owned=False,
        )
        self._named(name, storage, line, 0)
        self.hold(name, [storage])

    def allocate(self, storage: Storage) -> None:
        """Record memory allocated for a buffer, which exists from the next step on."""
        storage.born = self.now + 1
        self._named(storage.name, storage, storage.line, storage.born)
        self.hold(storage.name, [storage])

    def result(
        self,
        name: str,
        line: int,
        region: Region | None = None,
        target: str = "",
        text: str = "",
        place: str = "",
    ) -> None:
        """Record the result of the last step: one tensor, or several."""
        if operator_name(target) in VIEWS:
            sources = [storage for used in _words(text) for storage in self.scope.get(used, ())][:1]
            if sources:
                self.hold(name, sources)
                return
        nodes = region.nodes if region else ()
        storage = Storage(name, max(self.now, 0), line, nodes=nodes, place=place)
        self._named(name, storage, line, storage.born)
        self.hold(name, [storage])

    def item(self, name: str, of: str, index: str, line: int) -> None:
        """Record a name for one item of a list or of an operator's results."""
        held = self.scope.get(of, [])
        if not held:
            return
        first = held[0]
        if len(held) > 1 or first.shape is not None:
            self.hold(name, held[int(index) : int(index) + 1])
            return
        item_storage = first.items.get(index)
        if item_storage is None:
            item_storage = Storage(name, first.born, line, nodes=first.nodes, place=index)
            first.items[index] = item_storage
            self._named(name, item_storage, line, item_storage.born)
        self.hold(name, [item_storage])

    def described(
        self, name: str, sizes: Sequence[list[str]], line: int, *, is_input: bool
    ) -> None:
        """Record the sizes and strides that the wrapper checks for a value.

        Parameters
        ----------
        is_input
            Whether it is an input; otherwise it is an operator's result.
        """
        if name not in self.scope and not is_input:
            self.result(name, line)
        for storage in self.scope.get(name, ())[:1]:
            if storage.shape is None:
                storage.shape, storage.strides = list(sizes[0]), list(sizes[1])
                storage.dtype, storage.device = self._type(storage, storage.shape)

    def rename(self, name: str, old: str, line: int, sizes: Sizes | None = None) -> None:
        """Record that a buffer reuses the memory of one that is no longer needed."""
        held = self.scope.get(old, [])
        for storage in held[:1]:
            before = self._current.get(id(storage))
            if before is not None:
                before.dies = max(self.now, before.born)
            self._named(name, storage, line, self.now + 1, old, sizes)
        self.hold(name, held)
        self.drop(old)

    def called(self, name: str, old: str) -> None:
        """Record the final name of the last result."""
        held = self.scope.get(old, [])
        for storage in held[:1]:
            entry = self._current.get(id(storage))
            if entry is not None and entry.name == old and old.startswith("tmp_"):
                entry.name = name
        self.hold(name, held)
        self.drop(old)

    def hold(self, name: str, storages: Iterable[Storage]) -> None:
        """Record another name for a value; the name's earlier value is released."""
        storage_list = list(storages)
        for storage in storage_list:
            self._holders[id(storage)] = self._holders.get(id(storage), 0) + 1
        self.drop(name)
        self.scope[name] = storage_list

    def drop(self, name: str) -> None:
        """Record that a name ends; a storage without names is free."""
        self._release(self.scope.pop(name, ()))

    def enter(self, argument: str) -> None:
        """Record the call of a function with a list, which it empties."""
        storages = self.scope.get(argument, [])
        self.scopes.append({})
        self.hold("args", storages)
        inner = self.scopes.pop()
        self.drop(argument)
        self.scopes.append(inner)

    def leave(self, results: Mapping[str, Sequence[Storage]]) -> None:
        """Record the end of a function: its names end; results get the caller's names."""
        inner = self.scopes.pop()
        for name, storages in results.items():
            self.hold(name, storages)
        for storages in inner.values():
            self._release(storages)

    def begin_branches(self) -> None:
        """Record that the first of two branches begins, of which a call runs one."""
        self._conditions.append(
            _Condition(
                scopes=[dict(scope) for scope in self.scopes],
                holders=dict(self._holders),
                current=dict(self._current),
                dies=[(name, name.dies) for name in self.names if name.storage.dies == NEVER_FREED],
                number=self._condition_count,
            )
        )
        self._condition_count += 1

    def next_branch(self) -> None:
        """Record that the second branch begins, with what existed before the first one."""
        before = self._conditions[-1]
        before.branch += 1
        known = {id(name) for name, _ in before.dies}
        existed = {id(name.storage) for name, _ in before.dies}
        for name in self.names:
            if id(name) not in known:
                name.dies = min(name.dies, max(self.now, name.born))
            if id(name.storage) not in existed:
                name.storage.dies = min(name.storage.dies, max(self.now, name.storage.born))
        for name, dies in before.dies:
            storage = name.storage
            if storage.dies != NEVER_FREED:
                storage.absent.append(range(storage.dies + 1, self.now + 1))
                storage.dies = NEVER_FREED
            name.dies = dies
        self.scopes, self._holders = before.scopes, before.holders
        self._current = before.current

    def end_branches(self) -> None:
        """Record that both branches end; the values of the second one stay."""
        self._conditions.pop()

    def part(self, storage: Storage) -> None:
        """Record that a buffer gets a part of a pool, which stays as long as its parts."""
        self.allocate(storage)
        pool = storage.inside
        if pool is not None:
            self.hold(storage.name, [storage, pool])

    def _release(self, storages: Iterable[Storage]) -> None:
        for storage in storages:
            left = self._holders.get(id(storage), 1) - 1
            self._holders[id(storage)] = left
            if left <= 0:
                storage.dies = max(self.now, storage.born)
                for name in storage.names:
                    name.dies = min(name.dies, storage.dies)

    def _named(
        self,
        name: str,
        storage: Storage,
        line: int,
        born: int,
        reuses: str = "",
        sizes: Sizes | None = None,
    ) -> None:
        if not storage.names:
            storage.branches = tuple(
                (condition.number, condition.branch) for condition in self._conditions
            )
        entry = Name(name, storage, born, line, reuses=reuses, sizes=sizes)
        storage.names.append(entry)
        self._current[id(storage)] = entry
        self.names.append(entry)

    def _type(self, storage: Storage, shape: list[str]) -> tuple[str, str]:
        """The sizes and type of a result, from the nodes of the launch that returned it."""
        named_nodes = [self.nodes[name] for name in storage.nodes if name in self.nodes]
        parts = [
            self.nodes[user] for node in named_nodes for user in node.users if user in self.nodes
        ]
        typed_nodes = [node for node in (*parts, *named_nodes) if node.dtype]
        same = [node for node in typed_nodes if node.shape == shape]
        exact = [node for node in same if node.args.endswith(f", {storage.place}")]
        for node in (*exact, *same, *typed_nodes):
            return node.dtype or "", node.device or ""
        return "", ""


def _words(text: str) -> list[str]:
    inside = text[text.find("(") + 1 :]
    return "".join(name if name.isalnum() or name == "_" else " " for name in inside).split()
