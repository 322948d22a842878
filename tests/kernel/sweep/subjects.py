"""What the tests of sweeps call in other processes."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import torch
from torch import nn


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2 + 1


def fails(x: torch.Tensor) -> torch.Tensor:
    raise LookupError("the subject's own")


class UsesUp:
    """Fails at its third call: what it takes from cannot be put back."""

    def __init__(self) -> None:
        self.left = iter(range(2))

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        next(self.left)
        return x + 1


def aborts(x: torch.Tensor) -> torch.Tensor:
    os.write(2, b"about to abort\n")
    os.abort()


def hangs(x: torch.Tensor) -> torch.Tensor:
    time.sleep(600)
    return x


def hangs_on_two_values(x: torch.Tensor) -> torch.Tensor:
    """While there is a file that a test names."""
    while len(x) == 2 and os.path.exists(os.environ["COMPILESCOPE_TEST_CELL_HOLD"]):  # noqa: PTH110
        time.sleep(0.02)
    return x * 2 + 1


def hoards(x: torch.Tensor) -> torch.Tensor:
    held = []
    for _ in range(200):
        held.append(torch.ones(4_000_000))  # 16 MB
        time.sleep(0.02)
    time.sleep(600)  # until it is ended, however late that is
    return x + len(held)


def refuses(x: torch.Tensor) -> torch.Tensor:
    """More than any machine has."""
    return torch.empty(1 << 50) + x


def kills_its_worker(x: torch.Tensor) -> torch.Tensor:
    os.kill(os.getppid(), 9)
    time.sleep(60)
    return x


class Counting(nn.Module):
    """Changes its state at each call."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x + self.calls


def make() -> tuple[Any, ...]:
    return Counting(), (torch.ones(4),), {}


def make_nothing() -> Any:
    return "no call"


def make_with_a_fault() -> Any:
    raise LookupError("the factory's own")


def make_too_much() -> Any:
    return double, (torch.ones(4), torch.ones(4))


class Unrestorable:
    """Is pickled, but not unpickled."""

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return x

    def __setstate__(self, state: dict[str, Any]) -> None:
        raise LookupError("nothing to restore")

    def __getstate__(self) -> dict[str, Any]:
        return {"a": 1}


def grows(x: torch.Tensor) -> torch.Tensor:
    """64 MB beyond its argument."""
    return (x.repeat(16_000_000) + 1).sum()


def unpicklable() -> Any:
    held = threading.Lock()

    def holds(x: torch.Tensor) -> torch.Tensor:
        with held:
            return x

    return holds
