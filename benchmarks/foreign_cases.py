"""Small calls that were written for no test of compilescope: what people write, in many styles."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import importlib.util
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

Made = tuple[Callable[..., Any], tuple[Any, ...]]
CASES: dict[str, Callable[[], Made]] = {}
_LIBRARIES = ("transformers", "timm")


def _case(make: Callable[[], Made]) -> Callable[[], Made]:
    CASES[make.__name__] = make
    return make


def _call(name: str, fn: Callable[..., Any], *sizes: tuple[int, ...], grad: bool = False) -> None:
    """A function of tensors of these sizes."""

    def make() -> Made:
        return fn, tuple(torch.randn(size, requires_grad=grad) for size in sizes)

    CASES[name] = make


def _module(name: str, make: Callable[[], nn.Module], *sizes: tuple[int, ...]) -> None:
    """A module in inference, and the same in training."""

    def inference() -> Made:
        return make().eval().requires_grad_(False), tuple(torch.randn(size) for size in sizes)

    def training() -> Made:
        return make().train(), tuple(torch.randn(size) for size in sizes)

    CASES[name] = inference
    CASES[f"{name}_training"] = training


# Control flow


def branches(x: Tensor) -> Tensor:
    return x.sin() if x.shape[0] > 4 else x.cos()


def loops(x: Tensor) -> Tensor:
    for i in range(3):
        if i == 1:
            continue
        x = x * i + 1
    else:
        x = x - 2
    return x


def while_counts(x: Tensor) -> Tensor:
    left = 4
    while left:
        x, left = x.tanh(), left - 1
    return x


def early_return(x: Tensor, y: Tensor) -> Tensor:
    if x.ndim != y.ndim:
        return x
    return torch.maximum(x, y)


def tries(x: Tensor) -> Tensor:
    try:
        x = x + {"a": 1.0}["b"]
    except KeyError:
        x = x - 1
    finally:
        x = x * 2
    return x


def asserts(x: Tensor) -> Tensor:
    assert x.dtype == torch.float32
    return x.abs().sqrt()


def recursion(x: Tensor, depth: int = 3) -> Tensor:
    return x if depth == 0 else recursion(x.sigmoid(), depth - 1)


def matches(x: Tensor) -> Tensor:
    kind = "double" if x.numel() > 2 else "half"
    return {"double": x * 2, "half": x / 2}[kind]


def conditional(x: Tensor) -> Tensor:
    return torch.cond(x.sum() > 0, lambda t: t.sin(), lambda t: t.cos(), (x,))


_call("branches", branches, (8, 8))
_call("loops", loops, (16,))
_call("while_counts", while_counts, (5, 7))
_call("early_return", early_return, (4, 4), (4, 4))
_call("tries", tries, (9,))
_call("asserts", asserts, (3, 33))
_call("recursion", recursion, (6, 6))
_call("matches", matches, (12,))
_call("conditional", conditional, (8, 8))

# Containers, comprehensions, generators


class Pair(NamedTuple):
    """Two tensors."""

    left: Tensor
    right: Tensor


@dataclasses.dataclass
class Scaled:
    """A tensor and a number."""

    value: Tensor
    by: float = 1.5

    def get(self) -> Tensor:
        """The product."""
        return self.value * self.by


def squares(x: Tensor) -> Iterator[Tensor]:
    for i in range(1, 4):
        yield x * i


def lists(x: Tensor) -> Tensor:
    held = [x, x + 1]
    held.append(held[0] * held[1])
    held.insert(0, held.pop())
    return torch.stack(held[::-1])


def dicts(x: Tensor) -> dict[str, Tensor]:
    held = {"a": x.exp(), "b": x.log1p()}
    held.update(c=held["a"] - held["b"])
    return {name: value.mean() for name, value in held.items()}


def ordered(x: Tensor) -> Tensor:
    held = collections.OrderedDict(one=x, two=x.neg())
    held.move_to_end("one")
    return torch.cat(list(held.values()))


def defaults(x: Tensor) -> Tensor:
    held: dict[int, list[Tensor]] = collections.defaultdict(list)
    for i in range(4):
        held[i % 2].append(x + i)
    return torch.stack([sum(each) for each in held.values()])  # type: ignore[arg-type]


def deques(x: Tensor) -> Tensor:
    held = collections.deque([x, x * 2, x * 3], maxlen=2)
    held.appendleft(x.sin())
    return held[0] + held[-1]


def sets(x: Tensor) -> Tensor:
    return x * len({1, 2, 3} & {2, 3, 4}) + min({5, 7})


def comprehension(x: Tensor) -> Tensor:
    return torch.cat([row * i for i, row in enumerate(x.unbind(0)) if i != 1])


def unpacking(x: Tensor) -> Tensor:
    first, *middle, last = x.unbind(0)
    return first + last + sum(middle)


def generators(x: Tensor) -> Tensor:
    return sum(squares(x), start=torch.zeros_like(x))


def zipped(x: Tensor, y: Tensor) -> Tensor:
    pairs = zip(x.unbind(0), y.unbind(0), strict=True)
    return torch.stack([a @ b for a, b in pairs])


def chained(x: Tensor) -> Tensor:
    parts = itertools.chain([x], (x * i for i in (2, 3)))
    return functools.reduce(torch.add, parts)


def named_tuples(x: Tensor) -> Pair:
    pair = Pair(x.relu(), x.neg().relu())
    return pair._replace(left=pair.left + pair.right)


def dataclass_built(x: Tensor) -> Tensor:
    return Scaled(x).get() + dataclasses.replace(Scaled(x), by=2.0).get()


def sorted_keys(x: Tensor) -> Tensor:
    weights = {"b": 2.0, "a": 1.0}
    return sum(x * weights[name] for name in sorted(weights))  # type: ignore[return-value]


for _one in (
    lists,
    dicts,
    ordered,
    defaults,
    deques,
    sets,
    comprehension,
    unpacking,
    generators,
    chained,
    named_tuples,
    dataclass_built,
    sorted_keys,
):
    _call(_one.__name__, _one, (4, 6))
_call("zipped", zipped, (3, 5), (3, 5))

# Functions of functions


def closures(x: Tensor) -> Tensor:
    total = torch.zeros_like(x)

    def add(by: float) -> None:
        nonlocal total
        total = total + x * by

    add(2.0)
    add(0.5)
    return total


def partials(x: Tensor) -> Tensor:
    clip = functools.partial(torch.clamp, min=-0.5, max=0.5)
    return clip(x) + clip(x * 3, max=1.0)


def keyword_only(x: Tensor, *, by: float = 3.0, **more: float) -> Tensor:
    return x * by + more.get("shift", 0.25)


def decorated(x: Tensor) -> Tensor:
    def twice(fn: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
        @functools.wraps(fn)
        def run(value: Tensor) -> Tensor:
            return fn(fn(value))

        return run

    return twice(torch.tanh)(x)


def contexts(x: Tensor) -> Tensor:
    @contextlib.contextmanager
    def scaled(by: float) -> Iterator[float]:
        yield by * 2

    with scaled(1.5) as by, torch.no_grad():
        return x * by


def mapped(x: Tensor) -> Tensor:
    return torch.stack(list(map(torch.sin, filter(lambda row: row.ndim == 1, x.unbind(0)))))


def vmapped(x: Tensor, y: Tensor) -> Tensor:
    return torch.vmap(torch.dot)(x, y)


def gradient(x: Tensor) -> Tensor:
    return torch.func.grad(lambda t: t.sin().sum())(x)


for _one in (closures, partials, keyword_only, decorated, contexts, mapped, gradient):
    _call(_one.__name__, _one, (6, 4))
_call("vmapped", vmapped, (4, 8), (4, 8))

# Autograd


class Cubed(torch.autograd.Function):
    """With a backward of its own."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        """The cube."""
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        """Its derivative, cut off."""
        (x,) = ctx.saved_tensors
        return (grads[0] * 3 * x * x).clamp(-1, 1)


def own_backward(x: Tensor) -> Tensor:
    return Cubed.apply(x).sum()


def detached(x: Tensor) -> Tensor:
    return (x * x.detach().softmax(-1)).sum()


def no_grad_inside(x: Tensor) -> Tensor:
    with torch.no_grad():
        scale = x.norm()
    return (x / scale).square().sum()


def checkpointed(x: Tensor) -> Tensor:
    from torch.utils.checkpoint import checkpoint

    tensor: Tensor = checkpoint(lambda t: t.sin().exp(), x, use_reentrant=False)
    return tensor.sum()


def several_outputs(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.cumsum(0), x.logsumexp(-1)


def backward_inside(x: Tensor) -> Tensor:
    y = (x * 2).tanh().sum()
    y.backward()
    return y


for _one in (own_backward, detached, no_grad_inside, checkpointed, several_outputs):
    _call(_one.__name__, _one, (8, 16), grad=True)
_call("backward_inside", backward_inside, (8, 4), grad=True)

# Mutation and views


def in_place(x: Tensor) -> Tensor:
    y = x.clone()
    y.add_(1).mul_(2)
    y[0] = 0
    y[:, 1::2] -= 3
    return y


def writes_input(x: Tensor) -> Tensor:
    x.clamp_(min=0)
    return x.sum()


def slices(x: Tensor) -> Tensor:
    return x[1:, ::2] + x[:-1, 1::2]


def views(x: Tensor) -> Tensor:
    return x.view(2, -1).t().unsqueeze(0).expand(3, -1, -1)


def strided(x: Tensor) -> Tensor:
    return x.as_strided((4, 4), (1, 4)) * 2


def windows(x: Tensor) -> Tensor:
    return x.unfold(0, 3, 1).mean(-1)


def rolled(x: Tensor) -> Tensor:
    return torch.roll(x, 2, 1).flip(0) + torch.rot90(x, 2)


def masked(x: Tensor) -> Tensor:
    return x.masked_fill(x > 0.5, -1).where(x < 0, x * x)


def picked(x: Tensor) -> Tensor:
    order = torch.tensor([3, 1, 0])
    return x[order] + x.index_select(0, order)


def put(x: Tensor) -> Tensor:
    return torch.zeros_like(x).index_put_((torch.tensor([0, 2]),), x[:2], accumulate=True)


def scattered(x: Tensor) -> Tensor:
    return torch.zeros_like(x).scatter_add(0, torch.zeros(x.shape, dtype=torch.long), x)


def triangles(x: Tensor) -> Tensor:
    return x.tril() @ x.triu(1)


for _one in (in_place, writes_input, slices, views, strided, windows, rolled, masked, picked):
    _call(_one.__name__, _one, (4, 6))
_call("put", put, (4, 6))
_call("scattered", scattered, (4, 6))
_call("triangles", triangles, (6, 6))

# Types, random numbers, mathematics


def mixed(x: Tensor) -> Tensor:
    return (x.half() * x.double()).to(torch.bfloat16) + 1


def to_integers(x: Tensor) -> Tensor:
    whole = (x * 10).to(torch.int32)
    return (whole // 3) % 5 + (whole >> 1)


def booleans(x: Tensor) -> Tensor:
    return ((x > 0) & ~(x > 1)) | (x < -1)


def complexes(x: Tensor) -> Tensor:
    return torch.fft.rfft(x).abs()


def autocasts(x: Tensor) -> Tensor:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return x @ x.t()


def random_added(x: Tensor) -> Tensor:
    return x + torch.rand_like(x) + torch.randn(x.shape)


def dropped(x: Tensor) -> Tensor:
    return functional.dropout(x, 0.3, training=True)


def statistics(x: Tensor) -> tuple[Tensor, ...]:
    return x.mean(), x.std(), x.var(0), x.median(), x.amax(-1)


def equations(x: Tensor) -> Tensor:
    return torch.einsum("ij,kj->ik", x, x) / math.sqrt(x.shape[-1])


def special(x: Tensor) -> Tensor:
    return torch.special.erfinv(x.tanh()) + torch.digamma(x.abs() + 1)


def sorts(x: Tensor) -> tuple[Tensor, Tensor]:
    values, order = x.sort(-1, descending=True)
    return values.diff(), order


def scalars(x: Tensor) -> Tensor:
    return x * math.pi + float(x.shape[0]) ** 0.5


def softmaxes(x: Tensor) -> Tensor:
    return functional.log_softmax(x, 0) + functional.gelu(x, approximate="tanh")


for _one in (
    mixed,
    to_integers,
    booleans,
    complexes,
    autocasts,
    random_added,
    dropped,
    statistics,
    equations,
    special,
    sorts,
    scalars,
    softmaxes,
):
    _call(_one.__name__, _one, (6, 10))

# Views of several, and what is left


def pairwise(x: Tensor) -> Tensor:
    return torch.cdist(x, x) + (x[:, None] - x[None]).abs().sum(-1)


def kept_shapes(x: Tensor) -> tuple[Tensor, int, list[int]]:
    return x.flatten(), x.numel(), list(x.shape)


def nothing_to_do(x: Tensor) -> Tensor:
    return x


def constants(x: Tensor) -> Tensor:
    return x + torch.arange(x.shape[-1]) * torch.full((1,), 2.0) + torch.eye(6, 10)


def padded(x: Tensor) -> Tensor:
    return functional.pad(x, (1, 2), value=3.0).repeat(2, 1)


def split_and_joined(x: Tensor) -> Tensor:
    a, b, c = x.split([2, 3, 5], -1)
    return torch.cat([c, a, b], -1).chunk(2, -1)[0]


def same_twice(x: Tensor) -> Tensor:
    return (x.exp() + 1) * (x.exp() + 1)


def reduced_in_turn(x: Tensor) -> Tensor:
    return (x - x.mean(-1, keepdim=True)).square().sum(0).amax()


def printed(x: Tensor) -> Tensor:
    y = x.sin()
    print(end="")
    return y.cos()


for _one in (
    pairwise,
    kept_shapes,
    nothing_to_do,
    constants,
    padded,
    split_and_joined,
    same_twice,
    reduced_in_turn,
    printed,
):
    _call(_one.__name__, _one, (6, 10))

# Models


class Gated(nn.Module):
    """SwiGLU."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.gate, self.down = (nn.Linear(16, 16, bias=False) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        """Runs it."""
        tensor: Tensor = self.down(functional.silu(self.gate(x)) * self.up(x))
        return tensor


class Attention(nn.Module):
    """Causal, with rotated queries and keys."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        """Runs it."""
        q, k, v = self.qkv(x).unflatten(-1, (3, 2, 8)).permute(2, 0, 3, 1, 4)
        angle = torch.arange(x.shape[1])[:, None] / 10 ** torch.linspace(0, 1, 4)
        q, k = (self._turned(one, angle) for one in (q, k))
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        tensor: Tensor = self.out(mixed.transpose(1, 2).flatten(2))
        return tensor

    @staticmethod
    def _turned(x: Tensor, angle: Tensor) -> Tensor:
        a, b = x.chunk(2, -1)
        return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


class Stateful(nn.Module):
    """Counts its calls in a buffer."""

    calls: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        """Runs it."""
        self.calls += 1
        return x * self.calls


class Cell(nn.Module):
    """A recurrent cell, step by step."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(8, 12)

    def forward(self, x: Tensor) -> Tensor:
        """Runs it."""
        state = x.new_zeros(x.shape[1], 12)
        for step in x.unbind(0):
            state = self.cell(step, state)
        return state


class Experts(nn.Module):
    """Each of two experts, weighted."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(16, 2)
        self.experts = nn.ModuleList(nn.Linear(16, 16) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        """Runs it."""
        weights = self.router(x).softmax(-1)
        made = torch.stack([expert(x) for expert in self.experts], -1)
        return (made * weights.unsqueeze(-2)).sum(-1)


def _convolutions() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
    )


_module("gated", Gated, (2, 16))
_module("attention", Attention, (2, 6, 16))
_module("stateful", Stateful, (3, 3))
_module("recurrent_cell", Cell, (3, 2, 8))
_module("experts", Experts, (4, 16))
_module("convolutions", _convolutions, (2, 3, 10, 10))
_module("depthwise", lambda: nn.Conv1d(4, 4, 3, groups=4, padding=1), (2, 4, 9))
_module("transposed", lambda: nn.ConvTranspose2d(4, 2, 2, stride=2), (1, 4, 5, 5))
_module("group_normed", lambda: nn.Sequential(nn.GroupNorm(2, 8), nn.SiLU()), (2, 8, 5))
_module("layer_normed", lambda: nn.Sequential(nn.LayerNorm(12), nn.Linear(12, 3)), (5, 12))
_module("encoder", lambda: nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), (2, 5, 16))
_module("bilinear", lambda: nn.Bilinear(4, 5, 3), (6, 4), (6, 5))
_module("upsampled", lambda: nn.Upsample(scale_factor=2, mode="bilinear"), (1, 2, 4, 4))


@_case
def embedding() -> Made:
    table = nn.EmbeddingBag(20, 8, mode="mean").requires_grad_(False)
    return table, (torch.randint(20, (4, 3)),)


@_case
def losses() -> Made:
    return functional.cross_entropy, (torch.randn(8, 5, requires_grad=True), torch.arange(8) % 5)


@_case
def step_of_sgd() -> Made:
    model = nn.Linear(8, 8)
    optimiser = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)

    def step(x: Tensor) -> Tensor:
        optimiser.zero_grad()
        loss: Tensor = model(x).square().mean()
        loss.backward()
        optimiser.step()
        return loss.detach()

    return step, (torch.randn(4, 8),)


if importlib.util.find_spec("transformers") is not None:

    @_case
    def gpt2() -> Made:
        from transformers import GPT2Config, GPT2Model

        config = GPT2Config(n_layer=2, n_embd=32, n_head=2, vocab_size=50, use_cache=False)
        return GPT2Model(config).eval().requires_grad_(False), (torch.randint(50, (1, 8)),)

    @_case
    def bert() -> Made:
        from transformers import BertConfig, BertModel

        sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
        config = BertConfig(vocab_size=50, intermediate_size=64, **sizes)
        return BertModel(config).eval().requires_grad_(False), (torch.randint(50, (1, 8)),)

    @_case
    def llama() -> Made:
        from transformers import LlamaConfig, LlamaModel

        sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
        config = LlamaConfig(vocab_size=50, intermediate_size=64, use_cache=False, **sizes)
        return LlamaModel(config).eval().requires_grad_(False), (torch.randint(50, (1, 8)),)


if importlib.util.find_spec("timm") is not None:

    @_case
    def mobilenet() -> Made:
        import timm

        model = timm.create_model("mobilenetv3_small_050", pretrained=False)
        return model.eval().requires_grad_(False), (torch.randn(1, 3, 32, 32),)
