"""A model under each way of compiling it, and calls of it in turns."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

WAYS = ("python", "cpp", "tiers")
SECONDS = 20.0
"""How long latency is sampled after the swap, and at most before it."""
LEAST = 9
"""Rounds."""
BLOCK_US = 20_000.0
"""What one way takes in a round, about."""
Call = Callable[[], Any]


def make(name: str, device: str) -> tuple[Any, tuple[Any, ...]]:
    """A model in inference, or a training step's loss, and its input."""
    import torch
    import wrappers
    from real_subjects import gpt
    from subjects import SUBJECTS

    if name in wrappers.MODELS:
        return wrappers.make(name, device)
    torch.manual_seed(0)
    models: dict[str, Callable[[], Any]] = {
        "small": SUBJECTS["mlp"],
        "transformer": SUBJECTS["transformer"],
        "training": SUBJECTS["training"],
        "gpt": lambda: gpt(256)(False, None),
        "gpt-4": lambda: gpt(256)(False, 4),
        "gpt-4-training": lambda: gpt(256)(True, 4),
        "gpt-training": lambda: gpt(256)(True, None),
    }
    with torch.device(device):
        fn, args = models[name]()
    return fn, args


def compiled(way: str, name: str, model: tuple[Any, tuple[Any, ...]]) -> Call:
    """A call of a model under one way; it gives what it computed."""
    import torch
    import wrappers
    from compilescope.tiers.backend import tiered

    fn, args = model
    if way == "tiers":
        function = tiered(fn)
    else:
        options: dict[str, Any] = {"cpp_wrapper": way == "cpp"}
        if way == "cpp" and name in wrappers.MODELS:
            options |= wrappers.variants_of(name)["cpp"].options
        function = torch.compile(fn, options=options)

    def call() -> Any:
        result = function(*args)
        if result.requires_grad:
            result.backward()
        return result

    call.function = function  # type: ignore[attr-defined]
    return call


def wait(device: str) -> None:
    """Until the GPU has computed what was asked of it."""
    import torch

    if device == "cuda":
        torch.cuda.synchronize()


def cpu_s() -> float:
    """Processor time of this process and of what it has waited for, which a busy machine spares."""
    return sum(os.times()[:4])


def check(call: Call) -> None:
    """Calls a model whose C++ wrapper is built until that was checked."""
    import compilescope as cs
    from compilescope.tiers import background

    def is_checked() -> bool:
        background.wait()
        tiers = cs.tiers(call.function)  # type: ignore[attr-defined]
        return all(graph.tiers[1].state != "checks" for graph in tiers)

    while not is_checked():
        call()
