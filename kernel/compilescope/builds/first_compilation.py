"""Makes torch load the modules that it loads at the first compilation of a process.

That takes seconds for any code, so it must not count as a variant's time.
"""

from __future__ import annotations

import types
from typing import cast

import torch

from ..isolation.code_swap import CodeCopies
from ..report.variant import Variant
from .capture_graphs import capture
from .sources import generate, generated_for


def warm_up_compiler(device: str) -> None:
    """Generates the code of a tiny function, unless this process has generated some before.

    Parameters
    ----------
    device
        The device of the code that is compiled next.
    """
    device = device if device.startswith("cuda") else "cpu"
    if device.partition(":")[0] not in generated_for:
        code_copies = CodeCopies([cast(types.FunctionType, _tiny)])
        captured = capture(_tiny, (torch.ones(4, 4, device=device),), {}, Variant(), code_copies)
        generate(captured, "tiny", Variant())


def _tiny(x: torch.Tensor) -> torch.Tensor:
    return (x @ x).relu().sum(-1)
