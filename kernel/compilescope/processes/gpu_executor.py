"""An executor with a thread for each GPU of this machine: no two cells share a GPU."""

from __future__ import annotations

import os
import queue
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

import msgspec
import torch

from ..report.errors import CompilescopeError
from .thread_executor import Threads

VISIBLE = "CUDA_VISIBLE_DEVICES"
"""ROCm's torch reads it too."""


class NoGpuError(CompilescopeError):
    """There is no GPU that torch sees."""


class Gpus(Threads):
    """Runs each cell in a process that sees one GPU alone.

    Parameters
    ----------
    gpus
        What names them in ``CUDA_VISIBLE_DEVICES``.
    """

    def __init__(self, gpus: Sequence[str]) -> None:
        super().__init__(len(gpus))
        self._free: queue.SimpleQueue[str] = queue.SimpleQueue()
        for gpu in gpus:
            self._free.put(gpu)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Runs a cell when a GPU is free."""
        (task,) = args

        def run() -> Any:
            gpu = self._free.get()
            try:
                return fn(msgspec.structs.replace(task, variables={VISIBLE: gpu}), **kwargs)
            finally:
                self._free.put(gpu)

        return super().submit(run)


def visible_gpus() -> list[str]:
    """What names each GPU that this process may use.

    Raises
    ------
    NoGpuError
        There is none.
    """
    count = torch.cuda.device_count()
    if count == 0:
        raise NoGpuError(
            "torch sees no GPU here.", remedy="Leave executor out: it runs on the processor."
        )
    named = [name for name in os.environ.get(VISIBLE, "").split(",") if name]
    return named[:count] if named else [str(number) for number in range(count)]
