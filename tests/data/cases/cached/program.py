"""The same function twice, with a reset between: the second time its code comes from the cache."""

from typing import Any

import torch
from torch import Tensor


def f(x: Tensor) -> Tensor:
    return x.sin() + x.sum()


def run(options: dict[str, Any]) -> None:
    for _ in range(2):
        torch._dynamo.reset()
        with torch.no_grad():
            torch.compile(f, options=options)(torch.randn(16))
