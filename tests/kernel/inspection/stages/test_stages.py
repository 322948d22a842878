"""Both stages of a report, sources and build, are what torch itself generates for the call."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import pytest
import torch
from compilescope.report.variant import Variant
from msgspec.structs import replace

from ... import fidelity_subjects
from .library_subjects import LIBRARY
from .stage_subjects import CHEAP
from .stages import of_both_stages, of_sources, of_torch, shells_of_both_stages

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

ON_CPU = [
    name
    for name in fidelity_subjects.CASES
    if (needs := fidelity_subjects.NEEDS.get(name)) is None or importlib.util.find_spec(needs)
]


BOTH = Variant(), Variant(cpp_wrapper=True)


def test_sources_with_saved_sizes_are_what_torch_generates():
    variant = Variant(dynamic=True)
    make = CHEAP["retained_outside"]
    assert of_sources(make, variant) == [of_torch(make, variant)]


def test_sources_show_the_block_in_which_torch_times_kernels():
    def call(x: torch.Tensor) -> torch.Tensor:
        return x.sin()

    timed = Variant(cpp_wrapper=True, options={"triton.autotune_at_compile_time": True})
    sources, built = shells_of_both_stages(lambda: (call, (torch.ones(8),)), timed)
    assert sources == built
    assert "Compile-time auto-tuning block" in sources


@pytest.mark.slow
@pytest.mark.parametrize("name", CHEAP)
def test_both_stages_are_what_torch_generates(name: str) -> None:
    # For a backward under retain_graph, torch takes from its cache the code of an equal graph that
    # overwrites what its call saved. The gradients are wrong then, as the build's check shows.
    cached = name != "plain_before_retained"
    with (
        torch._inductor.config.patch(fx_graph_cache=cached),
        torch._functorch.config.patch(enable_autograd_cache=cached),
    ):
        sources, built = of_both_stages(CHEAP[name], *BOTH)
    assert all(sources)
    assert sources == built
    assert sources == [of_torch(CHEAP[name], variant) for variant in BOTH]


@pytest.mark.slow
@pytest.mark.parametrize("name", LIBRARY)
def test_sources_of_torchs_own_library_are_what_torch_generates(name: str) -> None:
    expected = [of_torch(LIBRARY[name], variant) for variant in BOTH]
    assert all(expected)
    assert of_sources(LIBRARY[name], *BOTH) == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", ON_CPU)
def test_both_stages_of_every_subject_are_what_torch_generates(name: str) -> None:
    make = fidelity_subjects.Make("cpu")

    def call() -> tuple[Callable[..., Any], tuple[Any, ...]]:
        case = fidelity_subjects.CASES[name](make)
        return case.fn, case.args

    variant = fidelity_subjects.CASES[name](make).variant
    sources, built = of_both_stages(call, variant, replace(variant, cpp_wrapper=True))
    assert all(sources)
    assert sources == built
    assert built[0] == of_torch(call, variant)
