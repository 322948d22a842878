"""Kernels that are repeated are torch's own, to the character."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from compilescope.report import Code, Report
from compilescope.report.variant import Variant
from compilescope.session.session import Session
from compilescope.torch_api.inductor import equal_kernels
from torch import nn
from torch.nn import functional

from ..fidelity_subjects import Block, Residual
from ..subjects import Call

pytestmark = pytest.mark.slow


class Model(nn.Module):
    """A language model with its loss."""

    def __init__(self, depth: int, dropout: float) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(100, 64), nn.Embedding(16, 64)
        self.blocks = nn.Sequential(*[Block(64, 4, dropout) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(64), nn.Linear(64, 100, bias=False)

    def forward(self, tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))
        logits = self.head(self.norm(self.blocks(x)))
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def gpt(depth: int, dropout: float = 0.0) -> Call:
    tokens = torch.randint(100, (2, 16))
    return Call(Model(depth, dropout), (tokens, tokens.clone()))


def many_types() -> Call:
    """Half precision, integers, reductions over parts, indices out of tensors, padding, sorting."""

    def blocks(x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        for _ in range(2):
            x = functional.pad(x.softmax(-1).half(), (1, 2)).float()[:, 3:]
            x = x.index_add(0, at, x) + x.cumsum(1).argmax(1, keepdim=True)
            x = torch.cat([x[:, ::2], torch.where(x > 0, x, x.exp())], 1).to(torch.bfloat16)
            x = (x * x.amax(0) + at.sum()).float()[:, :64]
        return x

    return Call(blocks, (torch.randn(8, 64), torch.randint(8, (8,))))


def written_in_place() -> Call:
    def steps(x: torch.Tensor, state: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        for _ in range(3):
            state.mul_(0.9).add_(x.mean(0))
            x = (x - state).relu().flip(0) @ weight
        return x

    return Call(steps, (torch.randn(32, 48), torch.zeros(48), torch.randn(48, 48)))


SUBJECTS: dict[str, tuple[Callable[[], Call], bool]] = {
    "a language model's step": (lambda: gpt(4, 0.1), False),
    "convolutions, trained": (
        lambda: Call(nn.Sequential(Residual(8), Residual(8)), (torch.randn(2, 8, 12, 12),)),
        False,
    ),
    "many types": (many_types, False),
    "sizes that may change": (written_in_place, True),
}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_repeated_kernels_are_torchs_own(subject: str, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    create, dynamic = SUBJECTS[subject]
    call = create()
    repeated = _counted(monkeypatch)
    shared = _sources(call, dynamic)
    assert bool(repeated) == equal_kernels.is_proven()
    monkeypatch.setattr(equal_kernels.EqualKernels, "used", lambda self: contextlib.nullcontext())
    count = len(repeated)
    assert _codes(shared) == _codes(_sources(call, dynamic))
    assert len(repeated) == count


def test_a_kernel_that_is_unlike_after_all_is_generated_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call = written_in_place()
    with monkeypatch.context() as patch:
        patch.setattr(equal_kernels.EqualKernels, "used", lambda self: contextlib.nullcontext())
        expected = _codes(_sources(call, False))

    def unlike(*_: Any) -> None:
        raise equal_kernels._UnlikeError

    monkeypatch.setattr(equal_kernels, "_repeat", unlike)
    assert _codes(_sources(call, False)) == expected


def _sources(call: Call, dynamic: bool) -> Report:
    variants = {
        name: Variant(cpp_wrapper=name == "cpp", dynamic=dynamic or None)
        for name in ("python", "cpp")
    }
    return Session().inspect(call.fn, call.args, call.kwargs, run=False, variants=variants)


def _codes(report: Report) -> list[Any]:
    assert [variant.problems for variant in report.variants] == [[], []]
    return [
        (
            [_text(code, variant.name) for code in (compilation.code, compilation.code.backward)],
            compilation.kernels,
            compilation.memory,
        )
        for variant in report.variants
        for compilation in variant.compilations
        if compilation.code is not None
    ]


def _text(code: Code | None, wrapper: str) -> str | None:
    # torch numbers what AOTAutograd compiles in a process.
    return None if code is None else re.sub(r"AOT ID: .*", "", getattr(code, wrapper))


def _counted(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    repeated: list[None] = []
    original = equal_kernels._repeat

    def repeat(*args: Any) -> None:
        original(*args)
        repeated.append(None)

    monkeypatch.setattr(equal_kernels, "_repeat", repeat)
    return repeated
