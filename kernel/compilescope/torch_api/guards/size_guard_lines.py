"""The guards on sizes of a compilation, with and without those of its code generation.

Does not import torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec


class TensorSizes(msgspec.Struct, frozen=True, kw_only=True):
    """The sizes and strides of a tensor that its guard compares; None: any."""

    source: str
    size: list[int | None]
    stride: list[int | None]

    def __str__(self) -> str:
        return f"size={self.size}, stride={self.stride}"

    def mismatch(self, tensor: Any) -> str:
        """What torch says of a tensor that the guard rejects; empty if its sizes and strides fit.

        Parameters
        ----------
        tensor
            One of the same rank.
        """
        for kind, expected, actual in (
            ("size", self.size, tensor.size()),
            ("stride", self.stride, tensor.stride()),
        ):
            for index, (wanted, value) in enumerate(zip(expected, actual, strict=True)):
                if wanted is not None and wanted != value:
                    return (
                        f"tensor '{self.source}' {kind} mismatch at index {index}. "
                        f"expected {wanted}, actual {value}"
                    )
        return ""


class SizeGuards(msgspec.Struct, frozen=True, kw_only=True):
    """The guards on sizes of one compilation, one expression with torch's note per line."""

    before: list[str]
    """The guards of Dynamo's trace."""
    after: list[str]
    """The guards that the compilation has with its code, in torch's order."""
    tensors: list[tuple[TensorSizes, TensorSizes]] = []
    """Tensors of which the code made dynamic sizes static: before and after."""

    def replaces(self, lines: Sequence[str]) -> bool:
        """Whether one of these lines is a guard on sizes of Dynamo's trace."""
        replaced = set(map(without_note, self.before))
        return any(without_note(line) in replaced for line in lines)


def without_note(line: str) -> str:
    """The expression of a guard's line, without torch's note on its origin."""
    return line.split("  #", 1)[0].strip()
