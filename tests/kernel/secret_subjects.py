"""Calls with a secret text in every place where Python code can have one."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

import torch
from torch import nn

SECRET = "hunter2"
NUMBER = "90210"
"""What the numbers begin with that are computed with."""
CONFIG = {"hunter2 key": 1, "token": "hunter2 value"}


@dataclasses.dataclass
class Settings:
    """What a guard looks at."""

    name: str = "hunter2 default"


@torch.library.custom_op("compilescope_tests::tag", mutates_args=())
def tag(x: torch.Tensor, name: str) -> torch.Tensor:
    """An operator that gets a text."""
    return x.clone()


@tag.register_fake
def _(x: torch.Tensor, name: str) -> torch.Tensor:
    return torch.empty_like(x)


class Net(nn.Module):
    """Texts in globals, attributes, arguments, keys, defaults, breaks, operators, comments; numbers
    that it computes with."""

    def __init__(self) -> None:
        super().__init__()
        self.note = "hunter2 attribute"
        self.inner = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, word: str, table: dict[str, str], by: Settings) -> Any:
        if CONFIG["token"] == "hunter2 value" and word.startswith("hunter2"):
            x = x + 1
        if self.note == "hunter2 attribute" and by.name != "hunter2 other":
            x = x * 2
        x = x + len(table["hunter2 entry"])
        print("hunter2 printed")  # hunter2 comment
        x = torch.ops.compilescope_tests.tag(x, "hunter2 operator")
        torch._assert_async(x.sum() < 1e30, "hunter2 assertion")
        x = torch.where(x > 90210.5, x * 90210, x / 90210.25)
        x = x + torch.tensor([90210.125, 2.0, 3.0, 4.0])
        return self.inner(x)


def net() -> tuple[Any, tuple[Any, ...]]:
    """The call."""
    return Net(), (torch.randn(4, 4), "hunter2 w", {"hunter2 entry": "hunter2 item"}, Settings())


def checked(x: torch.Tensor, word: str) -> torch.Tensor:
    """Its message holds an argument."""
    torch._check(x.shape[0] > 100, lambda: "hunter2 check " + word)
    return x + 1


def raised(x: torch.Tensor, word: str) -> torch.Tensor:
    """Fails on several lines, for a reason."""
    try:
        return x + {"a": 1}[word]
    except KeyError as error:
        raise RuntimeError(f"no {word}\nhunter2 second line") from error


def again(x: torch.Tensor, word: str) -> torch.Tensor:
    """Compiled anew for each text."""
    return x + 1 if word == "hunter2 first" else x.sin()


COUNTS = {919: "a", "n": 919}
"""919 and its neighbors are no size of any tensor."""


class Level(enum.IntEnum):
    """A number with a name."""

    HIGH = 919


@dataclasses.dataclass
class Limits:
    """What a guard looks at."""

    most: int = 919


@torch.library.custom_op("compilescope_tests::count", mutates_args=())
def count(x: torch.Tensor, number: int) -> torch.Tensor:
    """An operator that gets a number."""
    return x.clone()


@count.register_fake
def _(x: torch.Tensor, number: int) -> torch.Tensor:
    return torch.empty_like(x)


class Counting(nn.Module):
    """Whole numbers in the places that `Net` has texts in, and in comparisons with sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.level = 919
        self.inner = nn.Linear(4, 4)

    def forward(
        self,
        x: torch.Tensor,
        ids: torch.Tensor,
        number: int,
        table: dict[int, str],
        by: Limits,
        level: Level,
    ) -> Any:
        if COUNTS["n"] == 919 and number == 919 and self.level == 919 and by.most == 919:
            x = x + 919
        if 919 in COUNTS and level is Level.HIGH:
            x = x + len(table[919])
        ids = ((ids + 919) ^ 919).clamp(max=919)
        ids = torch.where(ids > 919, ids, torch.full_like(ids, 919))
        x = torch.ops.compilescope_tests.count(x, 919)
        x = x.clamp(-919, 919) + torch.tensor([919, 1, 2, 3])
        if x.shape[0] < 919 and x.shape[0] % 919 != 0:
            x = x.sin()
        torch._check(x.shape[0] <= 919)
        print(919)
        return self.inner(x), ids, ids[917:].sum()


def counting() -> tuple[Any, tuple[Any, ...]]:
    """The call."""
    args = torch.randn(5, 4), torch.arange(5), 919, {919: "x"}, Limits(), Level.HIGH
    return Counting(), args


def counted(x: torch.Tensor, number: int) -> torch.Tensor:
    """Compiled anew for each number."""
    return x + number if number == 919 else x * number


def counted_to_the_limit(x: torch.Tensor) -> torch.Tensor:
    """Ends with a frame that runs in eager."""
    for number in range(910, 920):
        torch._dynamo.graph_break()
        x = counted(x, number)
    return x


def viewed(x: torch.Tensor, number: int) -> torch.Tensor:
    """Fails inside torch."""
    return x.view(number, -1)
