"""Ahead of time on a real GPU. Skipped where there is none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import compilescope as cs
import pytest
import torch
from torch import nn

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


PLAIN = """
import sys, torch
x = torch.ones(8, device="cuda")
program = torch.export.export(torch.nn.ReLU(), (x,))
path = torch._inductor.aoti_compile_and_package(program, package_path=sys.argv[1])
torch._inductor.aoti_load_package(path)(x)
"""


def test_a_package_for_a_gpu_is_built_checked_and_timed(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 64), nn.GELU()).cuda().eval().requires_grad_(False)
    x = torch.randn(8, 64, device="cuda")
    report = cs.inspect(model, (x,), variants={"cpp": cs.Variant(cpp_wrapper=True)}, run=False)
    cs.study(report, "aot")
    (variant,) = report.variants
    package = variant.package
    assert package is not None
    assert (package.device, package.built, variant.problems) == ("cuda", True, [])
    kinds = {file.kind for file in package.files}
    assert {"source", "kernel", "library"} <= kinds, [file.path for file in package.files]
    if package.problem is not None:
        plain = (sys.executable, "-c", PLAIN, str(tmp_path / "plain.pt2"))
        if subprocess.run(plain, check=False, capture_output=True).returncode:
            pytest.xfail(f"torch cannot load a package here: {package.problem.why}")
    assert (package.problem, package.accurate) == (None, True)
    (compilation,) = variant.compilations
    code = compilation.code
    assert code.aot is not None
    ahead = [region for region in code.regions["aot"] if region.kind == "launch"]
    here = {region.key for region in code.regions["cpp"] if region.kind == "launch"}
    assert {variant.key for variant in ahead} & here
    entries = {
        entry.name.partition(":")[0] for entry in package.entries if entry.timing is not None
    }
    assert entries == {"eager", "in process", "standalone"}
    for entry in package.entries:
        assert entry.timing is not None
        assert (entry.timing.device, entry.timing.device_us is not None) == ("cuda", True)
