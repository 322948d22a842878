"""TMA descriptors: those that templates, generated and user-written kernels go through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import compilescope as cs
import msgspec
import pytest
import torch
from compilescope.analysis.kernels.descriptors import find_descriptors
from compilescope.report import Descriptor, Kernel, Report
from compilescope.targets import known_devices

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(known_devices.unavailable()), reason=known_devices.unavailable()),
]
pytest.importorskip("triton.tools.tensor_descriptor")

TEMPLATE = {
    "max_autotune_gemm": True,
    "max_autotune_gemm_backends": "TRITON",
    "triton.enable_persistent_tma_matmul": True,
    "test_configs.autotune_choice_name_regex": "persistent_tma",
}
WITH_SOURCES = ("python",) if torch.__version__.startswith("2.11.") else ("python", "cpp")
"""torch 2.11's C++ wrapper does not hold the sources of Triton kernels, which it builds before."""
GENERATED = {"triton.use_tensor_descriptor": True, "assume_aligned_inputs": True}


@pytest.fixture(scope="module")
def inspected() -> Callable[..., Report]:
    """Both wrappers' sources of a subject for an H100."""
    from .. import descriptor_subjects

    def both(name: str, options: dict[str, Any] | None = None, half: bool = False) -> Report:
        x = torch.randn(256, 512, dtype=torch.float16 if half else torch.float32)
        fn = getattr(descriptor_subjects, name)
        return cs.inspect(
            fn,
            (x,) if name.startswith("made") else (x, x.t().contiguous()),
            variants={
                wrapper: cs.Variant(
                    target="h100", cpp_wrapper=wrapper == "cpp", options=options or {}
                )
                for wrapper in ("python", "cpp")
            },
            run=False,
        )

    return both


def kernel_of(report: Report, variant: str) -> Kernel:
    kernels = report.compilation("0/0", variant).kernels
    return next(kernel for kernel in kernels if kernel.descriptors)


def test_a_template_builds_its_descriptors_in_each_block(inspected: Callable[..., Report]) -> None:
    report = inspected("product", TEMPLATE, half=True)
    for variant in WITH_SOURCES:
        kernel = kernel_of(report, variant)
        a, b = kernel.descriptors
        assert (a.name, b.name) == ("a_desc", "b_desc")
        assert (a.shape, a.strides) == (["256", "512"], ["512", "1"])
        assert a.dtype == b.dtype == "fp16"
        assert (a.built_on, a.built) == ("device", "each block")
        assert all(size.isdigit() for size in [*a.block, *b.block])
        lines = kernel.source.split("\n")
        assert all(
            "make_tensor_descriptor" in lines[(descriptor.line or 0) - 1] for descriptor in (a, b)
        )


def test_generated_kernels_name_the_pointer_and_the_block_that_tuning_sets(
    inspected: Callable[..., Report],
) -> None:
    descriptors = kernel_of(inspected("added", GENERATED), "python").descriptors
    assert [descriptor.name for descriptor in descriptors] == ["in_ptr0", "in_ptr1", "out_ptr0"]
    assert all(
        descriptor.dtype == "fp32" and set(descriptor.block) == {"YBLOCK", "XBLOCK"}
        for descriptor in descriptors
    )


def test_a_kernel_of_the_users_that_makes_them_itself(inspected: Callable[..., Report]) -> None:
    report = inspected("made_on_device")
    assert not [problem for variant in report.variants for problem in variant.problems]
    expected = {"shape": ["256", "512"], "strides": ["512", "1"], "block": ["64", "64"]}
    for variant in WITH_SOURCES:
        kernel = kernel_of(report, variant)
        for item, name in zip(kernel.descriptors, ("source", "target"), strict=True):
            assert item.name == name
            assert item.dtype == "fp32"
            assert {field: getattr(item, field) for field in expected} == expected


def test_the_host_builds_those_that_it_passes_at_each_call(
    inspected: Callable[..., Report],
) -> None:
    report = inspected("made_on_host")
    for variant in WITH_SOURCES:
        who = {"python": "Python wrapper", "cpp": "C++ wrapper"}[variant]
        descriptors = kernel_of(report, variant).descriptors
        assert [descriptor.name for descriptor in descriptors] == ["source", "target"]
        for item in descriptors:
            assert (item.built_on, item.built, item.dtype) == ("host", "each call", "fp32")
            assert (item.shape, item.strides) == (["256", "512"], ["512", "1"])
            assert item.block == ["64", "64"]
            assert who in item.why
    older = msgspec.structs.replace(kernel_of(report, WITH_SOURCES[-1]))
    older.source = older.source.replace("cc=90", "cc=80")
    assert all("no TMA" in descriptor.why for descriptor in find_descriptors(older, []))


def test_what_is_not_known_stays_an_expression() -> None:
    source = (
        "def k(x, n, BLOCK: tl.constexpr):\n"
        "    wide = n * 2 if BLOCK > 4 else n\n"
        "    for i in range(n):\n"
        "        d = tl.make_tensor_descriptor(x + i, [n, wide], [wide, 1], [BLOCK, 16])\n"
        "        v = d.load([0, 0])\n"
    )
    (descriptor,) = find_descriptors(Kernel(name="k", language="triton", source=source), [])
    assert descriptor == Descriptor(
        name="d",
        shape=["n", "wide"],
        strides=["wide", "1"],
        block=["BLOCK", "16"],
        line=4,
        why="It is built in a loop: in each iteration, in each block.",
    )
    broken = Kernel(name="k", language="triton", source="def (: make_tensor_descriptor")
    assert find_descriptors(broken, []) == []
    assert "descriptors" in broken.absent
