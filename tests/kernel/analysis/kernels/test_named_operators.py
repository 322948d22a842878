"""Which nodes a launch computes, of those that torch names for it."""

from __future__ import annotations

from collections.abc import Callable

import compilescope as cs
import pytest
import torch
from compilescope.report import Kernel

from ...plan_subjects import looped

pytestmark = pytest.mark.slow
FLOAT, INTEGER = 4, 8


def kernels_of(fn: Callable[..., object], *args: torch.Tensor) -> list[Kernel]:
    report = cs.inspect(fn, args, variants=("python",), run=False)
    return [kernel for each in report.variants[0].compilations for kernel in each.kernels]


def test_kernels_in_a_loop_do_not_compute_the_loop() -> None:
    size = 64 * 64
    with torch.no_grad():
        kernels = kernels_of(looped, torch.empty(64, 64))
    (condition,) = [kernel for kernel in kernels if "lt" in kernel.name]
    assert (condition.estimated_bytes, condition.estimated_operations) == (INTEGER + 1, 1)
    (body,) = [kernel for kernel in kernels if "sin" in kernel.name]
    assert body.estimated_bytes == 2 * INTEGER + 2 * FLOAT * size
    assert body.estimated_operations == 1 + 2 * size
    assert body.fusion is not None
    assert body.fusion.nodes == 3


def test_a_product_that_torch_names_for_a_view_of_it_counts() -> None:
    """A product is named for the ``expand`` of its result in the tangent of a linear layer."""
    layer = torch.nn.Linear(32, 64)
    kernels = kernels_of(
        lambda x: torch.func.jvp(layer, (x,), (torch.ones_like(x),)), torch.empty(16, 32)
    )
    products = [
        launch
        for kernel in kernels
        if kernel.direction == "forward" and kernel.name == "extern_kernels.mm"
        for launch in kernel.launches
    ]
    assert products
    for launch in products:
        assert launch.estimated_bytes == FLOAT * (16 * 32 + 32 * 64 + 16 * 64)
        assert launch.estimated_operations == 2 * 16 * 32 * 64


def test_a_view_that_a_library_call_makes_moves_nothing() -> None:
    def rotate(x: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
        pairs = torch.view_as_complex(x.view(64, 16, 2))
        return torch.view_as_real((pairs * angles)[:, 2:])

    kernels = kernels_of(rotate, torch.empty(64, 32), torch.empty(64, 16, dtype=torch.complex64))
    views = ("view_as_complex", "view_as_real", "slice")
    called = [kernel for kernel in kernels if any(view in kernel.name for view in views)]
    assert len(called) >= 3
    for kernel in called:
        assert (kernel.estimated_bytes, kernel.estimated_operations) == (0, 0), kernel.name


def test_a_product_without_rows_moves_nothing() -> None:
    layer = torch.nn.Linear(128, 256).requires_grad_(False)
    (product,) = kernels_of(layer, torch.empty(0, 128))
    assert (product.estimated_bytes, product.estimated_operations) == (0, 0)


def test_a_kernel_lists_what_it_computes_and_has_links_to_what_it_prepares() -> None:
    class Masked(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = torch.nn.LayerNorm(16)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            q = self.norm(x)
            mask = torch.arange(32) <= 3
            attention = torch.nn.functional.scaled_dot_product_attention
            return attention(q, q, q, attn_mask=mask[None, None, None])

    with torch.no_grad():
        *generated, library = kernels_of(Masked(), torch.empty(1, 4, 32, 16))
    operator = "aten._scaled_dot_product_flash_attention_for_cpu.default"
    assert library.ops == [operator]
    (mask,) = [kernel for kernel in generated if "prims.iota.default" in kernel.ops]
    assert "aten.le.Scalar" in mask.ops
    assert all(operator not in kernel.ops for kernel in generated)
    assert "_scaled_dot_product_flash_attention_for_cpu" in mask.nodes


def test_a_kernel_that_only_changes_a_layout_lists_no_operator() -> None:
    conv = torch.nn.Conv2d(3, 8, 3).requires_grad_(False)
    kernels = kernels_of(conv, torch.empty(2, 3, 16, 16))
    (library,) = [kernel for kernel in kernels if kernel.language == "extern"]
    copies = [kernel for kernel in kernels if kernel is not library]
    assert copies
    for copy in copies:
        assert copy.nodes
        assert (copy.ops, copy.modules) == ([], [])
    assert library.ops == ["aten.convolution.default"]


def test_kernels_that_write_a_concatenation_in_parts_count_their_own() -> None:
    """The first sum also goes to a convolution, whose weight the kernel copies."""
    down, up = torch.nn.Conv2d(16, 32, 3, 2, 1), torch.nn.Conv2d(32, 16, 3, padding=1)
    norm = torch.nn.GroupNorm(4, 32)

    def fn(x: torch.Tensor) -> torch.Tensor:
        first = x + 1
        second = torch.nn.functional.interpolate(down(first), scale_factor=2.0)
        return norm(torch.cat([up(second), first], 1))

    x = torch.empty(1, 16, 32, 32).to(memory_format=torch.channels_last)
    with torch.no_grad():
        kernels = kernels_of(fn, x)
    first, last = [kernel for kernel in kernels if "aten.cat.default" in kernel.ops]
    size = x.nbytes
    # Reads the input, writes the sum and its part, and copies the weight.
    assert first.estimated_bytes == 3 * size + 2 * down.weight.nbytes
    assert first.fusion is not None
    assert first.fusion.saved_bytes == size
    # Reads the other part, too, and writes the normalized whole.
    parameters = norm.weight.nbytes + norm.bias.nbytes
    assert last.estimated_bytes is not None
    assert 0 <= last.estimated_bytes - (5 * size + parameters) < size / 10
