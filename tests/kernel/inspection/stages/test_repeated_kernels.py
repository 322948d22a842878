"""The C++ wrapper for a GPU, whose kernels have the loops of the Python wrapper's, is torch's own.

For a target: no GPU is needed to generate the code. The target's process does not share a lowering
between wrappers, so this test has one of its own that does.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

_PROGRAM = """
import json
import sys

from compilescope.targets import known_devices
from compilescope.targets.worker.pretend_device import PretendDevice

# Before Inductor is loaded.
world = PretendDevice.enter(known_devices.find("h200"))

import torch
from compilescope.builds import sources
from compilescope.builds.capture_graphs import capture
from compilescope.isolation.code_swap import CodeCopies
from compilescope.report.variant import Variant
from compilescope.subject.functions import functions_of
from compilescope.torch_api.inductor.wrappers import other_wrapper
from torch._inductor.codegen.simd import SIMDScheduling

other_wrapper.PROVEN_ON_GPU = (".".join(torch.__version__.split(".")[:2]),)
generate_loops = SIMDScheduling.codegen_node_schedule_with_kernel
loops = 0


def counted(self, *args):
    global loops
    loops += 1
    return generate_loops(self, *args)


SIMDScheduling.codegen_node_schedule_with_kernel = counted


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(64)
        self.inner = torch.nn.Linear(64, 256)
        self.outer = torch.nn.Linear(256, 64)

    def forward(self, x):
        return x + self.outer(torch.nn.functional.gelu(self.inner(self.norm(x))))


def texts(generated):
    def of(code):
        for text in (code.python, code.cpp):
            # The first line has the number of the compilation.
            yield text and text.partition("\\n")[2]
        for graph in (code.backward, *code.others):
            if graph is not None:
                yield from of(graph)

    assert not generated.problems, generated.problems
    return [text for compilation in generated.compilations for text in of(compilation.code)]


def counting(*args, **more):
    global loops
    loops = 0
    return texts(sources.generate(*args, **more)), loops


dynamic = sys.argv[1] == "dynamic"
python, cpp = (Variant(cpp_wrapper=wrapper, dynamic=dynamic or None) for wrapper in (False, True))
with world.mode, torch.device("cuda"):
    blocks, x = torch.nn.Sequential(Block(), Block(), Block()), torch.ones(48, 64)


def loss(x):
    return torch.nn.functional.cross_entropy(blocks(x), x.softmax(-1)) + x.sum()


codes = CodeCopies(functions_of(loss, (x,), {}))
captured = capture(loss, (x,), {}, python, codes, within=lambda: world.mode)
assert captured.problem is None, captured.problem
settings = world.settings()
# With dynamic sizes, the first generation numbers the nodes of the backward in another way.
first, _ = counting(captured, "python", python, settings)
first, _ = counting(captured, "python", python, settings)
alone, loops_alone = counting(captured, "cpp", cpp, settings)
both, loops_both = counting(captured, "python", python, settings, coming=(cpp,))
then, loops_then = counting(captured, "cpp", cpp, settings)
assert not loops_then, "the wrappers did not share a lowering"
print(json.dumps([first == both, alone == then, loops_alone, loops_both]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("sizes", ["static", "dynamic"])
def test_the_loops_of_both_wrappers_are_generated_once(sizes: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, sizes], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    is_same_python, is_same_cpp, alone, both = json.loads(done.stdout.splitlines()[-1])
    assert is_same_python
    assert is_same_cpp
    # With dynamic sizes torch also changes the wrapper as it generates loops.
    assert both == alone if sizes == "static" else both > alone
