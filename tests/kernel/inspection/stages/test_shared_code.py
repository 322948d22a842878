"""What is generated once for several kernels or both wrappers is torch's own, to the character."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import compilescope
import pytest
import torch
from compilescope.builds import pregenerated_code
from compilescope.capture.records import Record
from compilescope.inspection.inspection import Inspection
from compilescope.report import Code, Report, VariantReport
from compilescope.report.variant import Variant
from compilescope.session.session import Session
from compilescope.torch_api.inductor import codegen
from compilescope.torch_api.inductor.equal_kernels import recorded_kernel, reuse
from compilescope.torch_api.inductor.wrappers import other_wrapper
from torch import nn
from torch.nn import functional

from ...fidelity_subjects import Block, Residual
from ...subjects import Call

pytestmark = pytest.mark.slow


class Model(nn.Module):
    """A language model with its loss, or its logits where there are no targets."""

    def __init__(self, depth: int, dropout: float) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(100, 64), nn.Embedding(16, 64)
        self.blocks = nn.Sequential(*[Block(64, 4, dropout) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(64), nn.Linear(64, 100, bias=False)

    def forward(self, tokens: torch.Tensor, targets: torch.Tensor | None) -> torch.Tensor:
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))
        logits = self.head(self.norm(self.blocks(x)))
        if targets is None:
            return logits
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def gpt(depth: int, dropout: float = 0.0) -> Call:
    tokens = torch.randint(100, (2, 16))
    return Call(Model(depth, dropout), (tokens, tokens.clone()))


def logits() -> Call:
    """A graph whose backward keeps sums of a layer norm on the stack."""
    tokens = torch.randint(100, (1, 16))
    return Call(Model(2, 0.0), (tokens, None))


def trained() -> Call:
    """A graph with random numbers, and its backward."""
    layers = nn.Linear(16, 32), nn.GELU(), nn.Dropout(0.1), nn.LayerNorm(32)
    return Call(nn.Sequential(*layers), (torch.randn(8, 16),))


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


def pooled() -> Call:
    layers = nn.Conv2d(3, 8, 3, 2), nn.MaxPool2d(3, 2, 1), Residual(8), Residual(8)
    return Call(nn.Sequential(*layers), (torch.randn(2, 3, 30, 30),))


SUBJECTS: dict[str, tuple[Callable[[], Call], bool]] = {
    "a language model's step": (lambda: gpt(2, 0.1), False),
    "a language model's logits": (logits, False),
    "convolutions, trained": (
        lambda: Call(nn.Sequential(Residual(8), Residual(8)), (torch.randn(2, 8, 12, 12),)),
        False,
    ),
    "many types": (many_types, False),
    "sizes that may change": (written_in_place, True),
    "convolutions, sizes that may change": (pooled, True),
}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_what_is_shared_is_torchs_own(subject: str, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    create, dynamic = SUBJECTS[subject]
    call = create()
    proven = reuse.is_proven()
    repeated, generated = _counted(monkeypatch)
    shared = _sources(call, dynamic)
    assert bool(repeated) == proven
    # Inductor's scans are not known to repeat, so that it generates both wrappers from the start.
    assert len(generated) == (1 if proven and subject != "many types" else 2)
    repeated.clear()
    with monkeypatch.context() as patch:
        _share_nothing(patch)
        alone = _sources(call, dynamic)
    assert not repeated
    assert _codes(shared) == _codes(alone)
    assert _graphs(shared) == _graphs(alone)


def test_a_kernel_that_is_unlike_after_all_is_generated_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call = written_in_place()
    with monkeypatch.context() as patch:
        _share_nothing(patch)
        expected = _codes(_sources(call, False))

    def unlike(*_: Any) -> None:
        raise recorded_kernel.DecisionsDifferError

    monkeypatch.setattr(reuse, "repeat", unlike)
    assert _codes(_sources(call, False)) == expected


@pytest.mark.parametrize("first", ["python", "cpp"])
def test_the_wrapper_that_is_there_ahead_is_torchs_own(
    first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    call = trained()
    wanted = [Variant(cpp_wrapper=name == "cpp") for name in ("python", "cpp")]
    if first == "cpp":
        # Whether a capture's wrappers can share a lowering, its first Python wrapper shows.
        options = {"epilogue_fusion": False}
        cpp, python = (Variant(cpp_wrapper=cpp, options=options) for cpp in (True, False))
        wanted = [Variant(), cpp, python]
    _, generated = _counted(monkeypatch)
    session = Session()
    report = session.inspect(call.fn, call.args, run=False, variants=wanted[:-1])
    subject = report.subject.id
    inspection = session.inspections[subject]
    assert isinstance(inspection, Inspection)
    before = len(generated)
    if reuse.is_proven():
        assert inspection.sources.ready()
        session.add(subject, wanted[-1])
        assert len(generated) == before
        assert wanted[-1] not in inspection.sources.ready()
    else:
        assert not inspection.sources.ready()
        session.add(subject, wanted[-1])
    with monkeypatch.context() as patch:
        _share_nothing(patch)
        alone = session.inspect(call.fn, call.args, run=False, variants=wanted)
    assert _codes(report) == _codes(alone)
    assert _graphs(report) == _graphs(alone)


def test_nothing_is_generated_ahead_where_it_may_not_or_cannot_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call = written_in_place()
    wanted: list[None] = []
    original = other_wrapper.OtherWrapper.generate

    def generate(self: other_wrapper.OtherWrapper, graph: Any) -> None:
        original(self, graph)
        wanted.append(None)

    monkeypatch.setattr(other_wrapper.OtherWrapper, "generate", generate)
    session = Session()
    session.inspect(call.fn, call.args, run=False, variants=["cpp", "max-autotune"])
    assert not wanted
    compilescope.configure(ahead_mb=0)
    try:
        session.inspect(call.fn, call.args, run=False, variants=["python"])
        assert not wanted
    finally:
        compilescope.configure(ahead_mb=pregenerated_code.USUAL_MB)
    with pytest.raises(compilescope.CompilescopeError, match="ahead_mb is -1"):
        compilescope.configure(ahead_mb=-1)


def test_what_is_kept_ahead_stays_within_its_limit() -> None:
    captures = [pregenerated_code.PregeneratedCode() for _ in range(4)]
    before = _kept_bytes()
    texts = [random.Random(seed).randbytes(300_000).hex() for seed in range(4)]
    try:
        for item, text in zip(captures, texts, strict=True):
            records = [Record(event="inductor_output_code", metadata={}, payload=text)]
            generated = pregenerated_code.Generated(records=records, nodes={})
            item.put((("cpp_wrapper", "True"),), generated, is_next=False)
        pregenerated_code.limit((_kept_bytes() - 1) / 1e6)
        key = (("cpp_wrapper", "True"),)
        assert [capture.has(key) for capture in captures] == [False, True, True, True]
        taken = captures[3].pop(key)
        assert taken is not None
        assert taken.records[0].payload == texts[3]
        assert not captures[3].has(key)
    finally:
        pregenerated_code.limit(pregenerated_code.USUAL_MB)
    del captures, item
    assert _kept_bytes() <= before


def _kept_bytes() -> int:
    return sum(packed.size for _, packed, _ in pregenerated_code._entries())


def _share_nothing(patch: pytest.MonkeyPatch) -> None:
    for module in (reuse, other_wrapper):
        patch.setattr(module, "is_proven", lambda: False)


def _sources(call: Call, dynamic: bool) -> Report:
    variants = {
        name: Variant(cpp_wrapper=name == "cpp", dynamic=dynamic or None)
        for name in ("python", "cpp")
    }
    return Session().inspect(call.fn, call.args, call.kwargs, run=False, variants=variants)


def _codes(report: Report) -> list[Any]:
    assert not any(variant.problems for variant in report.variants)
    return [
        (
            [_text(code, variant) for code in (compilation.code, compilation.code.backward)],
            compilation.kernels,
            compilation.memory,
        )
        for variant in report.variants
        for compilation in variant.compilations
        if compilation.code is not None
    ]


def _text(code: Code | None, variant: VariantReport) -> str | None:
    wrapper = "cpp" if variant.requested.cpp_wrapper else "python"
    # torch numbers what AOTAutograd compiles in a process.
    return None if code is None else re.sub(r"AOT ID: .*", "", getattr(code, wrapper))


def _graphs(report: Report) -> list[Any]:
    return [
        {
            stage: re.sub(r"# graph id: .*", "", graph.text)
            for stage, graph in compilation.graphs.items()
        }
        for variant in report.variants
        for compilation in variant.compilations
    ]


def _counted(monkeypatch: pytest.MonkeyPatch) -> tuple[list[None], list[None]]:
    """The kernels that are repeated from now on, and the graphs that are generated."""
    repeated: list[None] = []
    generated: list[None] = []
    repeat, generate = reuse.repeat, codegen.generate

    def counted_repeat(*args: Any) -> None:
        repeat(*args)
        repeated.append(None)

    def counted_generate(*args: Any) -> None:
        generated.append(None)
        generate(*args)

    monkeypatch.setattr(reuse, "repeat", counted_repeat)
    monkeypatch.setattr(codegen, "generate", counted_generate)
    return repeated, generated
