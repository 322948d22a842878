"""Saves the user's state before an inspection and restores it afterwards in any case."""

from __future__ import annotations

import signal
import threading
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch

from ..torch_api.operators import sharding, tensors
from .global_state import SavedModes, SavedRandomness
from .inner_compiled import InnerCompiled
from .object_walk import walk
from .own_backward import Backward
from .saved_gradients import SavedGradients, upstream_leaves
from .saved_python import Change, Saved, save
from .saved_tensors import SavedStorage, TensorSaver

RANDOM = "random numbers"
"""The name of the change if a call draws from a generator that belongs to no object."""


class Snapshot:
    """A snapshot of everything that a call can change.

    Saved: the data, gradient, flags and hooks of every tensor that the callable and its arguments
    reach; the contents of containers; the attributes of modules, optimizers and the user's own
    objects and classes; globals and closure variables that the code rebinds; random generators;
    torch's modes. Objects are restored in place: identities do not change. FSDP's modules hold this
    rank's shard of their parameters before a call, while its changes are determined, and
    afterwards.

    Parameters
    ----------
    fn, args, kwargs
        The call.

    Attributes
    ----------
    tensors
        The tensors reached, by path (``net.fc.weight``).
    backward
        Runs the backward of a call's result, which ends at these tensors.
    inner
        The functions and modules reached that ``torch.compile`` returned.
    objects
        The saved states of all other objects, by path.
    unsaved
        What is not restored, and why: one sentence each, for the report.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        # First, before saving draws or changes anything itself.
        self._ambient: list[tuple[str, Saved]] = [
            (RANDOM, SavedRandomness()),
            ("torch's modes", SavedModes()),
        ]
        reached = walk(fn, args, kwargs)
        self._sharded = sharding.sharded_modules(obj for obj, _ in reached.objects)
        if self._sharded:
            sharding.reshard(self._sharded)
            reached = walk(fn, args, kwargs)
        self.unsaved: list[str] = list(reached.unsaved)
        self.tensors: dict[str, torch.Tensor] = reached.tensors()
        self.backward = Backward(self.tensors)
        self.inner = InnerCompiled(
            obj for obj, _ in reached.objects if type(obj) is types.FunctionType
        )
        self.objects: list[tuple[str, Saved]] = []
        self._tensors = TensorSaver()
        for obj, path in reached.objects:
            try:
                if issubclass(type(obj), torch.Tensor):
                    reason = self._tensors.save(obj, path)  # type: ignore[arg-type]
                    if reason:
                        self.unsaved.append(reason)
                self.objects.extend((path, saved) for saved in save(obj))
                if issubclass(type(obj), torch.Tensor):
                    self._save_upstream(obj, path)  # type: ignore[arg-type]
            except Exception as error:  # noqa: BLE001, PERF203 - reported
                self.unsaved.append(f"{path}: {error}")

    def _save_upstream(self, tensor: torch.Tensor, path: str) -> None:
        leaves = upstream_leaves(tensor)
        if leaves:
            self.objects.append((f"gradients upstream of {path}", SavedGradients(leaves)))

    def restore(self) -> None:
        """Restores everything; may be called any number of times.

        Failures are added to `unsaved`, and the rest is still restored. Ctrl-C waits until the end.
        """
        with _uninterrupted():
            sharding.reshard(self._sharded)
            for path, saved in self.objects:
                self._restore_saved(path, saved)
            with tensors.plain():
                for storage in self._tensors.storages.values():
                    if storage is not None:
                        self._restore_saved("a tensor's data", storage)
                for path, tensor in self._tensors.tensors:
                    self._restore_saved(path, tensor)
            for path, saved in self._ambient:
                self._restore_saved(path, saved)
            torch.clear_autocast_cache()  # it may have casts of changed weights

    def changed(self) -> Iterator[tuple[str, Saved | None, Change]]:
        """The current differences: path, saved state and current value.

        Changes no value, and runs none of the user's code. Call it before `restore`. For a tensor's
        data, the value is the tensor.
        """
        sharding.reshard(self._sharded)
        for path, saved in self.objects:
            for change in saved.changed():
                yield path, saved, change
        with tensors.plain():
            for path, tensor in self._tensors.written():
                yield path, None, Change(value=tensor)
            for path, saved in self._tensors.tensors:
                for change in saved.changed():
                    yield path, saved, change
        for path, saved in self._ambient:
            for change in saved.changed():
                yield path, saved, change

    def before(self, path: str) -> torch.Tensor | None:
        """A tensor's value in the snapshot; None if there is no copy of it."""
        for place, saved in self._tensors.tensors:
            if place == path:
                with tensors.plain():
                    return saved.before()
        return None

    def _restore_saved(self, path: str, saved: Saved | SavedStorage) -> None:
        try:
            saved.restore()
        except Exception as error:  # noqa: BLE001 - reported, and the rest continues
            reason = f"{path} could not be put back: {error}"
            if reason not in self.unsaved:
                self.unsaved.append(reason)


@contextmanager
def preserved(
    fn: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
) -> Iterator[Snapshot]:
    """Saves everything that a call can change, and restores it at the end of the block.

    It also restores after an exception or an interrupt. `Snapshot.restore` restores the state in
    between, so that every variant starts from the same state.
    """
    snapshot = Snapshot(fn, args, kwargs)
    try:
        yield snapshot
    finally:
        snapshot.restore()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Holds back Ctrl-C in the block, and delivers it afterwards."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    pending: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: pending.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if pending:
            handler(*pending[0])
