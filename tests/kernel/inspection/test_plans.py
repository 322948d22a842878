"""What Inductor planned, against what its own wrapper does when it runs with kernels left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.report import Code, Compilation, Memory, VariantReport
from torch.multiprocessing.reductions import StorageWeakRef

from .. import plan_subjects

pytestmark = pytest.mark.slow

OLDEST = torch.__version__.startswith("2.11.")
_CASES: dict[str, Callable[[], tuple[Any, tuple[Any, ...]]]] = {
    "chain": lambda: (plan_subjects.chain, (torch.randn(64, 64),)),
    "normed": lambda: (plan_subjects.normed, (torch.randn(96, 64), torch.randn(64, 64))),
    "convolved": lambda: (
        plan_subjects.Convolved().requires_grad_(False),
        (torch.ones(2, 3, 16, 16),),
    ),
    "trained": lambda: (plan_subjects.Trained(), (torch.randn(16, 64),)),
}
_WRAPPERS = (cs.Variant(), cs.Variant(cpp_wrapper=True))
_TARGETS = (cs.Variant(target="h100"), cs.Variant(target="h100", cpp_wrapper=True))


@pytest.fixture(scope="module")
def reports() -> dict[str, cs.Report]:
    """Each case's report; one of them for a GPU that is not there, too."""
    by_name = {}
    for name, make in _CASES.items():
        fn, args = make()
        variants = (*_WRAPPERS, *_TARGETS) if name == "normed" else _WRAPPERS
        by_name[name] = cs.inspect(fn, args, variants=variants, run=False)
        assert not by_name[name].problems
    return by_name


@pytest.fixture(scope="module")
def dynamic() -> cs.Report:
    x, w = torch.randn(96, 64), torch.randn(64, 64)
    variants = [
        cs.Variant(dynamic=True, cpp_wrapper=wrapper, options={"memory_planning": planned})
        for wrapper in (False, True)
        for planned in (False, True)
    ]
    return cs.inspect(plan_subjects.normed, (x, w), variants=variants, run=False)


class _Allocations:
    """Runs a Python wrapper with its kernels left out, and watches its storages."""

    def __init__(self) -> None:
        self.live: list[tuple[StorageWeakRef, int]] = []
        self.peak = 0
        self.total = 0

    def run(
        self, code: Code, inputs: list[Any], conditions: Sequence[bool] = (True, True, True)
    ) -> None:
        text = code.python or ""
        body = text[text.index("class Runner") : text.index("\nrunner = Runner")]
        # The functions that loops and branches call stand above it.
        above = re.findall(
            r"^def (?:while_loop|true_graph|false_graph)\w+\(args\):\n(?:(?: .*)?\n)+", text, re.M
        )
        body = "\n".join([*above, body])
        asked = iter(conditions)
        names = set(re.findall(r"^(\w+) = async_compile\.", text, re.M))
        extern = SimpleNamespace(
            mm=torch.mm,
            addmm=torch.addmm,
            convolution=lambda *a, **k: self.made(_convolution(*a, **k)),
        )
        inside: dict[str, Any] = {
            "torch": torch,
            "extern_kernels": extern,
            "assert_size_stride": lambda *_: None,
            "assert_size_stride_grouped": lambda *_: None,
            "assert_alignment": lambda *_: None,
            "assert_tensor_metadata": lambda *_: None,
            "reinterpret_tensor": torch._C._dynamo.guards._reinterpret_tensor,
            "alloc_from_pool": torch.ops.inductor._alloc_from_pool,
            "empty_strided_cpu": lambda *a: self.made(
                torch._C._dynamo.guards._empty_strided_cpu(*a)
            ),
            **dict.fromkeys(names, lambda *_: None),
            **{
                name: lambda *result: result[-1].fill_(next(asked, False))
                for name in names
                if "_lt_" in name
            },
        }
        exec(body, inside)
        inside["Runner"](partitions=[]).call(inputs)

    def made(self, tensor: torch.Tensor) -> torch.Tensor:
        size = tensor.untyped_storage().nbytes()
        self.live = [(ref, storage) for ref, storage in self.live if not ref.expired()]
        self.live.append((StorageWeakRef(tensor.untyped_storage()), size))
        self.total += size
        self.peak = max(self.peak, sum(size for _, size in self.live))
        return tensor


def _convolution(x: Any, weight: Any, bias: Any, **how: Any) -> torch.Tensor:
    result = torch.convolution(x, weight, bias, **how)
    return result.contiguous(memory_format=torch.channels_last)


def _inputs(memory: Memory) -> list[Any]:
    results = []
    for buffer in memory.buffers:
        if buffer.kind == "input":
            size, stride = (
                [_number(value) for value in part] for part in (buffer.shape, buffer.stride)
            )
            dtype = getattr(torch, buffer.dtype)
            results.append(torch.empty_strided(size, stride, dtype=dtype))
    return results


def _number(text: str) -> int:
    return int(text)


def _codes(compilation: Compilation) -> Iterator[tuple[Code, Memory]]:
    code: Code | None = compilation.code
    for memory in compilation.memory:
        assert code is not None
        yield code, memory
        code = code.backward


def _only(variant: VariantReport) -> Compilation:
    (compilation,) = variant.compilations
    return compilation


@pytest.mark.parametrize("case", _CASES)
def test_memory_is_what_the_wrapper_holds(reports: dict[str, cs.Report], case: str) -> None:
    compilation = _only(reports[case].variants[0])
    assert compilation.memory
    for code, memory in _codes(compilation):
        watched = _Allocations()
        watched.run(code, _inputs(memory))
        assert memory.peak_bytes == watched.peak
        assert max(memory.live_bytes) == memory.peak_bytes
        # What took over memory was allocated once.
        reused = sum(b.bytes or 0 for b in memory.buffers if b.reuses)
        assert memory.peak_without_reuse_bytes == watched.total + reused


@pytest.mark.parametrize("case", _CASES)
def test_both_wrappers_hold_the_same(reports: dict[str, cs.Report], case: str) -> None:
    if OLDEST and case == "convolved":
        pytest.skip("torch 2.11's C++ wrapper does not say the sizes of what a library returns")
    compilations = [_only(variant) for variant in reports[case].variants]
    for ours, theirs in zip(compilations[::2], compilations[1::2], strict=True):
        assert len(ours.memory) == len(theirs.memory) > 0
        for left, right in zip(ours.memory, theirs.memory, strict=True):
            assert left.live_bytes == right.live_bytes
            assert left.peak_without_reuse_bytes == right.peak_without_reuse_bytes
            assert left.peak_unfused_bytes == right.peak_unfused_bytes
            assert left.keys == right.keys
            described = [
                [(b.name, b.bytes, b.shape, b.stride, b.born, b.dies, b.reuses) for b in m.buffers]
                for m in (left, right)
            ]
            assert described[0] == described[1]


def test_a_loop_holds_what_its_last_round_gave() -> None:
    fn, args = plan_subjects.looped, (torch.randn(64, 64),)
    report = cs.inspect(fn, args, variants=_WRAPPERS, run=False)
    assert not report.problems
    python, cpp = (_only(variant) for variant in report.variants)
    ((code, memory),) = _codes(python)
    watched = _Allocations()
    watched.run(code, _inputs(memory))
    assert memory.peak_bytes == watched.peak
    assert cpp.memory[0].peak_bytes == memory.peak_bytes
    assert cpp.memory[0].keys == memory.keys
    assert sum("mm" in step for step in memory.steps) == 2
    assert [b.bytes for b in memory.buffers if b.kind == "output"] == [64 * 64 * 4, 8]


@pytest.mark.parametrize("larger", [True, False])
def test_the_peak_is_that_of_the_larger_branch(larger: bool) -> None:
    """What both branches read is freed in the first one only: the wrapper's statements say so."""

    def short(y: torch.Tensor) -> torch.Tensor:
        return (y.sin() @ y).cos() @ y

    def long(y: torch.Tensor) -> torch.Tensor:
        return short(y) @ torch.cat([y, y], 1)[:, 64:]

    def branched(x: torch.Tensor) -> torch.Tensor:
        y = x @ x
        first, second = (long, short) if larger else (short, long)
        z = torch.cond(x.sum() < 0, first, second, (y,))
        return z @ z

    report = cs.inspect(branched, (torch.randn(64, 64),), variants=_WRAPPERS, run=False)
    assert not report.problems
    (code, memory), (_, in_cpp) = (
        item for variant in report.variants for item in _codes(_only(variant))
    )
    watched = []
    for condition in (True, False):
        watched.append(_Allocations())
        watched[-1].run(code, _inputs(memory), [condition])
    assert watched[0].peak != watched[1].peak
    assert memory.peak_bytes == max(branch.peak for branch in watched)
    # The C++ wrapper holds the condition, a bool, until both branches end.
    assert memory.peak_bytes <= in_cpp.peak_bytes <= memory.peak_bytes + 1
    reused = sum(buffer.bytes or 0 for buffer in memory.buffers if buffer.reuses)
    assert memory.peak_without_reuse_bytes <= max(branch.total for branch in watched) + reused
    assert memory.peak_unfused_bytes
    assert memory.peak_unfused_bytes >= max(branch.peak for branch in watched)


@pytest.mark.parametrize("wrapper", [False, True])
def test_an_unused_result_of_a_library_call_takes_memory(wrapper: bool) -> None:
    report = cs.inspect(
        lambda x: torch.argsort(x * 2, dim=-1),
        (torch.randn(100, 128),),
        variants=(cs.Variant(cpp_wrapper=wrapper),),
        run=False,
    )
    (memory,) = _only(report.variants[0]).memory
    count = 100 * 128
    assert memory.peak_bytes == (4 + 4 + 8) * count
    assert memory.peak_unfused_bytes == (4 + 4 + 8) * count
    (unused,) = [buffer for buffer in memory.buffers if buffer.born == 1 and not buffer.nodes]
    assert (unused.kind, unused.bytes, unused.dtype) == ("temporary", 4 * count, "float32")


def test_memory_has_the_names_of_the_model() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    report = cs.inspect(model, (torch.randn(4, 8),), variants=("python",), run=False)
    memory = _only(report.variants[0]).memory[0]
    titles = {buffer.title for buffer in memory.buffers if buffer.kind == "input"}
    assert titles >= {"0.weight", "0.bias", "2.weight", "args_0"}
    assert memory.peak_module in ("0", "1", "2")
    reached = memory.peaks[1]
    assert reached.title == "Reached in"
    assert reached.text.endswith(f", module {memory.peak_module}")


def test_reuse_is_seen(reports: dict[str, cs.Report]) -> None:
    (memory,) = _only(reports["chain"].variants[0]).memory
    square = 64 * 64 * 4
    assert memory.peak_bytes == 2 * square
    assert memory.peak_without_reuse_bytes == 7 * square
    assert [(peak.title, peak.text) for peak in memory.peaks[:3]] == [
        ("Peak without inputs and weights", "32.0 KiB"),
        ("Reached in", "launch 1: extern_kernels.mm"),
        ("Without reuse", "112 KiB (71 % less now)"),
    ]
    assert {b.name: b.reuses for b in memory.buffers if b.reuses} == {
        "buf2": "buf1",
        "buf4": "buf3",
        "buf6": "buf5",
    }
    (output,) = [b for b in memory.buffers if b.kind == "output"]
    assert output.nodes == ["add"]
    assert output.dies == len(memory.steps) - 1


def test_symbols_take_the_sizes_that_torch_compiled_with(dynamic: cs.Report) -> None:
    python, planned, cpp, planned_cpp = (_only(variant).memory[0] for variant in dynamic.variants)
    assert python.assumed
    assert set(python.assumed.values()) <= {64, 96}
    assert python.live_bytes == cpp.live_bytes
    for memory in (planned, planned_cpp):
        parts = [b for b in memory.buffers if b.reuses.startswith("pool")]
        assert parts
        assert memory.peak_bytes >= max(b.bytes or 0 for b in memory.buffers)


def test_fusion_counts_what_stays_inside(reports: dict[str, cs.Report]) -> None:
    compilation = _only(reports["normed"].variants[0])
    library, fused = compilation.kernels
    assert library.fusion is not None
    assert library.fusion.kind == "library call"
    assert fused.fusion is not None
    assert fused.fusion.kind == "reduction"
    assert {"sigmoid", "erf"} <= set(fused.fusion.saved)
    # It writes the maximum to a buffer that no other kernel reads.
    assert not {"amax", "div", "sum_2", "mm"} & set(fused.fusion.saved)
    # Of a chain of single operators nothing is saved.
    alone = _only(reports["chain"].variants[0]).kernels
    assert {k.fusion.nodes for k in alone if k.fusion} == {1, 2}
    sine = next(k for k in alone if k.nodes == ["sin"])
    assert sine.fusion is not None
    assert sine.fusion.saved_bytes == 0
    last = next(k for k in alone if "add" in k.nodes and k.language == "cpp")
    assert last.fusion is not None
    assert last.fusion.saved_bytes == 2 * 64 * 64 * 4


def test_tiles_and_baked_sizes(reports: dict[str, cs.Report], dynamic: cs.Report) -> None:
    for variant in reports["normed"].variants[:2]:
        kernel = _only(variant).kernels[-1]
        assert kernel.tiling is not None
        assert kernel.tiling.extents == ["x0: 96", "x1: 64", "x0: 64", "x1: 96"]
        if kernel.tiling.vector_width:
            assert str(kernel.tiling.vector_width) in kernel.tiling.tile.values()
        sizes = {b.value for b in kernel.baked if b.kind == "size"}
        assert sizes == {"96", "64"}
        for item in kernel.baked:
            assert item.line is not None
            assert item.value in kernel.source.split("\n")[item.line - 1]
    # torch 2.11's C++ wrapper for a GPU does not hold the sources of its Triton kernels.
    last = 3 if OLDEST else 4
    for variant in reports["normed"].variants[2:last]:
        kernel = next(k for k in _only(variant).kernels if k.language == "triton")
        assert kernel.tiling is not None
        assert "XBLOCK" in kernel.tiling.tile
        assert {"x: 96", "r0: 64"} == set(kernel.tiling.extents)
        assert {"size", "aligned", "divisible", "stride"} <= {b.kind for b in kernel.baked}
    # A dynamic size is baked in nowhere.
    kernel = _only(dynamic.variants[0]).kernels[-1]
    assert not [b for b in kernel.baked if b.value in ("96", "64")]


def test_layout_changes(reports: dict[str, cs.Report]) -> None:
    # The C++ wrapper of torch 2.11 does not say the strides of what a library returns.
    for variant in reports["convolved"].variants[: 1 if OLDEST else 2]:
        changes = _only(variant).layouts
        inserted = [change for change in changes if change.inserted]
        assert {change.kernel for change in inserted} == {"cpp_fused_convolution_0"}
        assert any(change.new == "(768, 1, 48, 3)" for change in inserted)
        chosen = next(change for change in changes if not change.inserted)
        assert chosen.node == "convolution"
        assert chosen.sources[0].file == plan_subjects.__file__


def test_decompositions(reports: dict[str, cs.Report]) -> None:
    decompositions = _only(reports["normed"].variants[0]).decompositions
    gelu = next(
        decomposition for decomposition in decompositions if decomposition.operator == "aten.gelu"
    )
    assert gelu.by == "decomposition"
    assert gelu.into == ["aten.mul", "aten.erf", "aten.add"]
    norm = next(
        decomposition
        for decomposition in decompositions
        if decomposition.operator.endswith("layer_norm")
    )
    assert (norm.by, norm.into) == ("dispatch", ["aten.native_layer_norm"])
    gpu = _only(reports["normed"].variants[2]).decompositions
    online = next(decomposition for decomposition in gpu if decomposition.by == "pass")
    assert "prims.prepare_softmax_online" in online.into
    trained = _only(reports["trained"].variants[0]).decompositions
    derived = next(
        decomposition
        for decomposition in trained
        if decomposition.operator.endswith("gelu") and decomposition.by == "autograd"
    )
    assert derived.into == ["aten.gelu_backward"]
    assert derived.stage == "backward"
    for decomposition in (*decompositions, *gpu, *trained):
        assert decomposition.into != [decomposition.operator]
        assert decomposition.count >= 1
