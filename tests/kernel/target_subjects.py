"""What the tests of targets inspect; other processes import it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F


def scaled(x: torch.Tensor, scale: float = 2.0) -> torch.Tensor:
    return (x + 1).relu() * scale


def projected(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return F.gelu(F.layer_norm(x, x.shape[-1:]) @ w).sum()


def sliced(x: torch.Tensor, part: torch.Tensor) -> torch.Tensor:
    x.mul_(2)
    return part + 1


class Tied(nn.Module):
    """A language model's ends: the same weights on both."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(64, 32)
        self.logits = nn.Linear(32, 64, bias=False)
        self.logits.weight = self.tokens.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.logits(self.tokens(ids))
        return out


class Layer(nn.Module):
    """A layer of a decoder with seventy billion parameters, its attention left out of it."""

    def __init__(self, width: int = 8192, hidden: int = 28672, shared: int = 1024) -> None:
        super().__init__()
        self.norm = nn.RMSNorm(width)
        self.queries = nn.Linear(width, width, bias=False)
        self.keys = nn.Linear(width, shared, bias=False)
        self.values = nn.Linear(width, shared, bias=False)
        self.output = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.norm(x)
        mixed = self.queries(h) * (self.keys(h) + self.values(h)).repeat(1, 1, 8)
        x = x + self.output(mixed)
        h = self.norm(x)
        out: torch.Tensor = x + self.down(F.silu(self.gate(h)) * self.up(h))
        return out


class Aborts:
    """Ends the process that unpickles it, as an assertion in C++ does."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _abort, ()


class Hangs:
    """Says that it is being unpickled, in a file with the numbers of two processes, and stays."""

    def __init__(self, file: str) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return _hang, (self.file,)


class Saves:
    """Saves a file where it is unpickled, as an editor may while the process works."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text

    def __reduce__(self) -> tuple[Any, ...]:
        return _save, (self.file, self.text)


class Locked:
    """Cannot be pickled."""

    def __init__(self) -> None:
        import threading

        self.lock = threading.Lock()

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1


def with_extra(x: torch.Tensor, extra: object) -> torch.Tensor:
    return x + 1


def _save(file: str, text: str) -> None:
    begun = time.time()
    saved = Path(file)
    # The clock of file systems is behind by some milliseconds.
    while saved.stat().st_mtime <= begun:
        saved.write_text(text)


def _abort() -> None:
    os.write(2, b"terminate called without an active exception\n")
    os.abort()


def _hang(file: str) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with open(f"{file}.partial", "w") as partial:  # noqa: PTH123 - renamed below
        partial.write(f"{os.getpid()} {child.pid}")
    os.rename(f"{file}.partial", file)  # noqa: PTH104
    time.sleep(600)
