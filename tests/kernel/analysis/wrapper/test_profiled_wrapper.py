"""A C++ wrapper with ranges for a profiler: each launch stands in a block of its own."""

from __future__ import annotations

import compilescope as cs
import torch
from torch._inductor import config as inductor


def test_launches_are_those_of_the_plain_wrapper() -> None:
    def fn(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.softmax((x.sin() @ w).relu(), -1)

    options = {"cpp.enable_kernel_profile": True}
    if hasattr(inductor.cpp, "enable_kernel_context_guard"):  # Since torch 2.15 of its own.
        options["cpp.enable_kernel_context_guard"] = True
    profiled = cs.Variant(cpp_wrapper=True, options=options)
    args = (torch.randn(8, 16), torch.randn(16, 4))
    report = cs.inspect(fn, args, variants={"cpp": "cpp", "profiled": profiled}, run=False)

    def launches(name: str) -> list[tuple[str, str | None, list[str]]]:
        regions = report.variant(name).compilations[0].code.regions["cpp"]
        return [
            (region.key, region.kernel, region.nodes)
            for region in regions
            if region.kind == "launch"
        ]

    code = report.variant("profiled").compilations[0].code.cpp
    assert code is not None
    assert "KernelContextGuard" in code
    assert len(launches("profiled")) == 3
    assert launches("profiled") == launches("cpp")
