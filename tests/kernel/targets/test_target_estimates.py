"""Rooflines for a GPU that is not there, and the verdict from them, from made-up graphs."""

from __future__ import annotations

import pytest
from compilescope.analysis.overview.limit_verdict import verdict
from compilescope.analysis.target.roofline import LAUNCH_US, REPLAY_US, estimate
from compilescope.report import (
    Code,
    Compilation,
    Graph,
    Kernel,
    Launch,
    Node,
    Region,
    Report,
    Subject,
    TargetReport,
    VariantReport,
    Verdict,
    devices,
)
from compilescope.report.variant import Variant

H100 = devices.find("NVIDIA H100 80GB HBM3")
A100 = devices.find("NVIDIA A100-SXM4-80GB")
assert H100 is not None
assert A100 is not None
ADD, PRODUCT = "torch.ops.aten.add.Tensor", "torch.ops.aten.mm.default"


def node(
    target: str, dtype: str = "float32", inputs: tuple[str, ...] = (), device: str = "cuda:0"
) -> Node:
    name = target.split(".")[3] if target.startswith("torch") else target
    op = "call_function" if inputs else "placeholder"
    return Node(
        name=name,
        op=op,
        target=target,
        inputs=list(inputs),
        shape=["64", "64"],
        dtype=dtype,
        device=device,
    )


def compilation(
    *launched: tuple[Node, float | None, float | None], wrapper: str = "python"
) -> Compilation:
    """One launch for each node, with its bytes and operations."""
    nodes = [node("x", dtype) for dtype in {launch.dtype or "" for launch, _, _ in launched}]
    for item in nodes:
        item.name = f"x_{item.dtype}"
    kernels, regions = [], []
    for place, (item, moved, computed) in enumerate(launched):
        key = f"launch:inference:{place}"
        nodes.append(item)
        regions.append(Region(kind="launch", start=place, end=place, key=key, nodes=[item.name]))
        launch = Launch(artifact=wrapper, variant="v", line=place, end=place, key=key)  # type: ignore[arg-type]
        launch.estimated_bytes, launch.estimated_operations = moved, computed
        kernels.append(Kernel(name=f"k{place}", language="triton", launches=[launch]))
    code = Code(regions={wrapper: regions})
    setattr(code, wrapper, "code")
    graph = Graph(stage="post_grad", text="", nodes=nodes)
    return Compilation(id="0/0", graphs={"post_grad": graph}, code=code, kernels=kernels)


def first(compilation: Compilation) -> Launch:
    return compilation.kernels[0].launches[0]


def test_bytes_bind_a_pointwise_kernel() -> None:
    compiled = compilation((node(ADD, inputs=("x_float32",)), 3.35e6, 1e6))
    result = estimate([compiled], H100)
    assert first(compiled).estimated_us == pytest.approx(1.0)
    assert first(compiled).estimated_bound == "memory"
    assert result.kernels_us == pytest.approx(1.0)
    assert (result.bytes, result.operations, result.launches, result.unknown) == (3.35e6, 1e6, 1, 0)
    assert "not measured" in result.how
    assert result.figures.startswith("H100 SXM: NVIDIA H100")
    assert result.overhead == (
        "Launch overhead: 11 µs a launch from Python, as on the host of an H200."
    )


@pytest.mark.parametrize(
    ("device", "dtype", "tf32", "us"),
    [
        (H100, "float32", False, 989.5 / 67),
        (H100, "float32", True, 989.5 / 494.5),
        (H100, "bfloat16", False, 1.0),
        (A100, "bfloat16", True, 989.5 / 312),
    ],
)
def test_a_product_is_at_its_dtypes_rate(
    device: devices.Device, dtype: str, tf32: bool, us: float
) -> None:
    compiled = compilation((node(PRODUCT, dtype, (f"x_{dtype}",)), 8.0, 989.5e6))
    estimate([compiled], device, tf32=tf32)
    assert first(compiled).estimated_us == pytest.approx(us)
    assert first(compiled).estimated_bound == "compute"


def test_a_product_of_short_floats_is_at_their_rate() -> None:
    factor = node("q", "float8_e4m3fn")
    scaled = node("torch.ops.aten._scaled_mm.default", "bfloat16", ("q", "x_bfloat16"))
    compiled = compilation((scaled, 8.0, 1979e6))
    compiled.graphs["post_grad"].nodes.append(factor)
    estimate([compiled], H100)
    assert first(compiled).estimated_us == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("target", "arguments"),
    [
        ("_scaled_dot_product_flash_attention.default", "x, x, x, 0.0, {}"),
        # In training a flag that is always true stands before it.
        ("_scaled_dot_product_cudnn_attention.default", "x, x, x, None, True, 0.0, {}"),
        ("_scaled_dot_product_efficient_attention.default", "x, x, x, None, True, is_causal={}"),
    ],
)
def test_a_causal_attention_computes_half(target: str, arguments: str) -> None:
    times = []
    for causal in ("False", "True"):
        attention = node(f"torch.ops.aten.{target}", "bfloat16", ("x_bfloat16",))
        attention.args = arguments.format(causal)
        compiled = compilation((attention, 8.0, 989.5e6))
        result = estimate([compiled], H100)
        times.append(first(compiled).estimated_us)
        # The number of operations stays that of all pairs.
        assert result.operations == 989.5e6
        assert ("skips half of its operations" in result.how) == (causal == "True")
    assert times == pytest.approx([1.0, 0.5])


def test_what_cannot_be_estimated_is_counted_and_says_why() -> None:
    sorted_ = node("torch.ops.aten.sort.default", inputs=("x_float32",))
    eights = node(PRODUCT, "float8_e4m3fn", ("x_float8_e4m3fn",))
    compiled = compilation((sorted_, 1e6, None), (eights, 8.0, 1e6))
    compiled.kernels[0].absent["estimated_operations"] = "There is no formula for sort."
    result = estimate([compiled], A100)
    assert (result.launches, result.unknown, result.kernels_us) == (2, 2, 0.0)
    assert compiled.kernels[0].absent["estimated_us"] == "There is no formula for sort."
    assert "float8_e4m3fn" in compiled.kernels[1].absent["estimated_us"]


def test_a_kernel_of_the_processor_is_not_on_the_target() -> None:
    compiled = compilation((node(ADD, inputs=("x_float32",), device="cpu"), 1e6, 1e6))
    assert estimate([compiled], H100).unknown == 1
    assert "not on the target" in compiled.kernels[0].absent["estimated_us"]


def test_integers_are_bound_by_memory() -> None:
    compiled = compilation((node(ADD, "int64", ("x_int64",)), 3.35e6, 1e9))
    estimate([compiled], H100)
    assert first(compiled).estimated_us == pytest.approx(1.0)
    assert first(compiled).estimated_bound == "memory"


@pytest.mark.parametrize(
    ("wrapper", "requested", "us"),
    [
        ("python", Variant(), 2 * LAUNCH_US["python"]),
        ("cpp", Variant(cpp_wrapper=True), 2 * LAUNCH_US["cpp"]),
        ("python", Variant(mode="reduce-overhead"), REPLAY_US),
        ("python", Variant(options={"triton.cudagraphs": True}), REPLAY_US),
        ("cpp", Variant(mode="reduce-overhead", cpp_wrapper=True), 2 * LAUNCH_US["cpp"]),
    ],
)
def test_starting_kernels_is_summed_apart(wrapper: str, requested: Variant, us: float) -> None:
    addition = node(ADD, inputs=("x_float32",))
    compiled = compilation((addition, 1e6, 1e3), (addition, 1e6, 1e3), wrapper=wrapper)
    assert estimate([compiled], H100, requested=requested).launch_us == us


def test_the_partners_launches_are_not_counted() -> None:
    compiled = compilation((node(ADD, inputs=("x_float32",)), 1e6, 1e3))
    other = Launch(artifact="cpp", variant="w", line=9, end=9, key="launch:inference:0")
    compiled.kernels[0].launches.append(other)
    assert estimate([compiled], H100).launches == 1


@pytest.mark.parametrize(
    ("moved", "computed", "bound", "said"),
    [
        (1e4, 1e4, "cpu", ["1 launch", "about 11.0 µs", "longer than the kernels"]),
        (3.35e9, 1e6, "memory", ["1000 µs", "100 %", "bandwidth"]),
        (8.0, 67e9, "compute", ["1000 µs", "100 %", "arithmetic"]),
        (None, None, "unclear", ["1 of 1 launch has no estimate", "about 11.0 µs"]),
    ],
)
def test_a_verdict_is_marked_as_estimated(
    moved: float | None, computed: float | None, bound: str, said: list[str]
) -> None:
    result = judged((node(PRODUCT, inputs=("x_float32",)), moved, computed))
    assert result.bound == bound
    for part in said:
        assert part in result.evidence


@pytest.mark.parametrize(
    ("known", "unknown", "bound", "said"),
    [
        (1, 1, "unclear", ["at least 1.0 µs in 1 kernel", "which takes longer is not known"]),
        (40, 1, "memory", ["at least 40.0 µs", "1 of 41 launches has no estimate"]),
        (40, 39, "memory", ["100 % of that", "39 of 79 launches have no estimate"]),
        (40, 40, "unclear", ["at least 40.0 µs", "what limits most of the time is not known"]),
    ],
)
def test_a_verdict_without_some_launches_is_one_that_they_cannot_change(
    known: int, unknown: int, bound: str, said: list[str]
) -> None:
    """A launch of 1 µs by memory; CUDA graphs replay all of them in 35 µs."""
    addition = node(ADD, inputs=("x_float32",))
    result = judged(
        *[(addition, 3.35e6, 1e3)] * known,
        *[(addition, None, None)] * unknown,
        requested=Variant(target="h100", mode="reduce-overhead"),
    )
    assert result.bound == bound
    for part in said:
        assert part in result.evidence


def judged(
    *launched: tuple[Node, float | None, float | None], requested: Variant | None = None
) -> Verdict:
    requested = requested or Variant(target="h100")
    compiled = compilation(*launched)
    result = estimate([compiled], H100, requested=requested)
    variant = VariantReport(
        name="v",
        requested=requested,
        compilations=[compiled],
        target=TargetReport(name="h100", device=H100, estimate=result),
    )
    drawn = verdict(variant, Report(subject=Subject(id="s", name="f"), variants=[variant]))
    assert drawn is not None
    assert drawn.estimated
    assert drawn.evidence.startswith("Estimated: ")
    return drawn


def test_without_an_estimate_there_is_no_verdict() -> None:
    variant = VariantReport(
        name="v",
        requested=Variant(target="h100"),
        target=TargetReport(name="h100", device=H100),
    )
    assert verdict(variant, Report(subject=Subject(id="s", name="f"), variants=[variant])) is None
