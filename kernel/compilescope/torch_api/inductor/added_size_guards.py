"""The guards on sizes that code generation adds to those of Dynamo's trace.

torch generates the code before it reads the guards from the shape environment. A capture has its
guards first; the code of each variant is generated from it later, and may add others.

Relies on ``ShapeEnv`` (``produce_guards_verbose``, ``guards``, ``var_to_range``, ``replacements``,
``tracked_fakes``, ``_version_counter``, ``_replacements_version_counter``, and the counters of
unbacked symbols) and on the caches of its methods; as read in 2.13.
"""

from __future__ import annotations

import contextlib
import copy
import threading
import time
from collections.abc import (
    Iterable,
    Iterator,
    MutableMapping,
    MutableSequence,
    MutableSet,
    Sequence,
)
from typing import Any, NamedTuple

import msgspec
import torch

from ..guards.size_guard_lines import SizeGuards, TensorSizes
from ..trace.artifact_names import SIZE_GUARDS
from ..trace.spans import identity
from ..trace.trace import Event, current_sink, listening


class CodeGenerationGuards:
    """Reads the guards on sizes that one generation of code adds, and removes them again.

    Every variant of a capture begins with what Dynamo's trace alone assumed.

    Parameters
    ----------
    shape_env
        The capture's; None if it has no dynamic sizes.
    tracked_fakes
        Its inputs, which torch drops at the end of the compilation.
    """

    def __init__(self, shape_env: Any, tracked_fakes: Sequence[Any]) -> None:
        self._shape_env = shape_env
        self._tracked_fakes = tracked_fakes
        self._after: _Guards | None = None
        self.added: SizeGuards | None = None
        """What was added; None if nothing was, until the block of `removed` has ended."""

    def record_current(self) -> None:
        """Records the current guards: code generated later adds none to a compilation."""
        if self._after is None and self._shape_env is not None:
            self._after = self._guards()

    def log(self) -> None:
        """Logs what was added to the trace of the current compilation."""
        sink = current_sink()
        if self.added is None or sink is None:
            return
        _, metadata = identity("artifact", {"name": SIZE_GUARDS, "encoding": "json"}, None)
        payload = msgspec.json.encode(self.added).decode()
        sink(Event(metadata, payload, time.time(), threading.get_ident()))

    @contextlib.contextmanager
    def removed(self) -> Iterator[None]:
        """Sets `added` after the block, and removes from the environment what the block added."""
        if self._shape_env is None or not self._tracked_fakes:
            yield
            return
        before = _State(self._shape_env)
        try:
            yield
            self.record_current()
        finally:
            self._finish(before)

    def _finish(self, before: _State) -> None:
        if not before.has_changed():
            return
        now, stays = _State(self._shape_env), before.is_restorable()
        before.restore()
        guards = self._guards()
        if self._after is not None and guards is not None and self._after != guards:
            self.added = SizeGuards(
                before=guards.lines,
                after=self._after.lines,
                tensors=[
                    (old, new)
                    for old, new in zip(guards.tensors, self._after.tensors, strict=True)
                    if old != new
                ],
            )
        if not stays:
            now.restore()

    def _guards(self) -> _Guards | None:
        """The guards as Dynamo would write them; None where torch rejects them."""
        fakes = self._tracked_fakes
        try:
            with listening(lambda event: None):
                (verbose,) = self._shape_env.produce_guards_verbose(
                    [tracked.fake for tracked in fakes],
                    [tracked.source for tracked in fakes],
                    source_ref=_name,
                    input_contexts=[tracked.symbolic_context for tracked in fakes],
                    ignore_static=True,
                    langs=("verbose_python",),
                )
        except Exception:  # noqa: BLE001 - a build raises and reports it
            return None
        return _Guards(
            list(map(str, verbose.exprs)),
            [
                TensorSizes(
                    source=_name(tracked.source),
                    size=_known(tracked.fake.size()),
                    stride=_known(tracked.fake.stride()),
                )
                for tracked in fakes
                if isinstance(tracked.fake, torch.Tensor) and tracked.fake.layout is torch.strided
            ],
        )


class _Guards(NamedTuple):
    lines: list[str]
    tensors: list[TensorSizes]


def _known(sizes: Iterable[Any]) -> list[int | None]:
    """The sizes or strides that have become static; None for the others."""
    return [size if isinstance(size, int) else size.node.maybe_as_int() for size in sizes]


def _name(source: Any) -> str:
    name = source.name
    return str(name() if callable(name) else name)


class _State:
    """The state of a shape environment."""

    def __init__(self, shape_env: Any) -> None:
        self._shape_env = shape_env
        self._values = {
            name: (value, _copied(name, value))
            for name, value in vars(shape_env).items()
            if name not in _VERSIONS
        }

    def has_changed(self) -> bool:
        """Whether the environment has other guards since."""
        return any(
            getattr(self._shape_env, name) != self._values[name][1]
            for name in ("guards", "var_to_range", "replacements")
        )

    def is_restorable(self) -> bool:
        """Whether the environment may stay restored.

        Tensors of the capture remember unbacked symbols that were created since.
        """
        return all(
            repr(getattr(self._shape_env, name, None)) == repr(value)
            for name, (_, value) in self._values.items()
            if name.startswith("unbacked_") and name.endswith("_counter")
        )

    def restore(self) -> None:
        """Makes the environment what it was; later states are restorable, too."""
        for name, (value, content) in self._values.items():
            _put(value, content)
            setattr(self._shape_env, name, value)
        for name in _VERSIONS:
            if hasattr(self._shape_env, name):
                setattr(self._shape_env, name, getattr(self._shape_env, name) + 1)
        for method in vars(type(self._shape_env)).values():
            while method is not None:
                getattr(method, "cache_clear", bool)()
                method = getattr(method, "__wrapped__", None)


_VERSIONS = ("_version_counter", "_replacements_version_counter")
"""Caches compare them: they only grow."""


def _copied(name: str, value: Any) -> Any:
    if name == "var_to_range_sloc":
        # torch changes its values in place.
        return {key: copy.copy(item) for key, item in value.items()}
    if name == "deferred_runtime_asserts":
        return {key: list(item) for key, item in value.items()}
    is_container = isinstance(value, MutableMapping | MutableSequence | MutableSet)
    return copy.copy(value) if is_container else value


def _put(value: Any, content: Any) -> None:
    """Restores a container's content in place: other objects may refer to it."""
    if content is value:
        return
    value.clear()
    if isinstance(value, MutableSequence):
        value.extend(content)
    elif isinstance(value, MutableSet):
        for item in content:
            value.add(item)
    else:
        value.update(content)
