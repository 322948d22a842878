"""The reports of docs/symptoms, and of the views that need one of their own.

    python examples/symptoms/make.py [--out FOLDER] [NAME …]

Each is saved as NAME.html and NAME.compilescope.json. None needs a GPU.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import compilescope as cs
import torch
import torch._inductor.config
from latent_ode import CountingField, LatentField, step_as_written, step_changed, watched
from torch import Tensor, nn
from torch.nn import functional

Maker = Callable[[], Any]
"""Returns a report, or the result of a sweep."""
MAKERS: dict[str, Maker] = {}


def symptom(make: Maker) -> Maker:
    MAKERS[make.__name__] = make
    return make


class Block(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.up = nn.Linear(size, 4 * size)
        self.down = nn.Linear(4 * size, size)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(functional.gelu(self.up(self.norm(x))))


class Tower(nn.Module):
    def __init__(self, size: int = 64, depth: int = 12) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(size) for _ in range(depth))

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x)
        return x


def tower() -> tuple[nn.Module, tuple[Tensor]]:
    return Tower().eval().requires_grad_(False), (torch.randn(16, 64),)


@symptom
def recompiles() -> cs.Report:
    _, report = watched(step_as_written, CountingField(), torch.randn(100, 4))
    return report


@symptom
def slower() -> cs.Report:
    def gate(x: Tensor, w: Tensor) -> Tensor:
        return x * w + 1

    report = cs.inspect(gate, (torch.randn(64), torch.randn(64)))
    cs.measure(report, seconds=5)
    return cs.study(report, "layers")


@symptom
def first_call() -> cs.Report:
    model, args = tower()
    return cs.inspect(model, args, variants="python")


@symptom
def cuda_graphs() -> cs.Report:
    def running_total(x: Tensor, total: Tensor) -> Tensor:
        total += x.sum(0)
        return total * 2

    mode = "reduce-overhead"
    variants = {
        "graphs": cs.Variant(mode=mode, target="h100"),
        "cpp": cs.Variant(mode=mode, cpp_wrapper=True, target="h100"),
    }
    args = torch.randn(8, 256), torch.zeros(256)
    return cs.inspect(running_total, args, variants=variants, run=False)


@symptom
def cpp_wrapper() -> cs.Report:
    state = torch.tensor(0.0), torch.randn(100, 4), torch.tensor(0.1)
    field = LatentField().requires_grad_(False)
    report = cs.inspect(step_changed, (field, *state))
    cs.measure(report, seconds=10)
    return cs.study(report, "layers", "kernels", "steps")


@symptom
def wrong_kernel() -> cs.Report:
    def scores(x: Tensor, w: Tensor) -> Tensor:
        hidden = functional.relu(x @ w)
        return hidden.softmax(-1)

    # A switch of Inductor's own tests, which has it generate a wrong relu.
    wrong = {"cpp.inject_relu_bug_TESTING_ONLY": "accuracy"}
    variants = {"python": cs.Variant(), "wrong": cs.Variant(options=wrong)}
    args = torch.randn(32, 64), torch.randn(64, 16)
    report = cs.inspect(scores, args, variants=variants)
    return cs.study(report, "accuracy", variants="wrong")


def on_each_rank() -> tuple[Callable[[Tensor], Tensor], tuple[Tensor]]:
    import torch.distributed as dist

    def reduced(x: Tensor) -> Tensor:
        y = x.sin() * 2
        if dist.get_rank() == 0:
            print("rank 0 logs")
        dist.all_reduce(y)
        return y + 1

    return reduced, (torch.ones(4, 8),)


@symptom
def one_rank() -> cs.Report:
    return cs.ranks(on_each_rank, size=2, variants="python")[1]


@symptom
def trace() -> cs.Report:
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "training"
        environment = {
            **os.environ,
            "TORCH_TRACE": str(folder),
            "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
        }
        # Under a name without a folder, which the log would have in each reason.
        program = "exec(compile(open('train.py').read(), 'train.py', 'exec'))"
        here = Path(__file__).parent
        subprocess.run([sys.executable, "-c", program], env=environment, cwd=here, check=True)
        return cs.read_trace(folder)


@symptom
def autotuned() -> cs.Report:
    # On a CPU torch autotunes products with constant matrices, which freezing makes of weights.
    with torch.no_grad(), torch._inductor.config.patch(freezing=True):
        return cs.inspect(
            Block(256).eval().requires_grad_(False),
            (torch.randn(64, 256),),
            variants={"max-autotune": cs.Variant(mode="max-autotune")},
        )


@symptom
def swept() -> Any:
    return cs.sweep(
        Tower(depth=2).eval().requires_grad_(False),
        (torch.randn(16, 64),),
        variants=cs.grid(options=({}, {"max_fusion_size": 1})),
        resume=False,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", default=list(MAKERS), help=", ".join(MAKERS))
    parser.add_argument("--out", type=Path, default=Path("build/symptoms"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    for name in options.names:
        torch.manual_seed(0)
        report = MAKERS[name]()
        print(f"--- {name}, torch {torch.__version__}\n{report}\n", flush=True)
        report.save(options.out / f"{name}.html")
        report.save(options.out / f"{name}.compilescope.json")


if __name__ == "__main__":
    main()
