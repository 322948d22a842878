"""Calls with graph breaks, which run in another process; that process imports them too."""

from __future__ import annotations

import ctypes
import os
import random
import socket
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

LIMIT = 3
RANDOM = random.Random(0)
"""A test changes them."""
EMPTY = torch.empty(0)

FILE = "COMPILESCOPE_FILE_OF_TEST"
"""The variable with the file that `with_operator` changes."""


class Block(nn.Module):
    """A graph break between two layers, one of which keeps statistics."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.norm = nn.BatchNorm1d(8)
        self.seen = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.norm(self.linear(x))
        self.seen += 1
        print(self.seen)
        return x.relu()


class Nested(nn.Module):
    """Blocks in a block, the last two with the same weights."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([nn.Sequential(Block(), nn.Tanh()), Block()])
        self.blocks.append(self.blocks[-1])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return x


def printing(x: torch.Tensor) -> torch.Tensor:
    y = x.relu()
    print("between")
    return y + 1


def branching(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        return x.sin()
    return x.cos()


def with_item(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    if y.mean().item() > 0:
        y = y + 1
    return y.sin()


def with_random_branch(x: torch.Tensor) -> torch.Tensor:
    x = nn.functional.dropout(x)
    torch._dynamo.graph_break()
    if random.random() + float(np.random.rand()) + torch.rand(()).item() < 1.5:
        return x.sin()
    return x.cos()


def with_numpy(x: torch.Tensor) -> torch.Tensor:
    y = x.relu()
    torch._dynamo.graph_break()
    size = int(np.abs(np.array(y.detach().tolist())).sum()) % 5 + 1
    return y[:size] * 2


def _step(x: torch.Tensor, number: int) -> torch.Tensor:
    x = x.sin() * number
    torch._dynamo.graph_break()
    return x.cos()


def with_loop(x: torch.Tensor) -> torch.Tensor:
    for number in range(3):
        x = _step(x, number)
    return x


def trained(x: torch.Tensor, model: nn.Module) -> torch.Tensor:
    loss = model(x).sum()
    loss.backward()
    return loss.detach()


def limited(x: torch.Tensor) -> torch.Tensor:
    y = x.relu()
    print(LIMIT, RANDOM, EMPTY)
    return y + 1


@torch.library.custom_op("run_subjects::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@doubled.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    frames = [frame for frame, _ in traceback.walk_stack(None)]
    if FILE in os.environ and any("_inductor" in frame.f_code.co_filename for frame in frames):
        _append(os.environ[FILE])
    return torch.empty_like(x)


def with_operator(x: torch.Tensor) -> torch.Tensor:
    y = doubled(x)
    print("between")
    return y + 1


def _between(x: torch.Tensor, change: Any, *arguments: Any) -> torch.Tensor:
    y = x.relu()
    torch._dynamo.graph_break()
    try:
        change(*arguments)
    except BaseException:  # noqa: BLE001 - whatever it is, the other process must not go on
        print("handled")
    return y + 1


def writing(x: torch.Tensor, file: str) -> torch.Tensor:
    return _between(x, _append, file)


def _append(file: str) -> None:
    with open(file, "a") as opened:  # noqa: PTH123
        opened.write("x")


def saving(x: torch.Tensor, file: str) -> torch.Tensor:
    return _between(x, torch.save, x, file)


def deleting(x: torch.Tensor, file: str) -> torch.Tensor:
    return _between(x, os.unlink, file)


def moving(x: torch.Tensor, file: str) -> torch.Tensor:
    return _between(x, Path(file).rename, f"{file}.moved")


def making_folder(x: torch.Tensor, file: str) -> torch.Tensor:
    return _between(x, Path(f"{file}.folder").mkdir)


def running(x: torch.Tensor, file: str) -> torch.Tensor:
    return _between(x, subprocess.run, ["touch", f"{file}.touched"])


def connecting(x: torch.Tensor, file: str) -> torch.Tensor:
    return _between(x, socket.create_connection, ("127.0.0.1", 9))


def asking(x: torch.Tensor, file: str) -> torch.Tensor:
    return _between(x, input)


def reading_input(x: torch.Tensor, file: str) -> torch.Tensor:
    return _between(x, sys.stdin.readline)


def writing_in_c(x: torch.Tensor, file: str) -> torch.Tensor:
    return _between(x, ctypes.CDLL(None).creat, f"{file}.made".encode(), 0o600)


class Cleaning:
    """Deletes a file when it is deleted itself."""

    def __init__(self, file: str) -> None:
        self.file = file

    def __del__(self) -> None:
        os.unlink(self.file)  # noqa: PTH108
