"""What binds a variant, from made-up figures: the rule, the evidence, what helps."""

from __future__ import annotations

from typing import Any

import pytest
from compilescope.analysis.overview.limit_verdict import verdict
from compilescope.analysis.overview.overview import overview
from compilescope.report import (
    Compilation,
    Graph,
    Kernel,
    Launch,
    LaunchTime,
    Layer,
    Layers,
    Node,
    Peaks,
    Report,
    Subject,
    Timing,
    VariantReport,
)
from compilescope.report.variant import Variant
from compilescope.views.text import report as text


def timing(us: float, device: str = "cpu") -> Timing:
    return Timing(
        median_us=us,
        interval_us=(us * 0.98, us * 1.02),
        device=device,
        ratio=60 / us,
        ratio_interval=(59 / us, 61 / us),
        differs=True,
    )


def layers(whole: float, kernels: float, device: str = "cpu", **others: float) -> Layers:
    parts = [Layer(kind=kind, us=us) for kind, us in others.items()]  # type: ignore[arg-type]
    parts.append(Layer(kind="kernels", us=kernels, device_us=kernels if device != "cpu" else None))
    return Layers(whole_us=whole, layers=parts, device=device)


def compilation(*times: tuple[float, float | None, float | None]) -> Compilation:
    """One kernel for each time, with its shares of the device's bandwidth and arithmetic."""
    return Compilation(
        id="0/0",
        kernels=[
            Kernel(
                name=f"kernel_{number}",
                language="cpp",
                launches=[
                    Launch(
                        artifact="python",
                        variant="python",
                        line=number,
                        end=number,
                        key=str(number),
                        time=LaunchTime(us=us, bandwidth_share=bandwidth, compute_share=compute),
                    )
                ],
            )
            for number, (us, bandwidth, compute) in enumerate(times)
        ],
    )


def built(name: str = "python", requested: Variant | None = None, **more: Any) -> VariantReport:
    return VariantReport(name=name, requested=requested or Variant(), stage="built", **more)


def report(*variants: VariantReport) -> Report:
    rates = {"float32": 100e9, "bfloat16": 210e9}
    peaks = [
        Peaks(device="cpu", name="A processor", operations_per_s=rates),
        Peaks(device="cuda:0", name="A GPU"),
    ]
    return Report(subject=Subject(id="s", name="f"), variants=list(variants), peaks=peaks)


@pytest.mark.parametrize(
    ("variant", "bound", "said"),
    [
        # Layers alone: most of the time is around the kernels.
        (built(layers=[layers(24.7, 4.4, guards=12.0, wrapper=8.3)]), "cpu", ["82 %", "24.7 µs"]),
        # On a GPU the kernels' whole time counts, also what passes beside the host.
        (built(layers=[layers(100, 80, "cuda", wrapper=60)]), "unclear", ["80 %"]),
        (built(layers=[layers(100, 10, "cuda", wrapper=60)]), "cpu", ["90 %", "on the host"]),
        # The kernels' times against the whole, and their shares of the peaks.
        (
            built(timing=timing(100), compilations=[compilation((60, 0.9, 0.1), (30, 0.6, 0.2))]),
            "memory",
            ["90 %", "80 % of its bandwidth", "13 % of its arithmetic peak", "A processor"],
        ),
        (
            built(timing=timing(100), compilations=[compilation((90, 0.2, 0.7))]),
            "compute",
            ["70 % of its arithmetic peak"],
        ),
        (
            built(timing=timing(100), compilations=[compilation((90, 0.1, 0.05))]),
            "unclear",
            ["neither"],
        ),
        # Most of the kernels' time is of kernels whose shares nobody knows.
        (
            built(timing=timing(100), compilations=[compilation((10, 0.9, 0.1), (80, None, None))]),
            "unclear",
            ["known for 11 % of their time"],
        ),
        # Load made the kernels slower in the breakdown than in the measurement of their shares.
        (
            built(layers=[layers(70, 64)], compilations=[compilation((31, 0.3, 0.5))]),
            "compute",
            ["50 % of its arithmetic peak", "took 31.0 µs instead of 64.0 µs", "other load"],
        ),
        # Here the wrapper may have taken the rest.
        (
            built(
                layers=[Layers(whole_us=70, layers=[Layer(kind="compiled", us=64)], device="cpu")],
                compilations=[compilation((31, 0.3, 0.5))],
            ),
            "unclear",
            ["the kernels reach 30 %", "but take 31.0 µs of that"],
        ),
        # Forward and backward make one call.
        (
            built(layers=[layers(40, 30, wrapper=10), layers(60, 5, eager=55)]),
            "cpu",
            ["65 %", "100 µs", "55.0 µs, in what is not compiled"],
        ),
    ],
)
def test_what_binds(variant: VariantReport, bound: str, said: list[str]) -> None:
    result = verdict(variant, report(variant))
    assert result is not None
    assert result.bound == bound, result.evidence
    for part in said:
        assert part in result.evidence


@pytest.mark.parametrize(
    "variant",
    [
        built(timing=timing(10)),
        built(compilations=[compilation((5, 0.5, 0.5))]),
        VariantReport(name="eager", requested=Variant(backend=None), stage="built"),
        VariantReport(name="python", requested=Variant(), layers=[layers(10, 1)]),
    ],
    ids=["a timing alone", "kernels alone", "eager", "not built"],
)
def test_nothing_to_go_by(variant: VariantReport) -> None:
    assert verdict(variant, report(variant)) is None


def test_one_launch_without_a_time_spoils_the_sum() -> None:
    compiled = compilation((60, 0.9, 0.1), (30, 0.6, 0.2))
    compiled.kernels[1].launches[0].time = None
    variant = built(timing=timing(100), compilations=[compiled])
    assert verdict(variant, report(variant)) is None


def test_launches_without_a_time_leave_open_how_close_kernels_come_to_the_peaks() -> None:
    compiled = compilation(*[(10, 0.9, 0.1)] * 3)
    for kernel in compiled.kernels[1:]:
        kernel.launches[0].time = None
    variant = built(layers=[layers(40, 30)], compilations=[compiled])
    result = verdict(variant, report(variant))
    assert result is not None
    assert result.bound == "unclear"
    assert result.evidence.endswith(", known for 33 % of their launches.")


def test_kernels_of_a_backward_are_not_held_against_the_call_alone() -> None:
    compiled = compilation((60, 0.9, 0.1), (30, 0.6, 0.2))
    compiled.kernels[1].direction = "backward"
    variant = built(timing=timing(100), compilations=[compiled])
    assert verdict(variant, report(variant)) is None
    variant.layers = [layers(100, 60), layers(50, 30)]
    assert verdict(variant, report(variant)) is not None


def test_help_says_what_it_brought_where_that_was_measured() -> None:
    python = built(timing=timing(30), layers=[layers(30, 3, wrapper=20)])
    cpp = built("cpp", Variant(cpp_wrapper=True), timing=timing(20))
    other = built("cpp dynamic", Variant(cpp_wrapper=True, dynamic=True), timing=timing(5))
    result = verdict(python, report(python, other, cpp))
    assert result is not None
    help_ = result.helps[0]
    assert help_.what == "C++ wrapper"
    assert help_.variant == "cpp"
    assert help_.ratio == pytest.approx(1.5)
    assert help_.ratio_interval is not None
    assert help_.ratio_interval[0] < 1.5 < help_.ratio_interval[1]
    assert "cpp_wrapper" in help_.code
    alone = verdict(python, report(python, other))
    assert alone is not None
    assert alone.helps[0].ratio is None
    assert alone.helps[0].requested == Variant(cpp_wrapper=True)


def test_a_wrapper_that_takes_little_of_a_call_is_advised_only_where_it_was_measured() -> None:
    python = built(timing=timing(30), layers=[layers(30, 3, wrapper=1.5, launches=0.5)])
    cpp = built("cpp", Variant(cpp_wrapper=True), timing=timing(29))
    alone, beside = (verdict(python, report(python, *others)) for others in ((), (cpp,)))
    assert alone is not None
    assert beside is not None
    assert "C++ wrapper" not in [answer.what for answer in alone.helps]
    assert beside.helps[0].variant == "cpp"


def test_what_a_variant_has_is_not_advised() -> None:
    graphs = built(
        "graphs",
        Variant(cpp_wrapper=True, mode="reduce-overhead"),
        layers=[layers(30, 3, "cuda", launches=20)],
    )
    result = verdict(graphs, report(graphs))
    assert result is not None
    named = [answer.what for answer in result.helps]
    assert "C++ wrapper" not in named
    assert "CUDA graphs" not in named
    assert "Larger batch" in named


def test_help_can_be_pasted() -> None:
    product = Node(name="bmm", op="call_function", target="torch.ops.aten.bmm.default")
    tunable = compilation((90, 0.1, 0.05))
    tunable.graphs["post_grad"] = Graph(stage="post_grad", text="", nodes=[product])
    for variant in (
        built(layers=[layers(30, 3, "cuda", guards=20)]),
        built(timing=timing(100), compilations=[compilation((90, 0.9, 0.1))]),
        built(timing=timing(100), compilations=[compilation((90, 0.2, 0.7))]),
        built(timing=timing(100), compilations=[tunable]),
    ):
        result = verdict(variant, report(variant))
        assert result is not None
        assert result.helps
        for item in result.helps:
            compile(item.code, "<help>", "exec")


def test_code_around_the_call_has_the_names_of_its_arguments() -> None:
    variant = built(timing=timing(100), compilations=[compilation((90, 0.9, 0.1))])
    named = report(variant)
    for arguments, call in [
        (["w: float32[8, 4] cpu", "scale: 0.1"], "compiled(w, scale)"),
        ([], "compiled(...)"),
    ]:
        named.subject.arguments = arguments
        result = verdict(variant, named)
        assert result is not None
        [code] = [item.code for item in result.helps if "autocast" in item.code]
        assert code.endswith(call)


def test_the_largest_part_is_called_most_only_where_it_is() -> None:
    for guards, said in [(12.0, "; most of that"), (9.0, "; the largest part of that")]:
        variant = built(layers=[layers(24.7, 4.4, guards=guards, wrapper=8.3)])
        result = verdict(variant, report(variant))
        assert result is not None
        assert said in result.evidence


def test_layers_that_do_not_add_up_are_no_evidence() -> None:
    disturbed = layers(40.2, 5.6, guards=3729.0)
    disturbed.agrees = False
    variant = built(layers=[disturbed])
    result = verdict(variant, report(variant))
    assert result is not None
    assert "3729" not in result.evidence


def test_kernels_longer_than_the_call_are_a_conflict() -> None:
    agreeing = built(timing=timing(100), compilations=[compilation((90, 0.9, 0.1))])
    profiled_under_load = built(
        "loaded", timing=timing(21.6), compilations=[compilation((19_500, 0.0, 0.0), (9, 0.1, 0.1))]
    )
    for launch in (kernel.launches[0] for kernel in profiled_under_load.compilations[0].kernels):
        launch.variant = "loaded"
    (conflict,) = overview(report(agreeing, profiled_under_load)).conflicts
    assert conflict.variant == "loaded"
    for figure in ("19.5 ms", "21.6 µs", "kernel_0 alone"):
        assert figure in conflict.text


def test_a_printed_report_warns_of_kernels_longer_than_the_call() -> None:
    variant = built(timing=timing(64.6), compilations=[compilation((215, 0.1, 0.1))])
    for parts in ([], [layers(64.6, 40.9)]):
        variant.layers = parts
        printed = " ".join(text.render(report(variant)).split())
        assert printed.count("Kernel times and latency do not agree: 1 measured launch") == 1


def test_a_damaged_latency_without_kernels_is_no_conflict() -> None:
    assert not overview(report(built(timing=timing(-100)))).conflicts


def node(name: str, target: str, dtype: str | None, *inputs: str) -> Node:
    op = "call_function" if inputs else "placeholder"
    return Node(name=name, op=op, target=target, dtype=dtype, inputs=list(inputs))


@pytest.mark.parametrize("bound", ["memory", "compute"])
@pytest.mark.parametrize(
    ("nodes", "lower"),
    [
        # A node that returns a tuple has no type of its own.
        (
            [
                node("q", "q", "bfloat16"),
                node("flash", "torch.ops.aten._flash_attention_forward.default", None, "q"),
                node("out", "operator.getitem", "bfloat16", "flash"),
            ],
            False,
        ),
        (
            [
                node("q", "q", "float32"),
                node("flash", "torch.ops.aten._flash_attention_forward.default", None, "q"),
            ],
            True,
        ),
        # Without products, that of all operators counts.
        ([node("x", "x", "bfloat16"), node("y", "torch.ops.aten.sin.default", None, "x")], False),
        ([node("x", "x", "float32"), node("y", "torch.ops.aten.sin.default", None, "x")], True),
    ],
)
def test_lower_precision_is_advised_only_where_floats_are_not_short_yet(
    nodes: list[Node], lower: bool, bound: str
) -> None:
    shares = (90.0, 0.9, 0.1) if bound == "memory" else (90.0, 0.1, 0.9)
    compiled = compilation(shares)
    compiled.graphs["inference"] = Graph(stage="inference", text="", nodes=nodes)
    variant = built(timing=timing(100), compilations=[compiled])
    result = verdict(variant, report(variant))
    assert result is not None
    assert result.bound == bound
    assert ("Lower precision" in [item.what for item in result.helps]) == lower


@pytest.mark.parametrize(
    ("rates", "why_memory", "why_compute"),
    [
        (
            {"float32": 100e9, "bfloat16": 214e9},
            "Moves half as many bytes; results are less precise.",
            (
                "Matrix products are up to 2.1\u00d7 faster in bfloat16, by the peak rates "
                "measured here; results are less precise."
            ),
        ),
        # As fast: half the bytes help, arithmetic does not.
        (
            {"float32": 100e9, "bfloat16": 110e9},
            "Moves half as many bytes; results are less precise.",
            "",
        ),
        # Emulated, or not measured.
        ({"float32": 100e9, "bfloat16": 60e9}, "", ""),
        ({}, "", ""),
    ],
)
def test_bfloat16_is_advised_on_a_cpu_by_its_measured_rates(
    rates: dict[str, float], why_memory: str, why_compute: str
) -> None:
    for shares, why in (((90.0, 0.9, 0.1), why_memory), ((90.0, 0.1, 0.9), why_compute)):
        variant = built(timing=timing(100), compilations=[compilation(shares)])
        of_report = report(variant)
        of_report.peaks[0].operations_per_s = rates
        result = verdict(variant, of_report)
        assert result is not None
        said = [item.why for item in result.helps if item.what == "Lower precision"]
        assert said == ([why] if why else [])


def test_kernels_whose_data_are_in_a_cache_are_not_memory_bound() -> None:
    compiled = compilation((90.0, 0.93, 0.1))
    variant = built(timing=timing(100), compilations=[compiled])
    result = verdict(variant, report(variant))
    assert result is not None
    assert result.bound == "memory"
    (launch,) = (launch for kernel in compiled.kernels for launch in kernel.launches)
    assert launch.time is not None
    launch.time.cached = True
    result = verdict(variant, report(variant))
    assert result is not None
    assert result.bound == "unclear"
    assert "bandwidth" not in result.evidence


@pytest.mark.parametrize(
    ("rates", "arguments", "what", "code"),
    [
        (
            {"float16": 3e9, "float32": 100e9, "bfloat16": 210e9},
            ["x: float16[64, 128] cpu"],
            "Compute in bfloat16 instead of float16",
            "compiled(x.to(torch.bfloat16))",
        ),
        # Without instructions for either, float32 is faster than both.
        (
            {"float16": 3e9, "float32": 100e9, "bfloat16": 50e9},
            ["x: float16[64, 128] cpu", "mask: bool[64] cpu"],
            "Compute in float32 instead of float16",
            "compiled(x.to(torch.float32), mask)",
        ),
        # Autocast computes in float16.
        (
            {"float16": 3e9, "float32": 100e9, "bfloat16": 210e9},
            ["x: float32[64, 128] cpu"],
            "Compute in bfloat16 instead of float16",
            'with torch.autocast("cpu", dtype=torch.bfloat16):\n    compiled(x)',
        ),
        ({"float16": 400e9, "float32": 100e9, "bfloat16": 400e9}, [], "", ""),
        ({"float32": 100e9, "bfloat16": 210e9}, [], "", ""),
    ],
)
def test_another_dtype_is_advised_where_the_device_is_slow_at_float16(
    rates: dict[str, float], arguments: list[str], what: str, code: str
) -> None:
    compiled = compilation((90.0, 0.1, 0.9))
    nodes = [node("x", "x", "float16"), node("mm", "torch.ops.aten.mm.default", "float16", "x")]
    compiled.graphs["inference"] = Graph(stage="inference", text="", nodes=nodes)
    variant = built(timing=timing(100), compilations=[compiled])
    of_report = report(variant)
    of_report.subject.arguments = arguments
    of_report.peaks[0].operations_per_s = rates
    result = verdict(variant, of_report)
    assert result is not None
    first = [(item.what, item.code) for item in result.helps if item.what.startswith("Compute in")]
    assert first == ([(what, code)] if what else [])


def test_a_shorter_dtype_is_not_advised_for_float64() -> None:
    compiled = compilation((90.0, 0.1, 0.9))
    nodes = [node("x", "x", "float64"), node("mm", "torch.ops.aten.mm.default", "float64", "x")]
    compiled.graphs["inference"] = Graph(stage="inference", text="", nodes=nodes)
    variant = built(timing=timing(100), compilations=[compiled])
    of_report = report(variant)
    of_report.peaks[0].operations_per_s = {"float64": 50e9, "float32": 100e9, "bfloat16": 210e9}
    result = verdict(variant, of_report)
    assert result is not None
    assert not [item.what for item in result.helps if "float64" in item.what]
