"""Calls on the GPU are traced in a process that does not see the GPU.

No GPU is needed: the kernel of this test, another process, emulates one, too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from compilescope.targets import known_devices

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(known_devices.unavailable()), reason=known_devices.unavailable()),
]

_KERNEL = r"""
import json
import os

from compilescope.targets import known_devices
from compilescope.targets.worker.pretend_device import PretendDevice

device = known_devices.find("h200")
# Before Inductor is loaded.
PretendDevice.enter(device)

import compilescope as cs
import torch
import torch.utils._triton
from compilescope.inspection.inspection import Inspection
from compilescope.progress.progress import Monitor
from compilescope.targets.worker_pool import shared_pool
from compilescope.torch_api.inductor import without_gpu
from tests.kernel.compared_texts import texts
from torch._inductor.fx_passes import pad_mm

# As after a build: the other process would find another ptxas than this one did.
torch.utils._triton.triton_hash_with_backend()
os.environ["TRITON_MOCK_PTX_VERSION"] = "another"

known_devices.this_device = lambda: device
without_gpu.PROVEN = (".".join(torch.__version__.split(".")[:2]),)
DYNAMIC = cs.Variant(dynamic=True)


def inspected(fn, *args):
    inspection = Inspection(fn, args)
    inspection.sources.capture({"python": cs.Variant()}, Monitor())
    return inspection


def ask(inspection, variant):
    return inspection.sources.generate_elsewhere({"flipped": variant}, Monitor())


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(64, 256)
        self.outer = torch.nn.Linear(256, 64)
        self.outer.weight = torch.nn.Parameter(self.inner.weight.detach().T)

    def forward(self, x):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            return self.outer(self.inner(x)).softmax(-1)


def loss(x, model):
    masked = x.masked_fill(torch.ones(64, device=x.device, dtype=torch.bool), 0.5)
    return (model(masked) + torch.full((64,), 2.0, device=x.device)).sum()


x = torch.zeros(32, 64, device="cuda")
inspection = inspected(loss, x, Model().to("cuda"))
assert ask(inspection, DYNAMIC)
elsewhere = texts(inspection.report.variant("flipped"))
inspection.sources.capture({"flipped": DYNAMIC}, Monitor())
here = texts(inspection._generation.sources("flipped", DYNAMIC))
results = {
    "same": {name: elsewhere[name] == here[name] for name in here},
    "guards": elsewhere["guards"],
    "code": elsewhere["wrappers"][0],
    "processes": list(shared_pool().pids()),
}
other = inspected(torch.sin, x)
assert ask(other, DYNAMIC)
results["what if"] = [
    other.what_if("flipped", f"torch.zeros({rows}, 4, device='cuda')", {"torch": torch}).verdict
    for rows in (3, 1)
]
results["left to the kernel"] = [
    not other.sources.may_generate_elsewhere(variant)
    for variant in (
        cs.Variant(dynamic=True, cpp_wrapper=True),
        cs.Variant(dynamic=True, mode="max-autotune"),
        cs.Variant(dynamic=True, options={"coordinate_descent_tuning": True}),
    )
]
heads = torch.zeros(2, 4, 64, 32, device="cuda")
attention = inspected(torch.nn.functional.scaled_dot_product_attention, heads, heads, heads)
results["sizes of heads"] = ask(attention, DYNAMIC)
# torch measures whether padding such a product pays.
keys = []
key_of = pad_mm.should_pad_bench_key
pad_mm.should_pad_bench_key = lambda *args, **more: keys.append(key_of(*args, **more)) or keys[-1]
half = {"device": "cuda", "dtype": torch.bfloat16}
product = inspected(torch.mm, torch.zeros(4096, 4097, **half), torch.zeros(4097, 4096, **half))
product._generation.sources("python", cs.Variant())
results["unmeasured"] = ask(product, cs.Variant(fullgraph=True))
for key in keys:
    pad_mm.set_cached_should_pad(key, True)
product._generation._for_kernel.clear()
results["measured"] = ask(product, cs.Variant(fullgraph=True))
(compilation,) = product.report.variant("flipped").compilations
results["padded"] = "constant_pad_nd" in compilation.graphs["post_grad"].text
print(json.dumps(results))
"""


def test_calls_on_the_gpu_are_traced_without_it(tmp_path: Path) -> None:
    root = str(Path(__file__).parents[3])
    environ = {
        **os.environ,
        "TORCHINDUCTOR_CACHE_DIR": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([root, *filter(None, sys.path)]),
    }
    done = subprocess.run(
        [sys.executable, "-c", _KERNEL], capture_output=True, text=True, env=environ
    )
    assert not done.returncode, done.stderr
    results = json.loads(done.stdout.splitlines()[-1])
    assert set(results["same"].values()) == {True}, results["same"]
    assert "FakeTensor" not in str(results["guards"])
    assert "triton" in results["code"]
    assert results["processes"] == ["local_gpu"]
    assert results["what if"] == ["reuse", "recompile"]
    assert results["left to the kernel"] == [True, True, True]
    assert not results["sizes of heads"], "the GPU's own checks constrain them"
    assert not results["unmeasured"], "a rule decided what torch measures"
    assert results["measured"]
    assert results["padded"]
