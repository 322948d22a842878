"""Python in many styles: control flow, containers, generators, functions of functions."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from .cases import call, calls

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


call(branches, (8, 8))
call(loops, (16,))
call(while_counts, (5, 7))
call(early_return, (4, 4), (4, 4))
call(tries, (9,))
call(asserts, (3, 33))
call(recursion, (6, 6))
call(matches, (12,))
call(conditional, (8, 8))

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
    return torch.stack([sum(tensors) for tensors in held.values()])  # type: ignore[misc]


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


calls(
    (
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
    ),
    (4, 6),
)
call(zipped, (3, 5), (3, 5))

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


calls((closures, partials, keyword_only, decorated, contexts, mapped, gradient), (6, 4))
call(vmapped, (4, 8), (4, 8))
