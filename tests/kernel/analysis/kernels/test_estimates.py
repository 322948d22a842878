"""What a launch moves and computes, beside what torch itself estimates and counts."""

from __future__ import annotations

import compilescope as cs
import pytest
import torch
from compilescope.report import Launch, Report
from compilescope.torch_api.inductor import codegen
from torch.utils.flop_counter import FlopCounterMode, flop_registry, sdpa_flop_count

from ..linked_examples import EXAMPLES

pytestmark = pytest.mark.slow


def launches(report: Report) -> list[Launch]:
    return [
        launch
        for compilation in report.variant("python").compilations
        for kernel in compilation.kernels
        for launch in kernel.launches
        if launch.artifact == "python"
    ]


@pytest.fixture(scope="module")
def made():
    """Gives an example's sources, made once, and what Inductor's scheduler estimates, by node."""
    known = {}
    results: list[int] = []
    original = codegen._compile_to_module

    def listen(inner, graph):
        result = original(inner, graph)
        results.extend(node.get_read_write_buffers_sizes() for node in graph.scheduler.nodes)
        return result

    def make(name):
        if name not in known:
            results.clear()
            fn, args = EXAMPLES[name].make()
            report = cs.inspect(fn, args, variants=("python",), run=False)
            known[name] = report, list(results)
        return known[name]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codegen, "_compile_to_module", listen)
        yield make


@pytest.mark.parametrize("name", ["inference", "transformer", "training"])
def test_bytes_are_near_inductors(name, made):
    """Inductor sums over the parts of a kernel; a buffer that two of them share counts twice."""
    report, estimated = made(name)
    ours = sum(launch.estimated_bytes or 0 for launch in launches(report))
    theirs = sum(estimated)
    assert theirs > 0
    assert 0.85 * theirs <= ours <= 1.05 * theirs


@pytest.mark.parametrize("name", ["inference", "transformer", "training", "residual training"])
def test_products_count_as_torch_counts_them(name, made):
    """torch counts matrix products, convolutions and attention; the CPU's attention since 2.15."""
    fn, args = EXAMPLES[name].make()
    with FlopCounterMode(display=False) as counter:
        output = fn(*args)
        if output.requires_grad:
            output.backward()
    report, _ = made(name)
    ours = sum(
        launch.estimated_operations or 0
        for compilation in report.variant("python").compilations
        for kernel in compilation.kernels
        if kernel.language == "extern"
        for launch in kernel.launches
        if launch.artifact == "python"
    )
    heads = (2, 4, 8, 4)
    counts = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu in flop_registry
    left_out = name == "transformer" and not counts
    attention = sdpa_flop_count(heads, heads, heads) if left_out else 0
    assert ours == counter.get_total_flops() + attention


def test_symbols_count_with_their_values():
    fn = torch.nn.Linear(8, 4).requires_grad_(False)
    report = cs.inspect(
        fn, (torch.randn(6, 8),), variants={"a": cs.Variant(dynamic=True)}, run=False
    )
    (kernel,) = report.variant("a").compilations[0].kernels
    assert kernel.estimated_operations == 2 * 6 * 4 * 8
    assert kernel.estimated_bytes == 4 * (6 * 8 + 8 * 4 + 4 + 6 * 4)
    assert list(kernel.estimated_for.values()) == [6]


@pytest.mark.parametrize(
    "x",
    [
        torch.randn(1, 1000).expand(500, 1000),
        torch.randn(1000).unfold(0, 300, 1),
        torch.randn(500, 2000)[:, ::2],
    ],
    ids=["expanded", "overlapping", "strided"],
)
def test_elements_that_an_input_repeats_are_read_once(x: torch.Tensor) -> None:
    places = torch.arange(x.untyped_storage().nbytes() // 4).as_strided(x.shape, x.stride())
    report = cs.inspect(torch.sin, (x,), variants=("python",), run=False)
    (launch,) = launches(report)
    assert launch.estimated_bytes == 4 * (places.unique().numel() + x.numel())
    assert launch.estimated_operations == x.numel()


def test_a_write_to_parts_of_a_buffer_counts_as_the_parts():
    cache = torch.zeros(32, 512, 64)

    def put(rows: torch.Tensor, values: torch.Tensor) -> None:
        cache.index_put_((rows,), values)

    report = cs.inspect(
        put, (torch.tensor([3]), torch.randn(1, 512, 64)), variants=("python",), run=False
    )
    written = [launch.estimated_bytes for launch in launches(report)]
    assert written == [2 * 4 * 512 * 64 + 8]


def test_a_write_of_one_value_to_parts_of_a_buffer_counts_as_the_parts():
    def put(rows: torch.Tensor, columns: torch.Tensor, buffer: torch.Tensor) -> None:
        buffer[rows, :, columns] = 0.0

    args = (torch.arange(6)[:, None], torch.arange(5), torch.zeros(8, 3, 7))
    report = cs.inspect(put, args, variants=("python",), run=False)
    written = [launch.estimated_bytes for launch in launches(report)]
    assert written == [8 * (6 + 5) + 4 * (6 * 5 * 3)]


@pytest.mark.parametrize("accumulate", [False, True])
def test_a_write_that_adds_to_parts_of_a_buffer_reads_and_computes_them(accumulate: bool) -> None:
    def put(rows: torch.Tensor, columns: torch.Tensor, buffer: torch.Tensor) -> None:
        buffer.index_put_((rows, columns), torch.ones(()), accumulate=accumulate)

    args = (torch.arange(6)[:, None], torch.arange(5), torch.zeros(8, 7, 3))
    report = cs.inspect(put, args, variants=("python",), run=False)
    (launch,) = launches(report)
    places = 6 * 5 * 3
    assert launch.estimated_bytes == 8 * (6 + 5) + (2 if accumulate else 1) * 4 * places
    assert launch.estimated_operations == (places if accumulate else 0)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_foreach_operators_count_each_tensor_of_their_lists(momentum):
    sizes = (100, 200, 300)
    parameters = [torch.nn.Parameter(torch.randn(size)) for size in sizes]
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    optimizer = torch.optim.SGD(parameters, lr=0.1, momentum=momentum, foreach=True)
    optimizer.step()
    report = cs.inspect(lambda: optimizer.step(), (), variants=("python",), run=False)
    compilations = report.variant("python").compilations
    (kernel,) = [kernel for compilation in compilations for kernel in compilation.kernels]
    # An update of the parameters, and with momentum a product and a sum for the buffers.
    operators, read, written = (3, 3, 2) if momentum else (1, 2, 1)
    assert kernel.estimated_operations == operators * sum(sizes)
    assert kernel.estimated_bytes == 4 * (read + written) * sum(sizes)
    assert kernel.fusion is not None
    # The new momentum is stored, so it leaves the kernel.
    assert kernel.fusion.saved == (["_foreach_mul"] if momentum else [])


def test_a_library_operator_without_a_formula_has_no_operations():
    report = cs.inspect(torch.linalg.svd, (torch.randn(8, 8),), variants=("python",), run=False)
    (kernel,) = report.variant("python").compilations[0].kernels
    assert kernel.estimated_operations is None
    assert kernel.absent["estimated_operations"] == "There is no formula for _linalg_svd."


def test_what_cannot_be_told_is_said():
    fn, args = EXAMPLES["custom operator"].make()
    report = cs.inspect(fn, args, variants=("python",), run=False)
    kernels = report.variant("python").compilations[0].kernels
    (scale,) = [
        kernel for kernel in kernels if "scale" in kernel.name and kernel.language == "extern"
    ]
    assert scale.estimated_operations is None
    assert "no formula for scale" in scale.absent["estimated_operations"]
    assert scale.estimated_bytes == 2 * 4 * 4 * 8


@pytest.fixture
def operators():
    """Gives a library with a pure operator, and one that also writes to an argument."""
    with torch.library._scoped_library("compilescope_estimates", "FRAGMENT") as library:
        library.define("pure(Tensor x) -> Tensor")
        library.impl("pure", lambda x: x + 1, "CompositeExplicitAutograd")
        library.define("writes(Tensor x, Tensor(a!) y) -> Tensor")
        library.impl("writes", lambda x, y: y.copy_(x) + 1, "CompositeExplicitAutograd")
        for name in ("pure", "writes"):
            fake = lambda x, *_: torch.empty_like(x)  # noqa: E731
            torch.library.register_fake(f"compilescope_estimates::{name}", fake, lib=library)
        yield torch.ops.compilescope_estimates


def test_a_kernel_before_a_custom_operator_does_not_contain_it(operators) -> None:
    """Inductor names the kernel for the operator too, as it computes the operator's input."""
    pure = cs.inspect(
        lambda x: operators.pure(x.sin() * 2) + 1,
        (torch.randn(1000),),
        variants=("python",),
        run=False,
    )
    kernel = pure.variant("python").compilations[0].kernels[0]
    assert kernel.language == "cpp"
    assert "pure" in kernel.name
    assert kernel.estimated_bytes == 8000
    assert kernel.estimated_operations == 2000
    assert kernel.fusion
    assert (kernel.fusion.nodes, kernel.fusion.saved_bytes) == (2, 8000)
    assert kernel.fusion.saved == ["sin"]
    writes = cs.inspect(
        lambda x, y: operators.writes(x.sin(), y).cos() + y,
        (torch.randn(100), torch.randn(100)),
        variants=("python",),
        run=False,
    )
    kernel = writes.variant("python").compilations[0].kernels[0]
    assert kernel.estimated_bytes == 800
    assert kernel.fusion
    assert (kernel.fusion.saved_bytes, kernel.fusion.saved) == (0, [])


def test_a_scatter_in_place_counts_apart_from_the_copy() -> None:
    report = cs.inspect(
        lambda x, i: x.scatter_add(0, i, torch.ones_like(i, dtype=torch.float32)),
        (torch.zeros(100_000), torch.randint(0, 100_000, (100,))),
        variants={"python": cs.Variant(options={"cpp.threads": 2})},
        run=False,
    )
    copy, scatter = report.variant("python").compilations[0].kernels
    assert copy.estimated_operations == 0
    assert copy.estimated_bytes == 2 * 4 * 100_000 + 400
    assert scatter.nodes == ["scatter_add"]
    assert scatter.sources
    assert scatter.estimated_operations == 100
    assert scatter.estimated_bytes == (8 + 4 + 2 * 4) * 100


def test_clearing_a_workspace_is_no_launch_of_the_kernel() -> None:
    report = cs.inspect(
        lambda x: x.cumsum(1),
        (torch.empty(100, 100_001),),
        variants={"python": cs.Variant(target="h100")},
        run=False,
    )
    (scan,) = report.variant("python").compilations[0].kernels
    (launch,) = scan.launches
    assert launch.text.startswith(f"{scan.name}.run(")
    assert launch.estimated_bytes == 2 * 4 * 100 * 100_001
    assert launch.estimated_us


def test_what_a_kernel_stores_for_itself_leaves_it() -> None:
    def update(x: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        x[::2].mul_(3)
        return x.sum(1)

    report = cs.inspect(update, (torch.randn(64, 128),), variants=("python",), run=False)
    compilation = report.variant("python").compilations[0]
    (kernel,) = compilation.kernels
    stored = {name for buffer in compilation.memory[0].buffers for name in buffer.nodes}
    assert "slice_scatter_default" in stored
    assert kernel.fusion
    assert kernel.fusion.saved == ["add", "mul"]
    # Reads and writes the input, writes what it stores and the sums.
    assert kernel.estimated_bytes == 4 * (3 * 64 * 128 + 64)


def test_launches_of_one_library_call_differ(made):
    report, _ = made("inference")
    kernels = report.variant("python").compilations[0].kernels
    (addmm,) = [kernel for kernel in kernels if "addmm" in kernel.name]
    assert [launch.estimated_operations for launch in addmm.launches] == [
        2 * 4 * 16 * 32,
        2 * 4 * 32 * 8,
    ]
    assert addmm.estimated_operations is None
    assert "each launch has its own" in addmm.absent["estimated_operations"]
