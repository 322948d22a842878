"""Runs a computation in double precision besides its own.

Every operator runs twice: on the tensors themselves, and on copies of them in double precision. The
program's behavior does not change: it keeps its types, branches, random numbers, gradients and
in-place writes. Afterwards `DoublePrecision.value_of` returns the value of any computed tensor
without rounding.

Relies on ``torch.utils._python_dispatch.TorchDispatchMode``, which also sees the operators that
autograd runs, ``torch.multiprocessing.reductions.StorageWeakRef``, ``FunctionSchema.is_mutable``
and ``Argument.alias_info`` of operators, and on names of ``aten``'s operators that draw random
numbers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch._ops import HigherOrderOperator
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

from . import arguments, tensors
from .higher_order import run_under, runs_under_modes

WIDER = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.float64: torch.float64,
    torch.complex32: torch.complex128,
    torch.complex64: torch.complex128,
    torch.complex128: torch.complex128,
}
"""Type → the type of its copy in double precision."""

_DROPOUT = "aten::native_dropout"
_PRUNE_BYTES = 64 << 20
_PRUNE_COUNT = 4096


class DoublePrecision(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A mode that runs every operator in double precision too.

    Use `with_double_precision`, which also makes sure that no compiled code runs.

    Attributes
    ----------
    alone
        Operators that have no kernel in double precision; their results are used unchanged.
    skipped
        Higher-order operators that ran without double precision: what follows from their results
        has rounding errors.
    """

    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        # Keyed by storage, so that views and the aliases that autograd saves find their copy. The
        # weak reference keeps another storage from getting the same key.
        self._wide: dict[int, tuple[StorageWeakRef, torch.UntypedStorage]] = {}
        self._fresh = 0
        self._fresh_bytes = 0
        self._alive_bytes = 0
        self.alone: set[str] = set()
        self.skipped: set[str] = set()

    def value_of(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """A copy of a tensor's value without rounding; None for a tensor that is not of floats."""
        with torch.no_grad():
            wide = self._view(tensor.detach())
            return None if wide is None else wide.clone()

    def run_higher_order(
        self, operator: HigherOrderOperator, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Runs a higher-order operator once: its functions may have effects, or draw numbers.

        Their operators run in double precision too; `skipped` names the operator if they cannot.
        """
        with _disable_current_modes():
            if runs_under_modes(operator):
                return run_under(self, operator, args, kwargs)
            result = operator(*args, **kwargs)
            for leaf in tree_leaves((args, kwargs, result)):
                if _has_double(leaf):
                    self._put(leaf, leaf)
        self.skipped.add(str(operator))
        return result

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if isinstance(func, HigherOrderOperator):
            return self.run_higher_order(func, args, kwargs)
        inputs = [leaf for leaf in tree_leaves((args, kwargs)) if _has_double(leaf)]
        # Before the operator runs: it may write to its arguments.
        wide = {id(tensor): self._view(tensor) for tensor in inputs}
        written = arguments_written(func, args, kwargs)
        result = func(*args, **kwargs)
        created = [
            leaf
            for leaf in tree_leaves(result)
            if _has_double(leaf) and id(leaf) not in wide and self._key(leaf) not in self._wide
        ]
        if not created and not written:
            return result  # a view, or of integers
        if torch.Tag.nondeterministic_seeded in func.tags and not _draws_nothing(
            func, args, kwargs
        ):
            self._keep_random(func, args, kwargs, result, written)
            return result
        try:
            wider = func(*_widened(args, wide), **_widened(kwargs, wide))
        except torch.OutOfMemoryError:
            raise
        except Exception:  # noqa: BLE001 - any operator's own
            self.alone.add(func.name())
            for tensor in (*created, *written):
                self._put(tensor, tensor)
            return result
        for output, other in zip(tree_leaves(result), tree_leaves(wider), strict=True):
            if any(output is new_tensor for new_tensor in created) and isinstance(
                other, torch.Tensor
            ):
                self._put(output, other)
        return result

    def _keep_random(
        self, func: Any, args: Any, kwargs: Any, result: Any, written: list[torch.Tensor]
    ) -> None:
        """Copies random results, which have no other value in double precision."""
        if func.name() == _DROPOUT:
            output, mask = result
            chance = args[1]
            scale = 1.0 / (1.0 - chance) if chance < 1 else 0.0
            wide = self._view(args[0])
            assert wide is not None
            self._put(output, wide * mask * scale)
            return
        for leaf in (*tree_leaves(result), *written):
            if _has_double(leaf):
                self._put(leaf, leaf)

    def _key(self, tensor: torch.Tensor) -> int:
        return int(tensor.untyped_storage()._cdata)

    def _view(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """The tensor in double precision, sharing memory with the copies of its views."""
        if not _has_double(tensor):
            return None
        key = self._key(tensor)
        if key not in self._wide:
            self._widen(tensor, key)
        return _view_in_double(self._wide[key][1], tensor)

    def _widen(self, tensor: torch.Tensor, key: int, *, overwritten: bool = False) -> None:
        """Creates the storage in double precision from the contents of the tensor's storage.

        Unless all of it is overwritten anyway.
        """
        self._prune()
        storage = tensor.untyped_storage()
        count = storage.nbytes() // tensor.itemsize
        if overwritten and tensor.numel() == count:
            wide = torch.empty(count, dtype=WIDER[tensor.dtype], device=tensor.device)
        else:
            whole = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
            wide = whole.set_(storage, 0, (count,), (1,)).to(WIDER[tensor.dtype], copy=True)
        reference = StorageWeakRef(storage)  # type: ignore[no-untyped-call]
        self._wide[key] = (reference, wide.untyped_storage())
        self._fresh += 1
        self._fresh_bytes += wide.nbytes

    def _prune(self) -> None:
        """Drops the copies of freed storages; only now and then, because it is slow."""
        if (
            self._fresh_bytes < _PRUNE_BYTES + self._alive_bytes / 4
            and self._fresh < _PRUNE_COUNT + len(self._wide) / 2
        ):
            return
        self._wide = {key: pair for key, pair in self._wide.items() if not _gone(pair[0])}
        self._fresh = self._fresh_bytes = 0
        self._alive_bytes = sum(storage.nbytes() for _, storage in self._wide.values())

    def _put(self, tensor: torch.Tensor, value: torch.Tensor) -> None:
        key = self._key(tensor)
        if key not in self._wide:
            # Writing to a tensor with repeated elements does not overwrite all of its storage.
            self._widen(tensor, key, overwritten=0 not in tensor.stride())
        wide = self._view(tensor)
        assert wide is not None, "only tensors of floats are put"
        wide.copy_(value)


@contextlib.contextmanager
def with_double_precision() -> Iterator[DoublePrecision]:
    """Runs the block in eager, with the same computation in double precision.

    Attention is decomposed meanwhile, since its fused kernels do not support double precision.
    """
    mode = DoublePrecision()
    stance: Any = torch.compiler.set_stance
    with stance("force_eager"), sdpa_kernel(SDPBackend.MATH), mode:
        yield mode


def _gone(reference: StorageWeakRef) -> bool:
    return bool(reference.expired())  # type: ignore[no-untyped-call]


def _has_double(value: object) -> bool:
    return (
        isinstance(value, torch.Tensor)
        and value.dtype in WIDER
        and value.layout == torch.strided
        and not value.is_meta
        and not value.is_nested
        and not tensors.is_wrapper(value)
        and value.untyped_storage().nbytes() > 0
    )


def _view_in_double(storage: torch.UntypedStorage, tensor: torch.Tensor) -> torch.Tensor:
    """A tensor over the storage in double precision, with the geometry of ``tensor``."""
    wide = torch.empty(0, dtype=WIDER[tensor.dtype], device=tensor.device)
    wide.set_(storage, tensor.storage_offset(), tensor.size(), tensor.stride())
    if tensor.is_conj():
        wide = wide.conj()
    return wide._neg_view() if tensor.is_neg() else wide


def arguments_written(
    func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[torch.Tensor]:
    """The arguments that an operator writes to."""
    if not func._schema.is_mutable:
        return []
    written: list[torch.Tensor] = []
    values = arguments.by_name(func._schema, args, kwargs)
    for argument in func._schema.arguments:
        if argument.alias_info is not None and argument.alias_info.is_write:
            leaves = tree_leaves(values[argument.name])
            written += [leaf for leaf in leaves if _has_double(leaf)]
    return written


def _widened(values: Any, wide: Mapping[int, torch.Tensor | None]) -> Any:
    """Arguments for the computation in double precision, with tensors and types replaced."""

    def widen(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            wide_tensor = wide.get(id(value))
            # Without elements it has no storage to look up, but its type matters.
            empty = wide_tensor is None and value.dtype in WIDER and value.numel() == 0
            return (
                value.to(WIDER[value.dtype])
                if empty
                else value
                if wide_tensor is None
                else wide_tensor
            )
        return WIDER.get(value, value) if isinstance(value, torch.dtype) else value

    return tree_map(widen, values)


def _draws_nothing(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether an operator that may draw random numbers draws none, because dropout is off."""
    values = arguments.by_name(func._schema, args, kwargs)
    return (
        values.get("dropout_p") == 0.0
        or values.get("dropout") == 0.0
        or values.get("train") is False
        or values.get("training") is False
    )
