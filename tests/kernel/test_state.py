"""The user's state is as before, whatever a call did to it."""

from __future__ import annotations

import collections
import dataclasses
import functools
import io
import itertools
import os
import random
import signal
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from compilescope.compiler.state import Snapshot, preserved
from torch import nn

calls = 0
history: list[float] = []
scale = torch.tensor(2.0)


class Net(nn.Module):
    made = 0

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.5)
        self.steps = 0
        self.seen: list[int] = []
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        self.seen.append(self.steps)
        type(self).made += 1
        self.mean = self.mean * 0.9 + x.mean(0).detach() * 0.1
        return self.drop(self.norm(self.fc(x)))


def bits(module: nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in module.state_dict().items()}


def same(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def training_step(optimizer: Callable[..., torch.optim.Optimizer]) -> tuple[Any, ...]:
    net = Net()
    optim = optimizer(net.parameters())
    schedule = torch.optim.lr_scheduler.StepLR(optim, 1, gamma=0.5)

    def step(x: torch.Tensor) -> torch.Tensor:
        optim.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optim.step()
        schedule.step()
        return loss.detach()

    return net, optim, schedule, step


def test_a_module_keeps_its_buffers_attributes_and_randomness() -> None:
    net, x = Net(), torch.randn(8, 4)
    before, mean, random_state = bits(net), net.mean, torch.get_rng_state()
    with preserved(net, (x,)) as snapshot:
        first = net(x)
        assert net.steps == 1
        assert not same(bits(net), before)
    assert same(bits(net), before)
    assert net.mean is mean
    assert net.steps == 0
    assert net.seen == []
    assert Net.made == 0
    assert net.norm.num_batches_tracked.item() == 0
    assert torch.equal(torch.get_rng_state(), random_state)
    assert snapshot.unsaved == []
    with preserved(net, (x,)):
        assert torch.equal(net(x), first)


@pytest.mark.parametrize(
    "optimizer",
    [
        functools.partial(torch.optim.SGD, lr=0.1, momentum=0.9),
        functools.partial(torch.optim.Adam, lr=0.1),
        functools.partial(torch.optim.AdamW, lr=0.1, foreach=True),
    ],
)
@pytest.mark.parametrize("warm", [False, True])
def test_a_training_step_repeats_exactly(
    optimizer: Callable[..., torch.optim.Optimizer], warm: bool
) -> None:
    net, optim, schedule, step = training_step(optimizer)
    x = torch.randn(8, 4)
    if warm:
        step(x)
    weights = bits(net)
    grads = [parameter.grad for parameter in net.parameters()]
    grad_values = [None if grad is None else grad.clone() for grad in grads]
    optim_state = {id(p): dict(s) for p, s in optim.state.items()}
    learning_rate, epoch = optim.param_groups[0]["lr"], schedule.last_epoch
    losses = []
    with preserved(step, (x,)) as snapshot:
        for _ in range(10):
            losses.append(step(x))
            assert not same(bits(net), weights)
            snapshot.restore()
            assert same(bits(net), weights)
    assert all(torch.equal(loss, losses[0]) for loss in losses)
    assert snapshot.unsaved == []
    assert same(bits(net), weights)
    for parameter, grad, value in zip(net.parameters(), grads, grad_values, strict=True):
        assert parameter.grad is grad
        assert value is None or torch.equal(parameter.grad, value)
    assert {id(p): dict(s) for p, s in optim.state.items()}.keys() == optim_state.keys()
    for parameter, state in optim.state.items():
        for name, value in state.items():
            assert value is optim_state[id(parameter)][name]
    assert optim.param_groups[0]["lr"] == learning_rate
    assert schedule.last_epoch == epoch


def test_adam_moments_keep_their_values() -> None:
    _net, optim, _, step = training_step(functools.partial(torch.optim.Adam, lr=0.1))
    x = torch.randn(8, 4)
    step(x)
    before = {id(p): {k: v.clone() for k, v in s.items()} for p, s in optim.state.items()}
    with preserved(step, (x,)):
        step(x)
    for parameter, state in optim.state.items():
        assert same(state, before[id(parameter)])


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.add_(1),
        lambda x: x.data.add_(1),
        lambda x: x.numpy().fill(7),
        lambda x: x[0].zero_(),
        lambda x: x.t_(),
        lambda x: x.resize_(1),
        lambda x: x.set_(torch.ones(9)),
        lambda x: setattr(x, "data", torch.ones(2)),
        lambda x: x.requires_grad_(),
        lambda x: x.mul_(torch.ones(3, requires_grad=True)),
        lambda x: setattr(x, "grad", torch.ones(2, 3)),
        lambda x: setattr(x, "note", "mine"),
    ],
)
def test_an_argument_changed_in_place(change: Callable[[torch.Tensor], object]) -> None:
    x = torch.arange(6.0).reshape(2, 3).clone()
    expected, pointer, version = x.clone(), x.data_ptr(), x._version
    with preserved(change, (x,)) as snapshot:
        change(x)
    assert torch.equal(x, expected)
    assert x.data_ptr() == pointer
    assert x._version == version
    assert not x.requires_grad
    assert x.grad is None
    assert x.grad_fn is None
    assert not hasattr(x, "note")
    assert snapshot.unsaved == []


def test_a_graph_made_before_still_runs_backward() -> None:
    x = torch.randn(3, requires_grad=True)
    y = x * 1.0
    loss = (y * y).sum()
    with preserved(torch.Tensor.add_, (y.detach(), 1)):
        y.detach().add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            (y * y).sum() and loss.backward(retain_graph=True)
    loss.backward()
    assert torch.allclose(x.grad, 2 * x.detach())


def test_an_existing_gradient_keeps_identity_and_value() -> None:
    w = torch.ones(3, requires_grad=True)
    w.grad = torch.full((3,), 5.0)
    grad = w.grad

    def step() -> None:
        w.grad = None
        (w * 2).sum().backward()

    with preserved(step):
        step()
        assert w.grad is not grad
        grad.zero_()
    assert w.grad is grad
    assert torch.equal(grad, torch.full((3,), 5.0))


def test_views_share_one_copy() -> None:
    base = torch.zeros(1000)
    views = [base[i:] for i in range(50)]
    snapshot = Snapshot(len, (views,))
    assert len(snapshot._tensors.storages) == 1
    views[3].fill_(1)
    snapshot.restore()
    assert not base.any()


def counting(x: torch.Tensor) -> torch.Tensor:
    global calls, scale
    calls += 1
    history.append(calls)
    scale = scale * 2
    return x * scale


def test_globals_are_bound_again() -> None:
    was = scale
    with preserved(counting, (torch.ones(2),)):
        counting(torch.ones(2))
        counting(torch.ones(2))
        assert calls == 2
    assert calls == 0
    assert history == []
    assert scale is was


def test_a_global_made_by_the_call_is_removed() -> None:
    namespace: dict[str, Any] = {}
    exec("def f():\n    global fresh\n    fresh = 1\n", namespace)
    with preserved(namespace["f"]):
        namespace["f"]()
        assert namespace["fresh"] == 1
    assert "fresh" not in namespace


def test_closures_defaults_methods_and_partials() -> None:
    total = 0

    def outer(x: torch.Tensor, cache: dict[str, torch.Tensor] = {}) -> torch.Tensor:  # noqa: B006
        nonlocal total
        total += 1
        cache["x"] = x
        outer.runs = total  # type: ignore[attr-defined]
        return x

    @dataclasses.dataclass
    class Holder:
        tags: set[str] = dataclasses.field(default_factory=set)
        queue: collections.deque[int] = dataclasses.field(default_factory=collections.deque)
        ordered: collections.OrderedDict[str, int] = dataclasses.field(
            default_factory=lambda: collections.OrderedDict(a=1, b=2)
        )

        def run(self, x: torch.Tensor) -> torch.Tensor:
            self.tags.add("run")
            self.queue.append(1)
            self.ordered.move_to_end("a")
            self.late = 1
            return outer(x)

    holder = Holder()
    call = functools.partial(holder.run, torch.ones(2))
    with preserved(call):
        call()
        assert total == 1
    assert total == 0
    assert outer.__defaults__ == ({},)
    assert vars(outer) == {}
    assert holder == Holder()
    assert list(holder.ordered) == ["a", "b"]
    assert not hasattr(holder, "late")


class Slotted:
    __slots__ = ("late", "value")

    def __init__(self) -> None:
        self.value = 1


def test_slots_and_replaced_dicts() -> None:
    slotted, net = Slotted(), Net()

    def call() -> None:
        slotted.value = 2
        slotted.late = 3
        net.__dict__ = dict(net.__dict__)
        net.training = False

    attributes = net.__dict__
    with preserved(call):
        call()
    assert slotted.value == 1
    assert not hasattr(slotted, "late")
    assert net.__dict__ is attributes
    assert net.training


def test_generators_of_random_numbers() -> None:
    own, numpy_own = torch.Generator().manual_seed(3), np.random.default_rng(3)

    def draw() -> list[float]:
        return [
            random.random(),
            float(np.random.rand()),
            torch.rand(1).item(),
            torch.rand(1, generator=own).item(),
            float(numpy_own.random()),
        ]

    with preserved(draw) as snapshot:
        first = draw()
        snapshot.restore()
        assert draw() == first
        draw()
    assert draw() == first


def test_numpy_arrays() -> None:
    array = np.arange(4.0)
    frozen = np.arange(4.0)
    frozen.flags.writeable = False
    with preserved(len, (array, frozen)) as snapshot:
        array += 1
    assert array.tolist() == [0, 1, 2, 3]
    assert snapshot.unsaved == []


def test_modes() -> None:
    def call() -> None:
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.set_autocast_enabled("cpu", True)
        torch.set_autocast_dtype("cpu", torch.float16)
        torch.set_float32_matmul_precision("medium")

    with preserved(call):
        call()
    assert torch.is_grad_enabled()
    assert torch.get_default_dtype() == torch.float32
    assert not torch.are_deterministic_algorithms_enabled()
    assert not torch.is_autocast_enabled("cpu")
    assert torch.get_autocast_dtype("cpu") == torch.bfloat16
    assert torch.get_float32_matmul_precision() == "highest"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_restored_after_an_interrupted_run(error: type[BaseException]) -> None:
    net, x = Net(), torch.randn(8, 4)
    before = bits(net)

    def call() -> None:
        net(x)
        x.zero_()
        raise error

    kept = x.clone()
    with pytest.raises(error), preserved(call):
        call()
    assert same(bits(net), before)
    assert torch.equal(x, kept)


def test_ctrl_c_while_restoring_waits_for_the_end() -> None:
    x, y = torch.zeros(2), torch.zeros(2)
    snapshot = Snapshot(len, ([x, y],))
    x.fill_(1)
    y.fill_(1)
    storages = list(snapshot._tensors.storages.values())
    put_back = storages[0].restore

    def interrupted() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        put_back()

    storages[0].restore = interrupted
    with pytest.raises(KeyboardInterrupt):
        snapshot.restore()
    assert not x.any()
    assert not y.any()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_hooks_and_lazy_modules() -> None:
    net = nn.Sequential(nn.LazyLinear(3))
    w = torch.ones(2, requires_grad=True)
    lazy = net[0]

    def call(x: torch.Tensor) -> torch.Tensor:
        w.register_hook(lambda grad: grad * 100)
        net.register_forward_hook(lambda *_: None)
        return net(x)

    with preserved(call, (torch.ones(1, 4),)) as snapshot:
        call(torch.ones(1, 4))
    assert type(lazy) is nn.LazyLinear
    assert lazy.has_uninitialized_params()
    assert not net._forward_hooks
    (w * 1).sum().backward()
    assert w.grad.tolist() == [1, 1]
    assert snapshot.unsaved == []
    assert net(torch.ones(1, 5)).shape == (1, 3)


def test_what_cannot_be_saved_is_said(tmp_path: Any) -> None:
    numbers, stream, counter = (n for n in range(3)), io.StringIO(), itertools.count()

    def call() -> None:
        next(numbers), next(counter), stream.write("x")

    with preserved(call) as snapshot:
        call()
    assert any("numbers" in reason and "rewound" in reason for reason in snapshot.unsaved)
    assert any("counter" in reason for reason in snapshot.unsaved)
    assert any("stream" in reason and "file" in reason for reason in snapshot.unsaved)
    assert len(snapshot.unsaved) == 3


class Countdown:
    def __init__(self) -> None:
        self.left = 3

    def __next__(self) -> int:
        self.left -= 1
        return self.left


def test_iterators() -> None:
    loaded = iter(torch.utils.data.DataLoader([1, 2, 3]))
    own = Countdown()

    def call() -> None:
        next(loaded), next(own)

    with preserved(call) as snapshot:
        call()
    assert own.left == 3
    assert snapshot.unsaved == [
        "loaded: an iterator (_SingleProcessDataLoaderIter) cannot be rewound."
    ]
    assert next(loaded).item() == 2


@pytest.fixture
def precision() -> Iterator[None]:
    backends = (torch.backends, torch.backends.cuda.matmul, torch.backends.mkldnn.matmul)
    before = [backend.fp32_precision for backend in backends]
    yield
    for backend, value in zip(backends, before, strict=True):
        backend.fp32_precision = value


@pytest.mark.usefixtures("precision")
def test_precision_set_by_the_newer_api() -> None:
    def older() -> None:
        torch.set_float32_matmul_precision("high")

    def newer() -> None:
        torch.backends.mkldnn.matmul.fp32_precision = "bf16"

    for change in (older, newer):
        with preserved(change):
            change()
        assert torch.get_float32_matmul_precision() == "highest"
    torch.backends.cuda.matmul.fp32_precision = "tf32"
    for change in (older, newer):
        with preserved(change) as snapshot:
            change()
        assert torch.backends.cuda.matmul.fp32_precision == "tf32"
        assert torch.backends.mkldnn.matmul.fp32_precision != "bf16"
        assert snapshot.unsaved == []


def test_history_of_a_computed_tensor_is_said() -> None:
    x = torch.ones(2, requires_grad=True) * 2
    with preserved(torch.Tensor.mul_, (x, 3)) as snapshot:
        x.mul_(3)
    assert x.tolist() == [2, 2]
    assert snapshot.unsaved == [
        "args[0] could not be put back: an operation in place was added to its autograd history"
    ]


def test_history_of_a_view_is_said() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    with preserved(torch.Tensor.mul_, (x,)) as snapshot:
        x.mul_(torch.ones(3, requires_grad=True))
    assert x._version == 0
    assert len(snapshot.unsaved) == 1
    assert "autograd history" in snapshot.unsaved[0]


@pytest.mark.parametrize("size", [0, 99])
def test_a_resized_storage_is_filled_again(size: int) -> None:
    x = torch.arange(6.0)
    with preserved(len, (x,)):
        x.untyped_storage().resize_(size)
    assert x.untyped_storage().nbytes() == 24
    assert x.tolist() == [0, 1, 2, 3, 4, 5]


def test_memory_that_does_not_fit_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from compilescope.compiler import saved_tensors

    monkeypatch.setattr(saved_tensors, "free_bytes", lambda device: 1000)
    with preserved(len, ([torch.zeros(100), torch.zeros(100)],)) as snapshot:
        pass
    assert snapshot.unsaved == ["args[0][1]: its data do not fit in half of the free memory."]


def test_a_walk_too_long_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from compilescope.compiler.walk import walk

    found = walk(len, ([[] for _ in range(100)],), limit=10)
    assert len(found.objects) == 10
    assert found.unsaved == ["Objects beyond the first 10 (nearest: args[0][8]) are not saved."]


class Hostile:
    """Every way of looking at it runs code that must not run."""

    def __init__(self) -> None:
        object.__setattr__(self, "inner", [1])

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(name)

    def __setattr__(self, name: str, value: object) -> None:
        raise AssertionError(name)

    def __eq__(self, other: object) -> bool:
        raise AssertionError("compared")

    def __hash__(self) -> int:
        raise AssertionError("hashed")

    def __repr__(self) -> str:
        raise AssertionError("shown")

    def __bool__(self) -> bool:
        raise AssertionError("asked")


def test_no_code_of_the_users_runs() -> None:
    hostile = Hostile()
    inner = object.__getattribute__(hostile, "inner")
    with preserved(lambda: hostile, (hostile, [hostile], {"x": hostile})) as snapshot:
        inner.append(2)
        object.__setattr__(hostile, "late", 1)
    assert inner == [1]
    assert object.__getattribute__(hostile, "__dict__") == {"inner": inner}
    assert snapshot.unsaved == []


class Logged(torch.Tensor):
    looked: list[str] = []

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.looked.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


def test_tensor_subclasses_meta_sparse_and_inference_tensors() -> None:
    logged = torch.zeros(2).as_subclass(Logged)
    sparse = torch.eye(3).to_sparse()
    with torch.inference_mode():
        inference = torch.zeros(2)
    meta = torch.empty(2, device="meta")
    Logged.looked.clear()
    with preserved(len, ([logged, sparse, inference, meta],)) as snapshot:
        assert Logged.looked == []
        sparse.mul_(2)
        with torch.inference_mode():
            inference.add_(1)
        logged.add_(1)
    assert not inference.any()
    assert torch.equal(sparse.to_dense(), torch.eye(3))
    assert logged.tolist() == [0, 0]
    assert snapshot.unsaved == []


def test_a_compiled_function_is_seen_through() -> None:
    seen: list[int] = []

    def fn(x: torch.Tensor) -> torch.Tensor:
        seen.append(1)
        return x + 1

    compiled = torch.compile(fn, backend="eager")
    with preserved(compiled, (torch.ones(2),)) as snapshot:
        compiled(torch.ones(2))
        assert seen == [1]
    assert seen == []
    assert len(snapshot.objects) < 100


def test_what_was_compiled_before_still_hits_its_cache() -> None:
    net, optim, _, step = training_step(functools.partial(torch.optim.Adam, lr=0.1))
    x = torch.randn(8, 4)
    forward = torch.compile(lambda x: net.fc(x) * len(optim.param_groups), backend="eager")
    forward(x)
    step(x)
    forward(x)
    with preserved(step, (x,)) as snapshot:
        for _ in range(10):
            step(x)
            snapshot.restore()
    with torch.compiler.set_stance("fail_on_recompile"):
        forward(x)


def test_named_tensors() -> None:
    net = nn.Sequential(nn.Linear(2, 2))
    snapshot = Snapshot(net, (torch.ones(1, 2),))
    assert sorted(snapshot.tensors) == ["Sequential.0.bias", "Sequential.0.weight", "args[0]"]
