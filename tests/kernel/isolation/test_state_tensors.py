"""Tensors and arrays are as before, whatever a call did to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from compilescope.builds.comparison.call_result import outcome_of
from compilescope.isolation.state_changes import changes_of
from compilescope.isolation.user_state import Snapshot, preserved
from torch import nn


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


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[:, 1],
        lambda x: x.diagonal(),
        lambda x: x[0, 1:2].expand(4),
        lambda x: x[::2, ::2],
        lambda x: x.to(torch.complex64).real,
    ],
)
def test_a_view_with_gaps_or_repeated_elements(view: Callable[[torch.Tensor], Any]) -> None:
    base = torch.arange(9.0).reshape(3, 3).clone()
    x, other = view(base), torch.zeros(2)
    expected = x.clone()

    def call() -> None:
        other.add_(1)
        x.as_strided((1,), (1,)).add_(1)

    with preserved(call, (x,)) as snapshot:
        call()
        changes = changes_of(snapshot)
    assert "args[0]" in changes
    assert torch.equal(x, expected)
    assert snapshot.unsaved == []


def test_gradients_of_what_an_argument_was_computed_from() -> None:
    encoder, decoder = nn.Linear(4, 4), nn.Linear(4, 1)
    encoder.weight.grad = grad = torch.ones(4, 4)
    hidden = encoder(torch.randn(2, 4))

    def step(h: torch.Tensor) -> None:
        decoder(h).sum().backward(retain_graph=True)

    with preserved(step, (hidden,)) as snapshot:
        step(hidden)
        step(hidden)
        assert not torch.equal(grad, torch.ones(4, 4))
        assert "gradients upstream of args[0]" in changes_of(snapshot)
    assert encoder.weight.grad is grad
    assert torch.equal(grad, torch.ones(4, 4))
    assert encoder.bias.grad is None
    assert changes_of(snapshot) == []


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


def test_numpy_arrays() -> None:
    array = np.arange(4.0)
    frozen = np.arange(4.0)
    frozen.flags.writeable = False
    with preserved(len, (array, frozen)) as snapshot:
        array += 1
    assert array.tolist() == [0, 1, 2, 3]
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
    from compilescope.isolation import saved_tensors

    monkeypatch.setattr(saved_tensors, "free_bytes", lambda device: 1000)
    with preserved(len, ([torch.zeros(100), torch.zeros(100)],)) as snapshot:
        pass
    assert snapshot.unsaved == ["args[0][1]: its data do not fit in half of the free memory."]


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


def pieces(dtype: torch.dtype) -> torch.Tensor:
    return torch.arange(6, dtype=torch.uint8).view(2, 3).view(dtype).t()


@pytest.mark.parametrize(
    "tensor",
    [
        pytest.param(torch.quantize_per_tensor(torch.ones(2, 3), 0.1, 0, dtype).t(), id=str(dtype))
        for dtype in (torch.quint8, torch.qint32)
    ]
    + [
        pytest.param(pieces(torch.uint4), id="uint4"),
        pytest.param(torch.ones(2, 3, dtype=torch.complex128).t(), id="complex128"),
    ],
)
def test_types_that_lack_operations(tensor: torch.Tensor) -> None:
    before = bytes(tensor.untyped_storage())
    with preserved(len, (tensor,)) as snapshot:
        assert changes_of(snapshot) == []
        tensor.untyped_storage().fill_(1)
        assert changes_of(snapshot) == ["args[0]"]
    assert bytes(tensor.untyped_storage()) == before
    assert snapshot.unsaved == []


def test_elements_that_share_a_byte() -> None:
    weights = torch.quantize_per_channel(
        torch.ones(2, 4), torch.full((2,), 0.5), torch.zeros(2), 0, torch.quint4x2
    )
    before = bytes(weights.untyped_storage())
    with preserved(len, (weights,)) as snapshot:
        weights.untyped_storage().fill_(1)
        assert changes_of(snapshot) == ["args[0]"]
    assert bytes(weights.untyped_storage()) == before


@pytest.mark.parametrize("layout", ["csr", "csc", "bsr", "bsc"])
def test_compressed_tensors(layout: str) -> None:
    blocks = ((2, 2),) if layout.startswith("b") else ()

    def compressed(dense: torch.Tensor) -> torch.Tensor:
        return getattr(dense, f"to_sparse_{layout}")(*blocks)

    values, elements = compressed(torch.eye(4)), compressed(torch.eye(4))
    with preserved(len, ([values, elements],)) as snapshot:
        values.values().mul_(2)
        elements.resize_as_sparse_(compressed(torch.ones(4, 4))).copy_(compressed(torch.ones(4, 4)))
    assert torch.equal(values.to_dense(), torch.eye(4))
    assert torch.equal(elements.to_dense(), torch.eye(4))
    assert snapshot.unsaved == []


def test_named_tensors() -> None:
    net = nn.Sequential(nn.Linear(2, 2))
    snapshot = Snapshot(net, (torch.ones(1, 2),))
    assert sorted(snapshot.tensors) == ["Sequential.0.bias", "Sequential.0.weight", "args[0]"]


def test_the_backward_of_a_call_ends_at_its_arguments() -> None:
    x, y = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
    computed = x.sin()

    def call(z: torch.Tensor) -> torch.Tensor:
        return (z * z * y).sum()

    with preserved(call, (computed,)) as snapshot:
        for times in (1, 2):  # each with a graph of its own
            gradients = snapshot.backward.run([call(computed)], [torch.tensor(1.0)])
            assert list(gradients) == ["args[0]"]
            torch.testing.assert_close(gradients["args[0]"], (2 * computed * y).detach())
            torch.testing.assert_close(y.grad, times * (computed * computed).detach())
        assert x.grad is None
    assert y.grad is None
    # The graph that computed the argument is whole.
    computed.sum().backward()
    torch.testing.assert_close(x.grad, x.detach().cos())


def test_a_computed_argument_that_calls_overwrite_has_its_backward_each_time() -> None:
    y = torch.randn(3, requires_grad=True)
    computed = torch.randn(3, requires_grad=True) + 1

    def call(z: torch.Tensor) -> torch.Tensor:
        return (z.mul_(2) * y).sum()

    with preserved(call, (computed,)) as snapshot:
        for _ in range(2):
            before = computed.detach().clone()
            outcome = outcome_of(call(computed), snapshot.backward)
            (gradient,) = outcome.gradients.values()
            torch.testing.assert_close(gradient, 2 * before)
            snapshot.restore()


def test_a_nested_tensor_changed_in_place() -> None:
    parts = [torch.ones(2, 4), torch.ones(3, 4)]
    nested = torch.nested.nested_tensor(parts, layout=torch.strided)
    version = nested._version
    with preserved(torch.Tensor.mul_, (nested, 2)) as snapshot:
        nested.mul_(2)
    assert all(map(torch.equal, nested.unbind(), parts))
    assert nested._version == version
    assert snapshot.unsaved == []


@pytest.mark.parametrize(
    "make", [torch.jit.script, lambda net: torch.jit.trace(net, torch.ones(2, 4))]
)
def test_the_tensors_of_a_torchscript_module(make: Callable[[nn.Module], Any]) -> None:
    net = make(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)))
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}

    def step(x: torch.Tensor) -> torch.Tensor:
        loss: torch.Tensor = net(x).sum()
        return loss

    with preserved(step, (torch.randn(3, 4),)) as snapshot:
        step(torch.randn(3, 4)).backward()
        assert not torch.equal(net.state_dict()["1.running_mean"], before["1.running_mean"])
    assert all(torch.equal(tensor, before[name]) for name, tensor in net.state_dict().items())
    assert all(parameter.grad is None for parameter in net.parameters())
    assert snapshot.unsaved == []


@pytest.mark.filterwarnings("error")
def test_an_input_to_which_a_history_was_added_is_read_without_a_warning() -> None:
    total, weight = torch.zeros(3), torch.ones(3, requires_grad=True)
    with preserved(total.add_, (weight,)) as snapshot:
        total.add_(weight)
        assert not total.is_leaf
        assert "args[0]" not in {path for path, *_ in snapshot.changed()}
    assert total.is_leaf
    assert not total.requires_grad
    assert torch.equal(total, torch.zeros(3))
    assert snapshot.unsaved == []
