"""The notebooks that the reports are made of: name → cells, the last one under ``%%compile``."""

SETUP = """\
%load_ext compilescope
import torch
from torch import nn, Tensor
from torch.nn import functional
torch.manual_seed(0);"""
# One thread is timed as well beside other work: a call does not wait for the slower of two.
TIMED = f"{SETUP}\ntorch.set_num_threads(1);"

MLP = """\
class Block(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(size)
        self.up = nn.Linear(size, 4 * size)
        self.down = nn.Linear(4 * size, size)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(functional.gelu(self.up(self.norm(x))))


class Mlp(nn.Module):
    def __init__(self, size: int = 32, depth: int = 1) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Block(size) for _ in range(depth))
        self.head = nn.Linear(size, 10)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return self.head(x).softmax(-1)


model = Mlp().eval().requires_grad_(False)
x = torch.randn(16, 32)"""

STEP = """\
net = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 4))


def loss(x: Tensor, labels: Tensor) -> Tensor:
    scores = net(x)
    return functional.mse_loss(scores, labels)


x, labels = torch.randn(8, 16), torch.randn(8, 4)"""

EPOCH = """\
weight = torch.randn(16, 16)


def step(x: Tensor, rate: float) -> Tensor:
    y = functional.silu(x @ weight)
    return y.sub(y.mean(0)) * rate


batches = [torch.randn(size, 16) for size in (8, 12, 20, 6)]
batches.append(torch.randn(16, 8).t())
rates = [0.1, 0.1, 0.05, 0.025, 0.025]"""

WRITTEN = """\
compiled = torch.compile(step)
for batch, rate in zip(batches, rates):
    compiled(batch, rate)"""

BREAKS = """\
import contextlib
import numpy


@contextlib.contextmanager
def noted(name):
    yield name


def report(text: str) -> None:
    print("so far:", text)


def five(x: Tensor) -> Tensor:
    y = x.sin() + 1
    report("sine")
    if y.sum() > 0:
        y = y * 2
    torch._dynamo.graph_break()
    y = y.cos() + id(noted)
    name = input.__self__.__name__.encode().hex()
    y = torch.nn.functional.relu(y)
    scale = float(y.max().item())
    y = y / len(str(scale))
    return torch.from_numpy(numpy.sort(y.numpy())) + 1


x = torch.randn(8, 8)"""

ATTEND = """\
def attend(q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor:
    y = functional.scaled_dot_product_attention(q, k, v)
    return functional.gelu(y + bias).softmax(-1)


q, k, v = torch.randn(3, 2, 4, 64, 32, dtype=torch.float16)
bias = torch.randn(32, dtype=torch.float16)"""

PROGRAMS: dict[str, list[str]] = {
    "mlp": [TIMED, MLP, "%%compile --measure 10\nmodel(x)"],
    "training": [SETUP, STEP, "%%compile\nloss(x, labels)"],
    "recompiles": [SETUP, EPOCH, f"%%compile --variants python\n{WRITTEN}\nstep(batches[0], 0.1)"],
    "targets": [
        SETUP,
        ATTEND,
        "%%compile --variants python --target h100,mi300x\nattend(q, k, v, bias)",
    ],
    "breaks": [SETUP, BREAKS, "%%compile --variants python\nfive(x)"],
}
