"""Optimizers' steps for a GPU, counted by hand: what each tensor's part reads, writes, computes."""

from __future__ import annotations

from collections.abc import Callable

import compilescope as cs
import pytest
import torch
from compilescope.report import Kernel
from compilescope.targets import known_devices

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(known_devices.unavailable()), reason=known_devices.unavailable()),
]
FLOAT = 4
SIZES = (100, 200, 300)
Optimizer = Callable[[list[torch.nn.Parameter]], torch.optim.Optimizer]


def step(
    make: Optimizer, *, sizes: tuple[int, ...] = SIZES, wrapper: bool = False
) -> tuple[cs.Report, list[Kernel]]:
    parameters = [torch.nn.Parameter(torch.randn(size)) for size in sizes]
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    optimizer = make(parameters)
    optimizer.step()
    variant = cs.Variant(target="h200", cpp_wrapper=wrapper)
    report = cs.inspect(lambda: optimizer.step(), (), variants={"v": variant}, run=False)
    assert not report.problems
    compilations = report.variant("v").compilations
    return report, [kernel for compilation in compilations for kernel in compilation.kernels]


@pytest.mark.parametrize("wrapper", [False, True])
def test_each_tensor_counts(wrapper: bool) -> None:
    """A product, a sum and a difference; gradient, momentum and parameter, two of them written."""
    report, (kernel,) = step(
        lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9, foreach=True),
        wrapper=wrapper,
    )
    assert kernel.estimated_operations == 3 * sum(SIZES)
    assert kernel.estimated_bytes == FLOAT * 5 * sum(SIZES)
    assert kernel.fusion is None
    assert "does not record" in kernel.absent["fusion"]
    target = report.variant("v").target
    assert target is not None
    assert target.estimate is not None
    assert target.estimate.unknown == 0


def test_a_number_that_all_tensors_read_counts_once_for_each() -> None:
    """Adam reads gradient, parameter, both moments, and the number of steps."""
    _, (steps, update) = step(lambda parameters: torch.optim.Adam(parameters, foreach=True))
    assert steps.nodes
    assert update.estimated_bytes == FLOAT * (7 * sum(SIZES) + len(SIZES))
    computing = [
        line
        for line in update.source.split("\n")
        if " = " in line and line.strip().startswith("tmp") and "tl.load" not in line
    ]
    computing = [line for line in computing if "tl.full" not in line and "broadcast_to" not in line]
    selecting = [line for line in computing if "tl.where" in line]
    each = (len(computing) - len(selecting)) // len(SIZES)
    assert update.estimated_operations == each * sum(SIZES)


@pytest.mark.parametrize(("momentum", "moved", "computed"), [(0.0, 3, 1), (0.9, 5, 3)])
def test_kernels_share_the_tensors_of_a_long_list(
    momentum: float, moved: int, computed: int
) -> None:
    """Without momentum torch names the whole list for each kernel."""
    sizes = (1000,) * 200
    _, kernels = step(
        lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=momentum, foreach=True),
        sizes=sizes,
    )
    launches = [launch for kernel in kernels for launch in kernel.launches]
    assert len(launches) > 1
    assert sum(launch.estimated_bytes or 0 for launch in launches) == FLOAT * moved * sum(sizes)
    assert sum(launch.estimated_operations or 0 for launch in launches) == computed * sum(sizes)
