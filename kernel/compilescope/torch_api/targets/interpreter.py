"""Extends Triton's interpreter to run the kernels that Inductor generates.

It runs in a separate process, with ``TRITON_INTERPRET=1`` in the environment before Triton is
imported, and changes Triton there permanently. `interpreter_operations` replaces the operations
that these kernels need and Triton's interpreter lacks.

Relies on ``triton.runtime.interpreter`` (InterpretedFunction, _patch_lang, _LangPatchScope) and
``torch._inductor.runtime.triton_heuristics`` (CachingAutotuner, GridExpr); the same from Triton 3.6
to 3.7.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers, triton_heuristics
from triton.runtime import interpreter

from . import random_numbers as target_random
from .interpreter_errors import CannotInterpretError, KernelFaultError, OutOfTimeError
from .interpreter_operations import limits, replace_operations


class Kernel:
    """A generated kernel that the interpreter runs.

    Parameters
    ----------
    name, source
        As in the wrapper.
    folder
        The folder for the source, which the interpreter reads from a file.
    """

    def __init__(self, name: str, source: str, folder: Path) -> None:
        path = folder / f"{name}.py"
        path.write_text(source, encoding="utf-8")
        namespace: dict[str, Any] = {"__file__": str(path), "__name__": name}
        exec(compile(source, str(path), "exec"), namespace)
        self._tuner: Any = namespace[name]
        if not isinstance(self._tuner, triton_heuristics.CachingAutotuner):
            raise CannotInterpretError("it is not a Triton kernel of one body")
        self.parameters: list[str] = list(self._tuner.fn.arg_names)

    def plan(self, args: Sequence[Any]) -> tuple[Any, int]:
        """The launch configuration with the fewest blocks, and the number of blocks."""
        plans = [(self._grid(args, config)[1], config) for config in self._tuner.configs]
        grid, config = min(plans, key=lambda plan: int(np.prod(plan[0])))
        return config, int(np.prod(grid))

    def constants(self, config: Any) -> dict[str, Any]:
        """The constants that the configuration sets: block sizes."""
        return dict(config.kwargs)

    def run(self, args: Sequence[Any], config: Any, seconds: float) -> None:
        """One launch, on tensors of the CPU.

        Raises
        ------
        CannotInterpretError, KernelFaultError, OutOfTimeError
        """
        arguments, grid = self._grid(args, config)
        limits.ranges = _ranges(args)
        limits.until = time.monotonic() + seconds
        constants = {
            name: value for name, value in config.kwargs.items() if name in self.parameters
        }
        try:
            with np.errstate(all="ignore"):
                self._tuner.fn[tuple(grid)](*arguments, **constants)
        except Exception as error:
            raise _cause(error) from error

    def _grid(self, args: Sequence[Any], config: Any) -> tuple[Sequence[Any], Sequence[int]]:
        arguments, grid = self._tuner._interpret_args_grid(tuple(args), config)
        return arguments, [int(size) for size in grid]


def install() -> None:
    """Patches Triton in this process. Call it once, before a kernel is loaded.

    Raises
    ------
    CannotInterpretError
        Triton was imported without ``TRITON_INTERPRET=1``.
    """
    if not triton.knobs.runtime.interpret:
        raise CannotInterpretError("Triton was not started as an interpreter")
    triton_helpers.set_driver_to_gpu = lambda: None
    triton_helpers.x_grid_barrier = _grid_barrier
    triton_helpers.constexpr_next_power_of_2 = lambda n: triton.next_power_of_2(_number(n))
    triton_helpers.if_mask = lambda mask, value: None if _number(mask) is None else value
    _patch_once()
    # A GPU's integers wrap around.
    interpreter.interpreter_builder.options = dataclasses.replace(
        interpreter.interpreter_builder.options, sanitize_overflow=False
    )
    replace_operations()


def random_numbers(mode: str, seed: int, count: int, *, lanes: bool) -> torch.Tensor:
    """Inductor's random numbers, computed directly with Triton's Philox.

    Parameters
    ----------
    mode
        ``rand`` or ``randn``.
    lanes
        Whether number ``i`` is one of the four at offset ``i // 4``, as from ``rand4x``; otherwise
        it is the one at offset ``i``, as from ``rand``.
    """
    if lanes:
        kernel = target_random.uniform_lanes if mode == "rand" else target_random.normal_lanes
    else:
        kernel = target_random.uniform if mode == "rand" else target_random.normal
    out = torch.empty(_padded(count))
    _draw(kernel, out, seed)
    return out[:count]


def random_integers(low: int, high: int, seed: int, count: int) -> torch.Tensor:
    """The same of integers, from ``low`` to below ``high``."""
    out = torch.empty(_padded(count), dtype=torch.int64)
    bounds = [torch.tensor([number], dtype=torch.int64) for number in (low, high)]
    _draw(target_random.integers, out, seed, *bounds)
    return out[:count]


_BLOCK = 1024


def _padded(count: int) -> int:
    return -(-count // _BLOCK) * _BLOCK


def _draw(kernel: Any, out: torch.Tensor, seed: int, *rest: Any) -> None:
    limits.ranges, limits.until = _ranges([out, *rest]), math.inf
    with np.errstate(all="ignore"):
        kernel[(out.numel() // _BLOCK,)](out, seed, *rest, BLOCK=_BLOCK)


def _ranges(args: Sequence[Any]) -> Any:
    """Start and end of each argument's memory, in order."""
    storages = [arg.untyped_storage() for arg in args if isinstance(arg, torch.Tensor)]
    spans = {
        (storage.data_ptr(), storage.data_ptr() + storage.nbytes())
        for storage in storages
        if storage.nbytes()
    }
    return np.array(sorted(spans), np.uint64).reshape(-1, 2)


def _cause(error: BaseException | None) -> Exception:
    """The original error in the kernel, which the interpreter wraps once for each function."""
    wrapped = error
    while isinstance(wrapped, triton.runtime.errors.InterpreterError) and wrapped.__cause__:
        wrapped = wrapped.__cause__
    if isinstance(wrapped, (CannotInterpretError, KernelFaultError, OutOfTimeError)):
        return wrapped
    if isinstance(wrapped, NotImplementedError):
        return CannotInterpretError(f"Triton's interpreter says: {wrapped}")
    return CannotInterpretError(
        f"Triton's interpreter fails with {type(wrapped).__name__}: {wrapped}"
    )


def _patch_once() -> None:
    """Patches Triton's language once for the process instead of for each called function."""
    stand_in = SimpleNamespace(__globals__={"tl": tl, "core": tl.core})
    interpreter._patch_lang(stand_in)
    # Triton 3.6 converts a one-element array to a number, which NumPy 2.4 refuses.
    tl.tensor.__index__ = lambda self: int(self.handle.data.item())
    interpreter._patch_lang = lambda fn: interpreter._LangPatchScope()


def _number(value: Any) -> Any:
    """The value of a compiler constant; most are plain values here."""
    return value.value if isinstance(value, tl.constexpr) else value


def _grid_barrier(sem: Any) -> None:
    raise CannotInterpretError(
        "its blocks wait for each other, and the interpreter runs one after the other"
    )
