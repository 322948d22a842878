"""What is called without its ``torch.compile`` in eager, and that it is compiled as always else."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from compilescope.isolation.code_swap import CodeCopies
from compilescope.isolation.inner_compiled import InnerCompiled
from compilescope.isolation.user_state import Snapshot
from torch import nn

X = torch.arange(6.0).reshape(2, 3)
_compiled: list[Any] = []


def _note(graph: Any, inputs: Any) -> Any:
    _compiled.append(graph)
    return graph


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    torch._dynamo.reset()
    _compiled.clear()
    yield
    torch._dynamo.reset()


@torch.compile(backend=_note)
def decorated(x: torch.Tensor) -> torch.Tensor:
    return x.sin() + 1


class Block(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.cos() * 2


class Decorated(nn.Module):
    @torch.compile(backend=_note)
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.tanh()


def _in_place() -> nn.Module:
    block = Block()
    block.compile(backend=_note)
    return block


def _of_global() -> Callable[..., Any]:
    return lambda x: decorated(x)


def _of_closure() -> Callable[..., Any]:
    inner = torch.compile(Block.forward, backend=_note, fullgraph=True)
    return lambda x: inner(None, x)


def _of_builtin() -> Callable[..., Any]:
    inner = torch.compile(torch.sin, backend=_note)
    return lambda x: inner(x)


def _of_step() -> Callable[..., Any]:
    model = torch.compile(Block(), backend=_note)
    return lambda x: model(x).sum()


@pytest.mark.parametrize(
    "make",
    [
        _of_global,
        _of_closure,
        _of_builtin,
        _of_step,
        lambda: nn.Sequential(torch.compile(Block(), backend=_note)),
        lambda: nn.Sequential(torch.compile(nn.Linear(3, 3), backend=_note)),
        lambda: nn.Sequential(_in_place(), _in_place()),
        lambda: nn.Sequential(Decorated()),
    ],
)
def test_what_is_compiled_inside_is_called_directly(make: Callable[[], Callable[..., Any]]) -> None:
    subject = make()
    inner = Snapshot(subject, (X,)).inner
    assert inner
    with inner.direct():
        direct = subject(X)
    assert not _compiled
    assert torch.equal(subject(X), direct)
    assert _compiled


def test_a_subject_without_torch_compile_needs_nothing() -> None:
    disabled = torch.compiler.disable(Block.forward)
    assert not Snapshot(Block(), (X,)).inner
    assert not Snapshot(lambda x: disabled(None, x), (X,)).inner


def test_code_is_as_before_after_an_error() -> None:
    def fail() -> None:
        with InnerCompiled([decorated]).direct():
            assert decorated.__code__ is not before
            raise ZeroDivisionError

    before = decorated.__code__
    with pytest.raises(ZeroDivisionError):
        fail()
    assert decorated.__code__ is before


def test_meanwhile_its_code_is_not_taken_for_the_users() -> None:
    copies = CodeCopies([decorated])
    with InnerCompiled([decorated]).direct():
        copies.renew()
    assert copies.version == 0


def test_another_thread_compiles_as_always() -> None:
    def in_thread() -> None:
        thread = threading.Thread(target=lambda: (decorated(X), model(X)))
        thread.start()
        thread.join()

    model = torch.compile(Block(), backend=_note)
    with Snapshot(lambda: (decorated, model)).inner.direct():
        in_thread()
    assert len(_compiled) == 2
    in_thread()
    decorated(X)
    assert len(_compiled) == 2


def test_a_thread_of_autograds_calls_it_directly() -> None:
    """Such a thread is not made by Python, and recomputes checkpointed blocks on a GPU."""
    done = threading.Event()

    def work() -> None:
        decorated(X)
        done.set()

    with InnerCompiled([decorated]).direct():
        _thread.start_new_thread(work, ())
        assert done.wait(600)
    assert not _compiled


def test_a_compiled_modules_own_hooks_run() -> None:
    model = torch.compile(Block(), backend=_note)
    model.register_forward_hook(lambda module, args, output: output + 1)
    with Snapshot(lambda: model).inner.direct():
        assert torch.equal(model(X), X.cos() * 2 + 1)
    assert not _compiled


def test_checkpointed_blocks_are_recomputed_directly_too() -> None:
    block = torch.compile(Block(), backend=_note)
    x = X.clone().requires_grad_()

    def step() -> None:
        torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False).sum().backward()

    with Snapshot(step).inner.direct():
        step()
    assert not _compiled
    assert x.grad is not None
