"""The origin of a compilation: the running cell, and the ``torch.compile`` call."""

from __future__ import annotations

from typing import NamedTuple

from .. import notebook_cells
from ..report import Compilation
from ..torch_api.trace.compile_calls import Call, current

_BEFORE = "torch.compile was called before watching began"
_NOBODY = "torch compiled this frame outside of any callable that torch.compile returned."


class Origin(NamedTuple):
    """The origin as known while torch compiles."""

    call: Call | None
    cell: notebook_cells.Cell | None

    def put_into(self, compilation: Compilation) -> None:
        """Adds the origin to a compilation of the report."""
        if self.call is None:
            compilation.absent["call"] = _NOBODY
        elif self.call.where is None:
            wrapped = f"; it compiles {self.call.wrapped}" if self.call.wrapped else ""
            compilation.absent["call"] = f"{_BEFORE}{wrapped}."
        else:
            compilation.call = self.call.where
        if self.cell is not None:
            compilation.cell = self.cell.id
            compilation.cell_number = self.cell.number


def current_origin() -> Origin:
    """The origin of this thread's current compilation."""
    return Origin(current(), notebook_cells.running())
