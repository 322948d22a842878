"""What a variant changed: kernels paired and compared, and the rest."""

from __future__ import annotations

import compilescope as cs
import pytest
import torch
from compilescope.analysis.changes.kernel_pairs import pair_kernels
from compilescope.analysis.changes.kernels import count_lines
from compilescope.analysis.changes.launches import launch_settings, launching
from compilescope.analysis.changes.reports import report_difference
from compilescope.analysis.changes.variants import baseline_of, compare
from compilescope.analysis.wrapper.kernel_bodies import body, body_lines
from compilescope.report import (
    Compilation,
    Guard,
    Kernel,
    OutputError,
    Problem,
    Report,
    Subject,
    VariantReport,
)

HELPED = """
@triton.jit
def _helper0(a, b):
    return a + b

@triton_heuristics.persistent_reduction(
    size_hints={'x': 64},
    inductor_meta={'kernel_name': 'KERNEL', 'store_cubin': STORED},
)
@triton.jit
def KERNEL(in_ptr0):
    tmp0 = _helper0(1, 2)
"""

HINTED = """
@triton_heuristics.persistent_reduction(
    size_hints={'x': 64, 'r0_': 64},
    reduction_hint=ReductionHint.INNER,
    filename=__file__,
    triton_meta={'signature': {'in_out_ptr0': '*fp32', 'in_ptr0': '*fp32', 'xnumel': 'i32',
                               'r0_numel': 'i32', 'XBLOCK': 'constexpr'},
                 'device': DeviceProperties(type='cuda', index=0, cc=90, warp_size=32),
                 'constants': {}, 'configs': CONFIGS},
    inductor_meta={'kernel_name': 'triton_per_fused_softmax_sin_0', 'store_cubin': STORED},
)
@triton.jit
def triton_per_fused_softmax_sin_0(
    in_out_ptr0, in_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr
):
    xnumel = 64
"""
"""As torch 2.15 writes it for a GPU, less what does not matter here."""


def fused(x: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    y = torch.softmax(torch.nn.functional.gelu(x @ weight), -1)
    return y, y.cumsum(0)


def two_sums(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x.sum(0), x.sum(1)


@pytest.fixture(scope="module")
def report() -> Report:
    return cs.inspect(
        fused,
        (torch.randn(64, 32), torch.randn(32, 16)),
        variants=[
            cs.Variant(),
            cs.Variant(cpp_wrapper=True),
            cs.Variant(dynamic=True),
            cs.Variant(fullgraph=True),
            cs.Variant(backend="aot_eager"),
            cs.Variant(mode="reduce-overhead"),
        ],
        run=False,
    )


def test_kernels_stay_the_same_under_the_cpp_wrapper(report: Report) -> None:
    changes = report.variant("cpp").changes
    assert changes is not None
    assert (changes.baseline, changes.switches) == ("python", ["cpp_wrapper"])
    outcomes = {kernel.kernel: (kernel.outcome, kernel.lines) for kernel in changes.kernels}
    generated = {name: how for name, how in outcomes.items() if name.startswith("cpp_fused")}
    assert generated
    assert set(generated.values()) == {("identical", 0)}
    called = {
        kernel.baseline: kernel.outcome for kernel in changes.kernels if kernel.language == "extern"
    }
    assert called["extern_kernels.mm"] == "renamed"
    count = len(changes.kernels)
    assert changes.summary == (
        f"Compared with python: all {count} kernels are identical; "
        "the wrapper is C++ instead of Python."
    )


def test_a_change_of_sizes_is_told_in_kernels_graphs_and_guards(report: Report) -> None:
    changes = report.variant("python dynamic").changes
    assert changes is not None
    [differing] = [kernel for kernel in changes.kernels if kernel.outcome == "differs"]
    assert differing.lines > 0
    assert differing.why.startswith("Sizes are arguments here (ks0")
    by_name = {change.kind: change for change in changes.changes}
    assert (by_name["setting"].baseline, by_name["setting"].here) == ("automatic", "on")
    assert "64" in by_name["graph"].baseline
    assert "s" in by_name["graph"].here
    assert {"guards", "wrapper"} <= by_name.keys()


def test_what_changed_nothing_says_so(report: Report) -> None:
    changes = report.variant("python fullgraph").changes
    assert changes is not None
    assert [change.what for change in changes.changes] == ["fullgraph"]
    assert changes.summary.endswith("kernels are identical; the wrapper is the same.")


def test_a_mode_says_what_of_it_is_not_in_effect(report: Report) -> None:
    changes = report.variant("reduce-overhead").changes
    assert changes is not None
    assert "not as requested: CUDA graphs" in changes.summary
    mode = changes.changes[0]
    assert (mode.what, mode.here) == ("mode", "reduce-overhead")
    assert "CPU" in mode.why


def test_another_back_end_lacks_what_is_inductors(report: Report) -> None:
    changes = report.variant("backend=aot_eager").changes
    assert changes is not None
    assert "the kernels" in changes.only_inductor
    assert changes.backend_words.endswith("The backend aot_eager does not produce them.")
    assert not changes.kernels
    assert "generates no kernels and no wrapper" in changes.summary


def test_the_first_variant_is_compared_with_none(report: Report) -> None:
    assert report.variant("python").changes is None


def test_changes_are_kept_in_a_file(report: Report, tmp_path: object) -> None:
    path = report.save(f"{tmp_path}/report.json")
    assert cs.load(path).variant("cpp").changes == report.variant("cpp").changes


@pytest.mark.slow
def test_a_fusion_that_is_off_under_the_cpp_wrapper() -> None:
    report = cs.inspect(
        two_sums,
        (torch.empty(16384, 1024),),
        variants=[
            cs.Variant(target="h100"),
            cs.Variant(target="h100", cpp_wrapper=True),
        ],
        run=False,
    )
    changes = report.variants[1].changes
    assert changes is not None
    if "mix-order reduction" not in str(report.variants[1].effective):
        pytest.skip("this torch does mix-order reduction under both wrappers, or under none")
    kernels = changes.kernels
    assert {kernel.outcome for kernel in kernels} == {"differs", "added"}
    for kernel in kernels:
        assert "mix-order reduction for the Python wrapper only" in kernel.why
    [setting] = [change for change in changes.changes if change.what == "cpp_wrapper"]
    assert "mix-order reduction" in setting.why


def test_a_body_leaves_out_how_it_is_launched() -> None:
    result, other = (
        Kernel(
            name=name,
            language="triton",
            source=HELPED.replace("KERNEL", name).replace("STORED", stored),
        )
        for name, stored in (("triton_a_0", "True"), ("triton_b_1", "False"))
    )
    assert body(result) == body(other)
    assert count_lines(result, other) == 0
    assert "tmp0 = _helper0(1, 2)" in body_lines(result)
    left, right = launch_settings(result.source), launch_settings(other.source)
    assert {name for name in left if left[name] != right[name]} == {"store_cubin"}
    assert left["heuristic"] == "persistent_reduction"
    assert launch_settings("@triton.jit\ndef broken(") == {}


ALIGNED = "[['tt.divisibility', 16]]"
PYTHON = f"[{{(0,): {ALIGNED}, (1,): {ALIGNED}, (2,): {ALIGNED}, (3,): {ALIGNED}}}]"
CPP = f"[{{(0,): {ALIGNED}, (2,): {ALIGNED}, (3,): {ALIGNED}}}]"


def hinted(configs: str, *, stored: bool = False) -> Kernel:
    source = HINTED.replace("CONFIGS", configs).replace("STORED", str(stored))
    return Kernel(name="triton_per_fused_softmax_sin_0", language="triton", source=source)


def test_pointers_that_only_one_side_assumes_to_be_aligned_are_named() -> None:
    python, cpp = hinted(PYTHON), hinted(CPP, stored=True)
    aligned = "alignment of in_ptr0 to 16 bytes is assumed only"
    assert launching(python, cpp) == (
        f"The same code; {aligned} there; torch launches it with store_cubin = True for False."
    )
    assert launching(cpp, python) == (
        f"The same code; {aligned} here; torch launches it with store_cubin = False for True."
    )
    first, none = hinted(f"[{{(0,): {ALIGNED}}}]"), hinted("[{}]")
    assert launching(hinted(f"[{{(1,): {ALIGNED}}}]"), first) == (
        "The same code; alignment of in_out_ptr0 to 16 bytes is assumed only here; "
        f"{aligned} there."
    )
    assert launching(none, first).startswith("The same code; alignment of in_out_ptr0 to 16 bytes")
    assert launching(python, hinted(PYTHON)) == ""


@pytest.mark.parametrize(
    "configs",
    [
        f"[{{(0,): {ALIGNED}}}]",  # A size, too.
        PYTHON.replace("16", "8", 1),
        PYTHON.replace("16]", "16], ['tt.pointer_range', 32]", 1),
        "[AttrsDescriptor.from_dict({'arg_properties': {'tt.divisibility': (0,)}})]",
    ],
)
def test_other_hints_are_told_as_they_are_written(configs: str) -> None:
    result = f"The same code; torch launches it with configs = {configs} for {PYTHON}."
    assert launching(hinted(PYTHON), hinted(configs)) == result


def test_kernels_are_paired_by_what_is_surest() -> None:
    def kernel(name: str, source: str, *nodes: str) -> Kernel:
        return Kernel(name=name, language="cpp", source=source, nodes=list(nodes))

    baseline = [kernel("a", "1", "x"), kernel("b", "2", "y", "z"), kernel("c", "3", "w")]
    here = [kernel("d", "2", "y", "z"), kernel("e", "4", "x", "w", "v"), kernel("f", "5", "u")]
    named = [
        tuple(kernel.name if kernel else "" for kernel in pair)
        for pair in pair_kernels(baseline, here)
    ]
    assert named == [("b", "d"), ("a", "e"), ("", "f"), ("c", "")]


def test_the_baseline_is_the_earlier_variant_that_is_most_alike() -> None:
    def variant(name: str, **switches: object) -> VariantReport:
        return VariantReport(
            name=name,
            requested=cs.Variant(**switches),  # type: ignore[arg-type]
            compilations=[Compilation(id="0/0")],
        )

    variants = [
        variant("eager", backend=None),
        variant("python"),
        variant("cpp", cpp_wrapper=True),
        variant("dynamic", dynamic=True),
        variant("cpp dynamic", dynamic=True, cpp_wrapper=True),
        variant("on h100", target="h100"),
        variant("cpp on h100", target="h100", cpp_wrapper=True),
        VariantReport(name="failed", requested=cs.Variant(mode="max-autotune")),
    ]
    results = [baseline_of(variant, variants) for variant in variants]
    assert [kernel.name if kernel else "" for kernel in results] == [
        *("", "", "python", "python", "dynamic", "", "on h100", "")
    ]


def test_a_variant_that_failed_without_code_is_not_compared() -> None:
    variants = [
        VariantReport(
            name=name,
            requested=cs.Variant(cpp_wrapper=name == "cpp"),
            compilations=[Compilation(id="0/0")],
        )
        for name in ("python", "cpp")
    ]
    python, cpp = variants
    assert baseline_of(cpp, variants) is python
    python.stage = "failed"
    assert baseline_of(cpp, variants) is None
    # Its kernels could not be built, but the code is there.
    python.compilations[0].code.python = "def call(args): ..."
    assert baseline_of(cpp, variants) is python
    cpp.stage = "failed"
    assert baseline_of(cpp, variants) is None


@pytest.mark.parametrize(
    ("guard", "names"),
    [
        ("G['{}']() is not None", ("__optimizer_10_20_c27", "__optimizer_10_30_c64")),
        ("___check_obj_id(G['{}'], 7)", ("_10_c1", "_10_c12")),
        # A class is another object in the process that generates the code of other settings.
        ("___check_obj_id(G['F'].forward.__code__, {}), type=<class 'code'>", ("7", "8")),
    ],
)
def test_an_installed_name_or_an_id_makes_no_guard_differ(
    guard: str, names: tuple[str, str]
) -> None:
    python, cpp = (
        VariantReport(
            name=name,
            requested=cs.Variant(cpp_wrapper=name == "cpp"),
            compilations=[
                Compilation(id="0/0", guards=[Guard(expression=guard.format(installed))])
            ],
        )
        for name, installed in zip(("python", "cpp"), names, strict=True)
    )
    assert [change.kind for change in compare(python, cpp).changes] == ["setting"]


def test_torchs_count_of_builtins_makes_no_guard_differ() -> None:
    # Each compilation in a process gets the next number.
    guard = "___check_obj_id(G['__builtins_dict___{}']['{}'], 7)"
    python, cpp = (
        VariantReport(
            name=name,
            requested=cs.Variant(cpp_wrapper=name == "cpp"),
            compilations=[
                Compilation(id="0/0", guards=[Guard(expression=guard.format(number, "iter"))])
            ],
        )
        for name, number in (("python", 2), ("cpp", 6))
    )
    assert [change.kind for change in compare(python, cpp).changes] == ["setting"]
    cpp.compilations[0].guards[0].expression = guard.format(6, "len")
    difference = compare(python, cpp)
    assert "guards differ" in difference.summary
    assert difference.changes[1].here == (
        "1, only here: ___check_obj_id(G['__builtins_dict__']['len'], …)"
    )


def test_a_variant_that_fails_now_is_named() -> None:
    works = VariantReport(name="cpp", requested=cs.Variant(cpp_wrapper=True))
    fails = VariantReport(
        name="cpp",
        requested=works.requested,
        stage="failed",
        problems=[Problem(severity="error", what="No compiler.\nmore")],
    )
    before, after = (
        Report(subject=Subject(id="s", name="f"), variants=[variant]) for variant in (works, fails)
    )
    assert report_difference(before, after).variants[0].new == ["failed: No compiler."]
    assert report_difference(after, before).variants[0].gone == ["failed: No compiler."]
    assert not report_difference(after, after).variants[0].new


def test_results_that_were_not_compared_are_no_figure() -> None:
    def figures(before: list[OutputError], after: list[OutputError]) -> set[str]:
        reports = [
            Report(
                subject=Subject(id="s", name="f"),
                variants=[VariantReport(name="cpp", requested=cs.Variant(), accuracy=errors)],
            )
            for errors in (before, after)
        ]
        (variant,) = report_difference(*reports).variants
        return {figure.name for figure in variant.figures}

    right, wrong = (
        OutputError("out", "float32", 1.0, 1.0, 0.1, 0.1, ok=ok) for ok in (True, False)
    )
    assert "wrong results" not in figures([], [])
    assert "wrong results" not in figures([], [right])
    assert "wrong results" in figures([right], [right])
    assert "wrong results" in figures([], [wrong])
