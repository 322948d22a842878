"""The user's state is as before, whatever a call did to it."""

from __future__ import annotations

import argparse
import array
import collections
import dataclasses
import functools
import os
import signal
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from compilescope.isolation.global_names import names_in
from compilescope.isolation.state_changes import changes_of
from compilescope.isolation.user_state import Snapshot, preserved
from torch import nn

from .state_subjects import Net, bits, same, training_step

calls = 0
history: list[float] = []
scale = torch.tensor(2.0)


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
    assert Net.count == 0
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


def test_modules_that_a_function_imports_when_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = types.ModuleType("settings_of_a_test")
    settings.steps, settings.log = 0, []  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, settings.__name__, settings)

    def call() -> None:
        import settings_of_a_test as own  # type: ignore[import-not-found]
        from settings_of_a_test import log

        own.steps += 1
        log.append(own.steps)

    with preserved(call) as snapshot:
        call()
        changes = changes_of(snapshot)
    assert set(changes) == {"settings_of_a_test.steps", "settings_of_a_test.log"}
    assert (settings.steps, settings.log) == (0, [])


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


HELD = types.SimpleNamespace(step=0, inner=argparse.Namespace(rate=1.0))
MAPS = (collections.UserDict(a=1), collections.ChainMap({"a": 1}))
ITEMS = (collections.UserList([1]), array.array("d", [1.0, 2.0]))


def test_holders_of_pythons_own_library() -> None:
    def call() -> None:
        HELD.step += 1
        HELD.inner.rate = 2.0
        HELD.new = True
        for mapping in MAPS:
            mapping["a"] = 2
        for items in ITEMS:
            items[0] += 1
            items.append(3)

    with preserved(call) as snapshot:
        call()
        changes = changes_of(snapshot)
    assert {"HELD.step", "HELD.inner.rate", "HELD.new"} <= set(changes)
    assert vars(HELD) == {"step": 0, "inner": argparse.Namespace(rate=1.0)}
    assert [dict(mapping) for mapping in MAPS] == [{"a": 1}, {"a": 1}]
    assert [list(items) for items in ITEMS] == [[1], [1.0, 2.0]]
    assert snapshot.unsaved == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_restored_after_an_interrupted_run(error: type[BaseException]) -> None:
    net, x = Net(), torch.randn(8, 4)
    before = bits(net)

    def call() -> None:
        net(x)
        x.zero_()
        raise error

    result = x.clone()
    with pytest.raises(error), preserved(call):
        call()
    assert same(bits(net), before)
    assert torch.equal(x, result)


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


def test_code_that_was_looked_at_is_not_kept() -> None:
    code = compile("x = y", "mine", "exec")
    assert names_in(code) is names_in(code)
    kept = weakref.ref(code)
    del code
    assert kept() is None
