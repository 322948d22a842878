"""What a target's process generates: code of every kind, and every choice that it had to make."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
import torch
from compilescope.isolation.global_state import SavedModes
from compilescope.progress.progress import Monitor
from compilescope.report.target import Decision
from compilescope.report.variant import Variant
from compilescope.targets import known_devices, packed_call
from compilescope.targets.sources_request import SourcesReply, SourcesRequest
from compilescope.targets.worker_pool import shared_pool
from torch import nn
from torch.nn import functional

from ..fidelity_subjects import CASES, NEEDS, Make

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(known_devices.unavailable()), reason=known_devices.unavailable()),
]

HALF = torch.float16
CPU = Make("cpu")


def ask(
    target: str, fn: Callable[..., Any], args: tuple[Any, ...], variant: Variant | None = None
) -> SourcesReply:
    """The code that a target's process generates for a call."""
    question = SourcesRequest(
        name="variant",
        variant=pickle.dumps(variant or Variant()),
        call=packed_call.pack(fn, args, {}, SavedModes().now()),
    )
    answer = shared_pool().request(target, "sources", msgspec.msgpack.encode(question), Monitor())
    return msgspec.msgpack.decode(answer, type=SourcesReply)


def code_of(given: SourcesReply) -> str:
    (*_, last) = given.compilations
    return last.code.python or last.code.cpp or ""


def decisions_of(given: SourcesReply) -> list[Decision]:
    return [decision for compilation in given.compilations for decision in compilation.decisions]


def decided(given: SourcesReply, kind: str) -> Decision:
    (result,) = [decision for decision in decisions_of(given) if decision.kind == kind]
    return result


def heads(size: int, dtype: torch.dtype = HALF, *, grad: bool = False) -> tuple[Any, ...]:
    return tuple(CPU.floats(2, 4, 128, size, dtype=dtype, grad=grad) for _ in range(3))


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_subject_has_code(name: str) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    case = CASES[name](CPU)
    # Both wrappers in turns: each subject once is enough here.
    with_cpp = sorted(CASES).index(name) % 2 == 1
    variant = msgspec.structs.replace(case.variant, cpp_wrapper=with_cpp)
    sources_given = ask("l4", case.fn, case.args, variant)
    assert sources_given.problems == []
    assert sources_given.compilations
    for compilation in sources_given.compilations:
        text = compilation.code.cpp if with_cpp else compilation.code.python
        assert text
        assert compilation.kernels
        assert all(kernel.launches for kernel in compilation.kernels)
        assert "cpp" not in {kernel.language for kernel in compilation.kernels}


def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return functional.scaled_dot_product_attention(query, key, value)


@pytest.mark.parametrize(
    ("target", "size", "dtype", "chosen"),
    [
        ("h100", 64, torch.float16, "cuDNN's attention"),
        ("h100", 256, torch.float16, "flash attention"),
        ("h100", 64, torch.float32, "memory-efficient attention"),
        ("h100", 64, torch.float64, "matrix products and a softmax"),
        ("l4", 64, torch.bfloat16, "flash attention"),
        ("mi300x", 512, torch.float16, "flash attention"),
        ("mi300x", 64, torch.float32, "memory-efficient attention"),
    ],
)
def test_attention_goes_by_the_devices_rule(
    target: str, size: int, dtype: torch.dtype, chosen: str
) -> None:
    sources_given = ask(target, attend, heads(size, dtype))
    assert sources_given.problems == []
    decision = decided(sources_given, "dispatch")
    assert (decision.operator, decision.chosen) == ("scaled_dot_product_attention", chosen)
    assert decision.rule
    assert decision.instead
    assert decision.nodes
    lines = code_of(sources_given).splitlines()
    if chosen != "matrix products and a softmax":
        (line,) = decision.lines["python"]
        assert "_scaled_dot_product_" in lines[line - 1]


def test_attention_with_gradients_may_go_by_another_rule() -> None:
    for grad, chosen in ((False, "flash attention"), (True, "memory-efficient attention")):
        sources_given = ask("l4", attend, heads(200, grad=grad))
        assert decided(sources_given, "dispatch").chosen == chosen


def test_a_product_that_might_be_padded_is_not() -> None:
    case = CASES["odd_product"](CPU)
    for variant, artifact in ((Variant(), "python"), (Variant(cpp_wrapper=True), "cpp")):
        sources_given = ask("h100", case.fn, case.args, variant)
        decision = decided(sources_given, "padding")
        assert decision.operator == "mm(float16[513, 255], float16[255, 129])"
        assert decision.chosen == "not padded"
        (line,) = decision.lines[artifact]
        (compilation,) = sources_given.compilations
        launches = [launch for kernel in compilation.kernels for launch in kernel.launches]
        assert line in {launch.line for launch in launches}


def test_candidates_are_listed_and_none_is_timed() -> None:
    case = CASES["product"](CPU)
    sources_given = ask("h100", case.fn, case.args, Variant(mode="max-autotune-no-cudagraphs"))
    (compilation,) = sources_given.compilations
    (tuning,) = compilation.autotunings
    assert len(tuning.choices) > 2
    assert [choice.time_us for choice in tuning.choices] == [None] * len(tuning.choices)
    assert [choice.name for choice in tuning.choices if choice.chosen] == ["mm"]
    assert "triton template" in {choice.kind for choice in tuning.choices}
    decision = decided(sources_given, "algorithm")
    assert decision.chosen == "mm"
    assert str(len(tuning.choices)) in decision.instead
    assert decision.kernel == "extern_kernels.mm"


def test_cuda_graphs_are_no_obstacle() -> None:
    case = CASES["training"](CPU)
    sources_given = ask("h100", case.fn, case.args, Variant(mode="reduce-overhead"))
    assert sources_given.problems == []
    assert sources_given.compilations[0].code.backward is not None


def test_a_convolution_says_whose_it_is() -> None:
    case = CASES["convolution"](CPU)
    for target, library in (("h100", "cuDNN"), ("mi300x", "MIOpen")):
        decision = decided(ask(target, case.fn, case.args), "algorithm")
        assert (decision.operator, decision.chosen) == ("convolution", library)
        assert decision.lines["python"]


def with_constants(x: torch.Tensor) -> torch.Tensor:
    return x * torch.tensor([1.0, 2.0, 3.0], device=x.device) + torch.tensor(5.0, device=x.device)


def test_constants_are_part_of_the_kernel() -> None:
    sources_given = ask("h100", with_constants, (CPU.floats(8, 3),))
    assert sources_given.problems == []
    (kernel,) = sources_given.compilations[0].kernels
    assert all(f"{number:.1f}" in kernel.source for number in (1, 2, 3, 5))


def with_a_large_cache(x: torch.Tensor) -> torch.Tensor:
    cache = torch.zeros(1 << 34, device=x.device)
    torch._dynamo.graph_break()
    return cache[: x.shape[0]] + x


def test_what_a_graph_makes_takes_no_memory() -> None:
    sources_given = ask("h100", with_a_large_cache, (CPU.floats(128),))
    assert sources_given.problems == []
    assert [bool(compilation.kernels) for compilation in sources_given.compilations] == [True, True]


def test_a_step_of_training_is_followed_to_its_end() -> None:
    model = nn.Linear(32, 16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    sources_given = ask("h100", step, (CPU.floats(8, 32),))
    assert sources_given.problems == []
    kernels = [
        kernel for compilation in sources_given.compilations for kernel in compilation.kernels
    ]
    assert "backward" in {kernel.direction for kernel in kernels}
    # The optimizer's: one kernel goes through all parameters.
    assert any(kernel.name.startswith("triton_for_") for kernel in kernels)


def test_a_copy_is_of_the_same_world() -> None:
    # With a mode of its own a copy would have copies of weak references that torch frees twice.
    model = nn.Linear(32, 16)

    @torch.compiler.disable
    def followed() -> nn.Linear:
        twin = copy.deepcopy(model)
        assert twin.weight.fake_mode is model.weight.fake_mode, "another mode"
        return twin

    def both(x: torch.Tensor) -> torch.Tensor:
        return model(x) - followed()(x)

    assert ask("h100", both, (CPU.floats(8, 32),)).problems == []


def branching(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    if y.sum().item() > 0:
        return y + 1
    return y - 1


def test_a_value_that_is_not_there_is_said() -> None:
    sources_given = ask("h100", branching, (CPU.floats(64),))
    (problem,) = sources_given.problems
    assert problem.severity == "warning"
    assert problem.what == "The subject reads the value of a tensor, and there is none."
    assert problem.where is not None
    assert "item" in problem.where.code
    assert "sin" in (sources_given.compilations[0].code.python or "")


def test_a_library_that_only_the_device_has_is_said() -> None:
    sources_given = ask("h100", nn.LSTM(8, 8), (CPU.floats(4, 2, 8),))
    (problem,) = sources_given.problems
    assert problem.what.startswith("An operator that runs outside of a graph")


def on_two_devices(x: torch.Tensor) -> torch.Tensor:
    return x + torch.ones(x.shape[-1])


def test_a_device_that_is_forgotten_is_the_subjects_error_there_too() -> None:
    sources_given = ask("h100", on_two_devices, (CPU.floats(8, 3),))
    (problem,) = sources_given.problems
    assert problem.severity == "error"
    assert "cuda" in problem.what + problem.why + problem.detail


def test_code_is_for_the_device() -> None:
    case = CASES["softmax"](CPU)
    for target, said in {"l4": "cc=89", "h100": "cc=90", "mi300x": "cc='gfx942'"}.items():
        assert said in code_of(ask(target, case.fn, case.args))


def scaled(x: torch.Tensor, by: float) -> torch.Tensor:
    return (x * by).sin()


def attention(x: torch.Tensor, by: float) -> torch.Tensor:
    return functional.scaled_dot_product_attention(x, x, x, scale=by)


@pytest.mark.parametrize("fn", [scaled, attention])
def test_a_float_that_may_change_stays_what_it_is_for_both_wrappers(fn: Callable[..., Any]) -> None:
    arguments = (CPU.floats(2, 4, 16, 64), 0.5)
    for cpp in (False, True):
        sources_given = ask("h100", fn, arguments, Variant(dynamic=True, cpp_wrapper=cpp))
        assert [problem.what for problem in sources_given.problems] == []
        assert code_of(sources_given)
