"""Environment variables that torch.compile reads.

Found in the text of torch itself, so that none is missing and one that nothing reads is known.
"""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path

import torch
import torch._dynamo.config as dynamo_config
import torch._inductor.config as inductor_config

PREFIXES = ("TORCHINDUCTOR_", "TORCHDYNAMO_", "TORCH_COMPILE", "TORCH_LOGS", "TORCH_TRACE",
            "TORCH_", "TRITON_", "PYTORCH_", "INDUCTOR_")  # fmt: skip
"""How their names begin, and Triton's."""
_OWNED = ("TORCHINDUCTOR_", "TORCHDYNAMO_")
"""Beginnings under which torch alone has names: another one is a mistake."""
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
    """Those that are set in this process."""
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if name.startswith(PREFIXES) or name in _TOOLS
    }


def unread(names: list[str]) -> list[str]:
    """Which of the names torch's own prefixes have, but torch does not know."""
    owned = [name for name in names if name.startswith(_OWNED)]
    return [name for name in owned if name not in known()] if owned else []


@functools.cache
def known() -> frozenset[str]:
    """The names under torch's own prefixes that its text has."""
    names: set[str] = set()
    for part in _PARTS:
        for file in (Path(torch.__file__).parent / part).rglob("*.py"):
            names.update(_NAME.findall(file.read_text(encoding="utf-8", errors="replace")))
    return frozenset(names)


def switched_off() -> str:
    """What turns torch.compile off in this process; empty if nothing does."""
    if dynamo_config.disable:
        return "torch._dynamo.config.disable"
    return ""


def swallows_errors() -> bool:
    """Whether a failure to compile is run in eager and not told."""
    return bool(dynamo_config.suppress_errors)


def skips_caches() -> bool:
    """Whether every process compiles everything anew."""
    return bool(inductor_config.force_disable_caches)


def compile_threads() -> int:
    """How many kernels are compiled at once."""
    return int(inductor_config.compile_threads or 1)
