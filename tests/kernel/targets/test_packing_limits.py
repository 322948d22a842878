"""What the main thread does at most to pack a call that another process runs."""

from __future__ import annotations

import collections
import copyreg
import dataclasses
import enum
import functools
import tempfile
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import compilescope as cs
import numpy as np
import pytest
import torch
from compilescope.inspection.inspection import Inspection
from compilescope.targets import local_sources, packing_limits
from compilescope.targets.call_packer import CallPacker
from compilescope.targets.call_state import lines_of_state
from compilescope.targets.packing_limits import NoLimits, PackingLimits

from ..stand_in_clock import Clock

pytestmark = pytest.mark.skipif(
    not local_sources._can_run(), reason="needs seccomp, and no accelerator"
)

X = torch.linspace(-1, 2, 48)
HELD: Any = None


class Held:
    def __init__(self, number: int) -> None:
        self.number = number


def holding(x: torch.Tensor, *held: object) -> torch.Tensor:
    return x if HELD is None else x + 1


def packer_holding(*held: object) -> CallPacker:
    return CallPacker(holding, (X, *held), {}, [])


def is_packed(packer: CallPacker) -> bool:
    sent = local_sources.packed_with_values(packer)
    if sent is not None:
        sent.close()
    return sent is not None


class _Ticking(Clock):
    """A clock that advances whenever it is read."""

    def __init__(self, step_s: float) -> None:
        super().__init__()
        self._step_s = step_s

    def thread_time(self) -> float:
        self.advance(self._step_s)
        return super().thread_time()


def test_packing_ends_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing_limits, "time", _Ticking(0.0))
    assert is_packed(packer_holding())
    monkeypatch.setattr(packing_limits, "time", _Ticking(0.1))
    with pytest.raises(cs.CompilescopeError, match="Packing it takes more than"):
        packer_holding().packed_with_values()


def test_a_refusal_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    packer = packer_holding()
    monkeypatch.setattr(packing_limits, "MOST_BYTES", 100)
    with pytest.raises(cs.CompilescopeError, match="take more than"):
        packer.packed_with_values()
    monkeypatch.undo()
    with pytest.raises(cs.CompilescopeError, match="take more than"):
        packer.packed_with_values()
    packer.forget_refusal()
    assert is_packed(packer)


def test_too_little_memory_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    packer = packer_holding()
    monkeypatch.setattr("compilescope.targets.sent_values.free_memory", lambda: 0)
    assert not is_packed(packer)
    monkeypatch.undo()
    assert is_packed(packer)


def test_a_refusal_holds_until_the_code_is_changed() -> None:
    inspection = Inspection(holding, (X,))
    inspection._call_packer._refusal = cs.CompilescopeError("It cannot.").problem
    inspection._generation._version -= 1
    inspection._generation._drop_outdated()
    assert is_packed(inspection._call_packer)


class _WithState:
    def __getstate__(self) -> dict[str, int]:
        raise AssertionError("packing runs nothing of the user's")


class _WithReduce:
    def __reduce__(self) -> str:
        raise AssertionError("packing runs nothing of the user's")


class _WithAttributes:
    def __getattribute__(self, name: str) -> Any:
        raise AssertionError("packing runs nothing of the user's")


class _WithIterator(list[int]):
    def __iter__(self) -> Any:
        raise AssertionError("packing runs nothing of the user's")


class _WithDict:
    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise AssertionError("packing runs nothing of the user's")


class _Array(np.ndarray):  # type: ignore[type-arg]
    def __array_finalize__(self, array: object) -> None:
        assert array is None, "packing runs nothing of the user's"


class _Registered:
    pass


def _reduced(registered: _Registered) -> str:
    raise AssertionError("packing runs nothing of the user's")


@pytest.mark.parametrize(
    "cls", [_WithState, _WithReduce, _WithAttributes, _WithIterator, _WithDict, _Registered]
)
def test_methods_of_the_users_are_not_run(cls: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(copyreg.dispatch_table, _Registered, _reduced)
    with pytest.raises(cs.CompilescopeError, match=r"Pickling it runs _"):
        packer_holding(cls()).packed_with_values()


def test_methods_of_the_users_arrays_are_not_run() -> None:
    with pytest.raises(cs.CompilescopeError, match="Pickling it runs __array_finalize__"):
        packer_holding(_Array((2, 3), order="F")).packed_with_values()


def test_methods_of_an_instance_are_not_run() -> None:
    held = Held(1)
    held.__reduce_ex__ = lambda protocol: pytest.fail("it runs")  # type: ignore[method-assign]
    with pytest.raises(cs.CompilescopeError, match="Pickling it runs __reduce_ex__"):
        packer_holding(held).packed_with_values()


def test_methods_of_the_users_tensors_are_not_run() -> None:
    with pytest.raises(cs.CompilescopeError, match="Its class is the user's"):
        packer_holding(X.as_subclass(_Tensor)).packed_with_values()


class _Tensor(torch.Tensor):
    pass


class _Pass(_WithState):
    def __deepcopy__(self, memo: object) -> _Pass:
        return self  # torch itself copies its settings


def test_methods_of_settings_are_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch._inductor.config, "post_grad_custom_post_pass", _Pass())
    with pytest.raises(cs.CompilescopeError, match="the setting post_grad_custom_post_pass"):
        packer_holding().packed_with_values()


def _with_history() -> torch.Tensor:
    return torch.ones(2, requires_grad=True) * 2


def _with_hook() -> torch.Tensor:
    tensor = torch.ones(2, requires_grad=True)
    tensor.register_hook(lambda grad: grad)
    return tensor


def _with_array() -> list[Any]:
    array = np.zeros(4)
    return [array, torch.from_numpy(array)]


@pytest.mark.parametrize(
    ("held", "why"),
    [
        (threading.Lock, "cannot pickle '_thread.lock'"),
        (lambda: open(__file__), "belongs to this process"),  # noqa: PTH123, SIM115
        (lambda: tempfile.TemporaryFile("w+"), "belongs to this process"),  # noqa: SIM115
        (tempfile.TemporaryDirectory, "belongs to this process"),
        (lambda: (number for number in range(3)), "cannot pickle 'generator'"),
        (_with_history, "a history of operations"),
        (_with_hook, "has hooks"),
        (_with_array, "shares its memory with an array"),
        (lambda: np.zeros(10_000_000), "more than 32 MB"),
        (lambda: np.array([object()]), "holds objects"),
        (lambda: lambda y: eval("y"), "every name of the notebook"),
    ],
    ids=[
        "lock", "file", "temporary file", "temporary folder", "generator", "history", "hook",
        "shared memory", "large array", "array of objects", "eval",
    ],
)  # fmt: skip
def test_what_cannot_travel_is_refused(held: Callable[[], Any], why: str) -> None:
    value = held()
    with pytest.raises(cs.CompilescopeError, match=why):
        packer_holding(value).packed_with_values()
    if isinstance(value, tempfile.TemporaryDirectory):
        assert Path(value.name).is_dir()


@dataclasses.dataclass(frozen=True, slots=True)
class _Slotted:
    number: int = 1


class _Pair(NamedTuple):
    number: int
    held: Held


class _Kind(enum.Enum):
    SMALL = 1


def test_methods_of_python_and_torch_are_run() -> None:
    held = [_Slotted(), _Pair(1, Held(1)), _Kind.SMALL, collections.Counter("a"), np.zeros(2), Held]
    assert is_packed(packer_holding(*held, torch.nn.Linear(2, 2), torch.nn.GRU(2, 2)))


class _Counting(PackingLimits):
    checks = 0
    size = 0

    def check(self) -> None:
        self.checks += 1

    def add(self, size: int) -> None:
        self.size += size


@pytest.mark.parametrize(
    ("held", "size"),
    [
        (lambda n: list(range(n)), 0),
        (lambda n: {str(k): k for k in range(n)}, 0),
        (lambda n: [Held(k) for k in range(n)], 0),
        (lambda n: torch.zeros(n), 4),
        (lambda n: np.zeros(n), 8),
        (lambda n: np.zeros(2 * n)[::2], 8),
        (lambda n: "x" * n, 1),
    ],
    ids=["list", "dict", "objects", "tensor", "array", "strided array", "text"],
)
def test_checks_and_bytes_grow_with_what_is_read(
    held: Callable[[int], Any], size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing_limits, "_PIECE", 100)
    monkeypatch.setattr(packing_limits, "_OFTEN", 100)
    counts = []
    for number in (1000, 5000):
        limits = _Counting()
        module = types.ModuleType("held")
        module.HELD = held(number)  # type: ignore[attr-defined]
        function = types.FunctionType(holding.__code__, vars(module))
        lines_of_state(function, (), {}, lambda tensor: False, limits)
        counts.append((limits.checks, limits.size))
    (few, small), (many, large) = counts
    assert large - small == 4000 * size
    assert size == 1 or many - few >= 40


def test_functions_behind_a_cache_are_compared() -> None:
    def lines(function: Any) -> list[str]:
        return lines_of_state(functools.cache(function), (), {}, lambda tensor: False, NoLimits())

    first, same, other = (lambda x: x + 1), (lambda x: x + 1), (lambda x: x + 2)
    assert lines(first) == lines(same) != lines(other)


def test_arrays_are_compared_in_the_order_of_their_indices() -> None:
    array = np.arange(24.0).reshape(4, 6)

    def lines(held: Any) -> list[str]:
        function = types.FunctionType(holding.__code__, {"HELD": held})
        return lines_of_state(function, (), {}, lambda tensor: False, PackingLimits())

    assert lines(array) == lines(np.asfortranarray(array)) != lines(array + 1)
    assert lines(np.datetime64(1, "s")) != lines(np.datetime64(2, "s"))
