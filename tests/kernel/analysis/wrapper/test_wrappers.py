"""Generated code taken apart, and what stands where in it."""

from __future__ import annotations

import gzip
import json

import pytest
from compilescope.analysis.wrapper.regions import scan, to_regions
from compilescope.analysis.wrapper.size_checks import size_checks
from compilescope.analysis.wrapper.split import direction_of, split
from compilescope.analysis.wrapper.steps import steps_of
from hypothesis import given, settings
from hypothesis import strategies as st

CASES = ["breaks", "cached", "fallbacks", "mlp", "recompiles", "training"]

SHELL = """import torch

cpp_wrapper_src = (
r{quotes}{cpp}{quotes}
)
{between}
inductor_entry = load(cpp_wrapper_src)
"""

lines = st.lists(st.sampled_from(["int x;", "", "// it's", '"quoted"', "}", "  y();"]), max_size=8)


@given(lines, st.sampled_from(["'''", '"""']), st.none() | lines, lines)
@settings(max_examples=200)
def test_splitting_loses_nothing(body, quotes, kernels, between):
    cpp = "\nvoid f();\n" + "\n".join(body) + "\n"
    middle = "\n".join(between)
    if kernels is not None:
        middle += (
            f"\nkernel_src = (\nr{quotes}\nvoid k();\n" + "\n".join(kernels) + f"\n{quotes}\n)"
        )
    text = SHELL.format(quotes=quotes, cpp=cpp, between=middle)
    parts = split(text)
    assert parts.join() == text
    assert parts.python is None
    assert parts.shell is not None
    assert parts.cpp is not None
    assert "void f();" in parts.cpp
    assert "void f();" not in parts.shell
    assert ("void k();" in parts.cpp) == (kernels is not None)
    assert "void k();" not in parts.shell
    assert "lines of C++" in parts.shell


@given(st.text(max_size=400))
@settings(max_examples=200)
def test_any_text_is_survived(text):
    for given_text in (text, f"cpp_wrapper_src = (\nr'''{text}"):
        parts = split(given_text)
        assert parts.join() == given_text
        for artifact in ("python", "cpp"):
            to_regions(scan(given_text, artifact), "inference")


def codes(records, case, wrapper):
    return [
        record.payload
        for record in records(case, wrapper)
        if record.event == "inductor_output_code"
    ]


@pytest.mark.parametrize("case", CASES)
def test_real_code_is_split_without_loss(case, records):
    for text in codes(records, case, "python"):
        assert split(text) == (text, None, None, ())
    for text in codes(records, case, "cpp"):
        parts = split(text)
        assert parts.join() == text
        assert parts.cpp is not None
        assert "inductor_entry_impl" in parts.cpp
        assert parts.shell is not None
        assert "load_pybinding" in parts.shell
        assert "inductor_entry_impl" not in parts.shell


@pytest.mark.parametrize("wrapper", ["python", "cpp"])
@pytest.mark.parametrize("case", CASES)
def test_regions_are_what_they_say(case, wrapper, records):
    for text in codes(records, case, wrapper):
        parts = split(text)
        code = parts.python or parts.cpp or ""
        regions = to_regions(scan(code, wrapper), "inference")
        rows = code.split("\n")
        keys = [region.key for region in regions]
        assert len(keys) == len(set(keys))
        assert [region.start for region in regions] == sorted(region.start for region in regions)
        kinds = {region.kind for region in regions}
        assert {"entry", "launch", "guard", "return"} <= kinds
        kernels = {region.kernel for region in regions if region.kind == "kernel"}
        for region in regions:
            assert 1 <= region.start <= region.end <= len(rows)
            inside = "\n".join(rows[region.start - 1 : region.end])
            if region.kind in ("launch", "kernel"):
                assert region.kernel
                assert region.kernel in inside
            if region.kind == "launch" and region.kernel.startswith("cpp_fused"):
                assert region.kernel in kernels
            if region.kind in ("alloc", "free", "guard"):
                assert region.label in inside
        handles = [row for row in rows if "[Provenance debug handles]" in row]
        launches = [region for region in regions if region.kind == "launch"]
        assert len(launches) == len(handles)


def test_directions(records):
    directions = [direction_of(text) for text in codes(records, "training", "python")]
    assert directions == ["forward", "backward"]
    assert [direction_of(text) for text in codes(records, "training", "cpp")] == directions
    assert [direction_of(text) for text in codes(records, "mlp", "python")] == ["inference"]


PARTITIONS = '''
async_compile = AsyncCompile()
k0 = async_compile.triton('k0', """
@triton.jit
def k0(x):
    pass
""", device_str='cuda')

def partition_0(args):
    a, = args
    k0.run(a, 1, stream=stream0)
    return (a, )

def partition_1(args):
    a, = args
    extern_kernels.mm(a, a, out=a)
    return (a, )

class Runner:
    def __init__(self, partitions):
        self.partitions = partitions

    def call(self, args):
        a, = args
        (b,) = self.partitions[1](args)
        c = torch.ops.aten.sort.stable(b)
        (d,) = self.partitions[0](args)
        return (d, )
'''


def test_launches_in_partitions_count_by_when_they_run():
    regions = to_regions(scan(PARTITIONS, "python"), "inference")
    launches = {region.kernel: region.key for region in regions if region.kind == "launch"}
    assert launches == {
        "extern_kernels.mm": "launch:inference:1",
        "torch.ops.aten.sort.stable": "launch:inference:2",
        "k0": "launch:inference:3",
    }


LAZY = """
static CUfunction triton_poi_fused_0 = nullptr;
static const char* triton_poi_fused_0_source = R"TRITON(
import triton
@triton.jit
def triton_poi_fused_0(x):
    pass
)TRITON";
static LazyKernelCompileResult triton_poi_fused_0_result;
template <typename x_type_>
static inline void call_triton_poi_fused_0(
    const x_type_& x,
    cudaStream_t stream_
){
    launchKernel(triton_poi_fused_0, 1, 1, 1);
}

void inductor_entry_impl(
    AtenTensorHandle* input_handles) {
    ensure_triton_kernel_compiles_started();
    call_triton_poi_fused_0(arg0_1, stream0);
    output_handles[0] = arg0_1.release();
} // inductor_entry_impl
"""


LAZY_CALL = LAZY.replace("static inline", "static __attribute__((noinline))")
LAZY_CALL = LAZY_CALL.replace("import triton", "async_compile.triton('k', '''\nimport triton")
LAZY_CALL = LAZY_CALL.replace(")TRITON", "''', device_str='cuda')\n\n)TRITON")


@pytest.mark.parametrize("text", [LAZY, LAZY_CALL], ids=["source", "call"])
def test_triton_sources_inside_the_cpp_wrapper(text):
    marks = scan(text, "cpp")
    (kernel,) = [mark for mark in marks if mark.kind == "kernel"]
    assert kernel.kernel == "triton_poi_fused_0"
    assert kernel.language == "triton"
    assert kernel.source is not None
    first, last = kernel.source
    source = text.split("\n")[first - 1 : last]
    assert source[0] == "import triton"
    assert source[-1] == "    pass"
    (launch,) = [mark for mark in marks if mark.kind == "launch"]
    assert launch.kernel == "triton_poi_fused_0"
    assert launch.call > kernel.end


def test_the_recordings_name_no_machine(data):
    for path in data.glob("cases/*/*.json.gz"):
        text = gzip.decompress(path.read_bytes()).decode()
        assert json.loads(text)
        assert "/site-packages/torch" in text
        for folder in ("/home/", "/root/", "/tmp/", "/Users/"):
            assert folder not in text


GROUPED = """class Runner:
    def call(self, args):
        arg0_1, arg1_1 = args
        args.clear()
        assert_size_stride_grouped((arg0_1, arg1_1), ((8, 16), (s7, )), ((16, 1), (1, )), 'input')
        buf0 = empty_strided_cpu((8, 16), (16, 1), torch.float32)
        extern_kernels.mm(arg0_1, arg1_1, out=buf0)
        assert_tensor_metadata(buf0, (8, 16), (16, 1), torch.float32, 'torch.ops.my.op.default')
        return (buf0, )
"""


def test_a_check_of_several_tensors_is_a_region_of_each():
    # As torch 2.15 writes it; its C++ wrapper checks each tensor in a line of its own.
    regions = to_regions(scan(GROUPED, "python"), "inference")
    guards = [region for region in regions if region.kind == "guard"]
    assert [(guard.key, guard.start, guard.end) for guard in guards] == [
        ("guard:inference:arg0_1", 5, 5),
        ("guard:inference:arg1_1", 5, 5),
        ("guard:inference:buf0", 8, 8),
    ]
    steps = steps_of(GROUPED, "python", regions)
    assert [step.label for step in steps if step.kind == "check"] == ["arg0_1, arg1_1", "buf0"]


@pytest.mark.parametrize(
    ("line", "result"),
    [
        (
            GROUPED.split("\n")[4].strip(),
            [
                ("arg0_1", ["8", "16"], ["16", "1"], True),
                ("arg1_1", ["s7"], ["1"], True),
            ],
        ),
        (
            'if (checked()) { assert_size_stride(u, {2L, s0}, {s0, 1L}, "input"); }',
            [("u", ["2L", "s0"], ["s0", "1L"], True)],
        ),
        ("assert_size_stride(buf1, (), (), 'torch.ops.my.op')", [("buf1", [], [], False)]),
        ("assert_alignment(buf1, 16, 'torch.ops.my.op')", []),
        ("assert_size_stride = torch._C._dynamo.guards.assert_size_stride", []),
    ],
)
def test_what_a_line_checks(line, result):
    assert [tuple(size_check) for size_check in size_checks(line)] == result


TEMPLATE = """#include <torch/csrc/inductor/cpp_wrapper/cpu.h>
extern "C"
void cpp_flex_0(const float* query, float* output);
void inductor_entry_impl(
    AtenTensorHandle* input_handles,
    AtenTensorHandle* output_handles) {
    auto arg0_1 = std::move(inputs[0]);
    cpp_flex_0((const float*)(arg0_1.data_ptr()), (float*)(buf0.data_ptr()));
    output_handles[0] = buf0.release();
} // inductor_entry_impl

#include <torch/csrc/inductor/cpp_prefix.h>
#include <ATen/native/CPUBlas.h>

template <typename scalar_t>
static inline scalar_t* cpp_flex_0_conditional_data_ptr(scalar_t* ptr) {
  return ptr;
}

extern "C"
void cpp_flex_0(const float* query, float* output)
{
  int x = 0;
}
"""


def test_a_kernel_of_a_cpp_template_is_found():
    marks = scan(TEMPLATE, "cpp")
    (kernel,) = [mark for mark in marks if mark.kind == "kernel"]
    assert kernel.kernel == "cpp_flex_0"
    lines = TEMPLATE.split("\n")
    assert lines[kernel.start - 1] == "#include <torch/csrc/inductor/cpp_prefix.h>"
    assert lines[kernel.call - 1] == 'extern "C"'
    assert lines[kernel.end - 1] == "}"
    (launch,) = [mark for mark in marks if mark.kind == "launch"]
    assert launch.kernel == "cpp_flex_0"
