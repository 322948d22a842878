"""The launches of both wrappers find each other."""

from __future__ import annotations

import pytest
from compilescope.analysis.assemble import assemble
from compilescope.analysis.wrapper.launch_pairs import operator, pair
from compilescope.capture.parse_log import read
from compilescope.report import Code, Compilation, Kernel, Launch, Region, SourceLine

CASES = ["breaks", "fallbacks", "mlp", "recompiles", "training"]


def launches(compilation: Compilation, artifact: str) -> list[Region]:
    codes = [compilation.code, compilation.code.backward]
    return [
        region
        for code in codes
        if code is not None
        for region in code.regions.get(artifact, ())
        if region.kind == "launch"
    ]


def paired(left: list[Compilation], right: list[Compilation]) -> list[tuple[Region, Region | None]]:
    """Each launch of both wrappers with its partner."""
    results: list[tuple[Region, Region | None]] = []
    for python, cpp in zip(left, right, strict=True):
        pair(python, cpp)
        ours, theirs = launches(python, "python"), launches(cpp, "cpp")
        for some, others in ((ours, theirs), (theirs, ours)):
            partners = {region.key: region for region in others}
            assert len(partners) == len(others)
            results += [(region, partners.get(region.key)) for region in some]
    return results


def test_nearly_every_launch_has_a_partner_and_a_source_line(compiled):
    pairs = [
        entry for case in CASES for entry in paired(compiled(case, "python"), compiled(case, "cpp"))
    ]
    assert len(pairs) > 60
    whole = [region for region, partner in pairs if partner is not None and region.sources]
    assert len(whole) >= 0.95 * len(pairs)


@pytest.mark.parametrize("case", CASES)
def test_partners_do_the_same(case, compiled):
    for region, partner in paired(compiled(case, "python"), compiled(case, "cpp")):
        assert partner is not None
        ours, theirs = operator(region.kernel or ""), operator(partner.kernel or "")
        assert ours == theirs or ours.startswith(theirs) or theirs.startswith(ours)
        assert region.nodes == partner.nodes


@pytest.mark.parametrize(("name", "count"), [("mlp_b1", 24), ("train_mlp", 83)])
def test_gpu_launches_pair_without_debug_handles(name, count, data):
    python, cpp = (
        assemble(
            read(data / "traces" / f"h200-torch2.11-{name}_{wrapper}.log.gz").records,
            variant=wrapper,
        )
        for wrapper in ("python", "cpp")
    )
    results = paired(python, cpp)
    assert len(results) == 2 * count
    for region, partner in results:
        assert partner is not None
        assert operator(region.kernel or "") == operator(partner.kernel or "")
    for kernel in (*python[0].kernels, *cpp[0].kernels):
        assert {launch.artifact for launch in kernel.launches} == {"python", "cpp"}
        if kernel.language == "triton":
            assert "@triton.jit" in kernel.source
            assert kernel.ops


def test_kernels_get_the_lines_of_both_wrappers_once(compiled):
    python, cpp = compiled("mlp", "python")[0], compiled("mlp", "cpp")[0]
    pair(python, cpp)
    pair(python, cpp)
    for compilation, own in ((python, "python"), (cpp, "cpp")):
        for kernel in compilation.kernels:
            ours = [launch for launch in kernel.launches if launch.artifact == own]
            assert ours
            assert len(kernel.launches) == 2 * len(ours)
            assert {launch.variant for launch in kernel.launches} == {"python", "cpp"}
    text = (cpp.code.cpp or "").split("\n")
    for kernel in cpp.kernels:
        for launch in kernel.launches:
            if launch.artifact == "cpp":
                assert f"{kernel.name}(" in text[launch.line - 1]


def compilation(artifact: str, calls: list[tuple[str, list[str]]]) -> Compilation:
    """A wrapper that launches kernels (name, nodes), one a line; ``x…`` are library calls."""
    kernels: dict[str, Kernel] = {}
    regions = []
    for number, (name, nodes) in enumerate(calls, start=1):
        key = f"launch:inference:#{number}"
        regions.append(
            Region(kind="launch", start=number, end=number, key=key, kernel=name, nodes=nodes)
        )
        extern = name.startswith(("extern", "aoti"))
        kernel = kernels.setdefault(
            name,
            Kernel(
                name=name,
                language="extern" if extern else "cpp",
                source="" if extern else f'extern "C"  void  {name}(float* a)\n{{ body({nodes}) }}',
            ),
        )
        kernel.launches.append(
            Launch(artifact=artifact, variant=artifact, line=number, end=number, key=key)
        )
    text = "\n".join(name for name, _ in calls)
    code = Code(regions={artifact: regions})
    setattr(code, artifact, text)
    return Compilation(id="0/0", code=code, kernels=list(kernels.values()))


def partners(left: Compilation, right: Compilation) -> list[tuple[int, int]]:
    pair(left, right)
    rows = {region.key: region.start for region in launches(right, "cpp")}
    return [
        (region.start, rows[region.key])
        for region in launches(left, "python")
        if region.key in rows
    ]


def test_a_fusion_off_in_one_wrapper_pairs_nothing_unlike():
    left = compilation("python", [("k0", ["a", "b"]), ("k1", ["c"]), ("k2", ["d"])])
    right = compilation("cpp", [("k0", ["a"]), ("k1", ["b"]), ("k2", ["c"]), ("k3", ["d"])])
    assert pair(left, right), "the keys are others"
    assert partners(left, right) == [(2, 3), (3, 4)]
    keys = [region.key for region in launches(left, "python") + launches(right, "cpp")]
    assert len(set(keys)) == 5


def test_without_nodes_bodies_and_operators_decide():
    left = compilation(
        "python", [("k0", []), ("extern_kernels.mm", []), ("extern_kernels.bmm", [])]
    )
    right = compilation("cpp", [("aoti_torch_cpu_mm_out", []), ("aoti_torch_cpu_bmm_out", [])])
    assert partners(left, right) == [(2, 1), (3, 2)]


def test_repeated_kernels_do_not_slide():
    """A missing launch shifts the numbers, and the next layer's kernel is the same text."""
    layer = ["extern_kernels.mm", "k0"]
    left = compilation("python", [(name, []) for name in ["k9", *layer * 3]])
    shims = ["aoti_torch_cpu_mm_out", "k0"]
    right = compilation("cpp", [(name, []) for name in shims * 3])
    assert partners(left, right) == [(number + 1, number) for number in range(1, 7)]


def test_keys_stay_where_launches_agree():
    left = compilation("python", [("k0", ["a"]), ("extern_kernels.mm", ["b"])])
    right = compilation("cpp", [("k0", ["a"]), ("aoti_torch_cuda_mm_out", ["b"])])
    assert not pair(left, right)
    assert partners(left, right) == [(1, 1), (2, 2)]
    assert launches(left, "python")[1].key == "launch:inference:#2"


def test_nothing_happens_without_a_cpp_wrapper():
    left = compilation("python", [("k0", ["a"])])
    pair(left, Compilation(id="0/0"))
    assert launches(left, "python")[0].key == "launch:inference:#1"


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("extern_kernels.addmm", "addmm"),
        ("aoti_torch_cpu_addmm_out", "addmm"),
        (
            "aoti_torch_cuda__scaled_dot_product_flash_attention",
            "scaled_dot_product_flash_attention",
        ),
        ("torch.ops.aten.linalg_qr.default", "linalg_qr"),
        ("aten.randint.low_out", "randint_low"),
        ("aten.sort.stable", "sort_stable"),
        ("aten.scatter_reduce_.two", "scatter_reduce_two"),
        ("aoti_torch_cpu_scatter_reduce_two_out", "scatter_reduce_two"),
        ("demo::scale", "scale"),
        ("cpp_fused_add_0", "cpp_fused_add_0"),
    ],
)
def test_operator(name, plain):
    assert operator(name) == plain


def test_source_lines_are_innermost_first(compiled):
    (result,) = compiled("mlp", "python")
    (gelu,) = [kernel for kernel in result.kernels if "gelu" in kernel.name]
    assert gelu.sources[0] == SourceLine(
        file="/case/program.py",
        line=19,
        function="forward",
        code="return x + self.down(functional.gelu(hidden))",
    )
    assert [line.line for line in gelu.sources] == [19, 30]


@pytest.mark.parametrize("wrapper", ["python", "cpp"])
def test_kernels_of_a_branch_come_from_the_branch(wrapper, compiled):
    """``add`` is a node of the graph and of the branch; they are not the same."""
    kernels = {kernel.name: kernel for kernel in compiled("fallbacks", wrapper)[0].kernels}
    branch = kernels["cpp_fused_add_gt_sin_4"]
    assert {"true_graph_0.add", "true_graph_0.sin"} <= set(branch.nodes)
    assert {line.line for line in branch.sources} == {24}
    assert kernels["cpp_fused_add_3"].nodes == ["add"]
