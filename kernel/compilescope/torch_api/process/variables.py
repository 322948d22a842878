"""Environment variables that torch.compile reads.

They are read from torch's source, so that the list is complete and unread variables are detected.
"""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path
from typing import NamedTuple

import torch
import torch._dynamo.config as dynamo_config
import torch._inductor.config as inductor_config

PREFIXES = ("TORCHINDUCTOR_", "TORCHDYNAMO_", "TORCH_COMPILE", "TORCH_LOGS", "TORCH_TRACE",
            "TORCH_", "TRITON_", "PYTORCH_", "INDUCTOR_")  # fmt: skip
"""The prefixes of their names, including Triton's."""
_OWNED = ("TORCHINDUCTOR_", "TORCHDYNAMO_")
"""Prefixes that only torch uses: an unknown name with one of them is a mistake."""
_TOOLS = ("CXX", "CC", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS",
          "ATEN_CPU_CAPABILITY", "LD_PRELOAD", "LD_LIBRARY_PATH", "TMPDIR")  # fmt: skip
_PARTS = (
    "_inductor",
    "_dynamo",
    "_functorch",
    "_logging",
    "compiler",
    "utils",
    "fx",
    "_higher_order_ops",
)
_NAME = re.compile(rf"['\"]((?:{'|'.join(_OWNED)})[A-Z0-9_]+)['\"]")


def set_here() -> dict[str, str]:
    """The variables that are set in this process."""
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if name.startswith(PREFIXES) or name in _TOOLS
    }


def unread(names: list[str]) -> list[str]:
    """The names with one of torch's own prefixes that torch does not know."""
    owned = [name for name in names if name.startswith(_OWNED)]
    return [name for name in owned if name not in read_by_torch()] if owned else []


@functools.cache
def read_by_torch() -> frozenset[str]:
    """The names with torch's own prefixes that occur in its source."""
    names: set[str] = set()
    for part in _PARTS:
        for file in (Path(torch.__file__).parent / part).rglob("*.py"):
            names.update(_NAME.findall(file.read_text(encoding="utf-8", errors="replace")))
    return frozenset(names)


class SwitchedOff(NamedTuple):
    """What turns torch.compile off in this process."""

    by: str
    """The variable or the setting."""
    undo: str
    """What turns torch.compile on again, as a sentence."""


def switched_off() -> SwitchedOff | None:
    """The variable or the setting that turns torch.compile off; None if none does.

    ``torch.compile`` reads the first variable whenever it is called; the second is read when torch
    is imported.
    """
    if os.environ.get("TORCHDYNAMO_DISABLE") == "1":
        return SwitchedOff("TORCHDYNAMO_DISABLE", 'Run del os.environ["TORCHDYNAMO_DISABLE"].')
    if not dynamo_config.disable:
        return None
    undo = "torch._dynamo.config.disable = False"
    if os.environ.get("TORCH_COMPILE_DISABLE") == "1":
        return SwitchedOff(
            "TORCH_COMPILE_DISABLE", f"Unset it and restart the kernel, or set {undo}."
        )
    return SwitchedOff("torch._dynamo.config.disable", f"Set {undo}.")


OFF = "{} turns torch.compile off: everything runs in eager."
"""What follows, of a variable or a setting."""


def swallows_errors() -> bool:
    """Whether torch silently falls back to eager if compilation fails."""
    return bool(dynamo_config.suppress_errors)


def skips_caches() -> bool:
    """Whether every process compiles everything again."""
    return bool(inductor_config.force_disable_caches)


def compile_threads() -> int:
    """How many kernels torch compiles in parallel."""
    return int(inductor_config.compile_threads or 1)
