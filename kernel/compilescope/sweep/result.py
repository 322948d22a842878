"""The result of a sweep in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..report import Report, Sweep, SweepCell, renderers
from ..report.errors import CompilescopeError


class SweepResult:
    """The cells of a sweep, and the fastest of them. Displays itself.

    A cell has figures and no code. `compilescope.inspect` with the cell's variant makes a report of
    its code: see `cell`.
    """

    def __init__(self, report: Report) -> None:
        self._report = report

    @property
    def report(self) -> Report:
        """The report with the sweep in ``report.sweep``; it is saved and loaded like any other.

        Examples
        --------
        >>> result.report.sweep.cells == result.cells
        True
        """
        return self._report

    @property
    def sweep(self) -> Sweep:
        """The report's struct."""
        assert self.report.sweep is not None, "it is made of a report that has one"
        return self.report.sweep

    @property
    def cells(self) -> list[SweepCell]:
        """Every cell, in the order of the request."""
        return self.sweep.cells

    @property
    def best(self) -> SweepCell | None:
        """The cell with the lowest median and correct results; None if there is none.

        ``report.sweep.verdicts`` says whether noise hides which is fastest.
        """
        return next((cell for cell in self.cells if cell.key == self.sweep.winner), None)

    @property
    def code(self) -> str:
        """The settings of the fastest cell, as code to paste.

        Empty if it is not clearly faster than eager; ``report.sweep.overall`` or its verdict says
        so.
        """
        return self.sweep.code

    def cell(self, name: str, shape: str | None = None) -> SweepCell:
        """A cell by the name of its variant and, if the sweep has several, the name of its shape.

        Raises
        ------
        CompilescopeError
            The sweep has no such cell; the message lists its cells.

        Examples
        --------
        >>> cell = result.cell("python")
        >>> report = cs.inspect(fn, (x,), variants={cell.name: cell.variant}, run=False)
        >>> report.variant("python").requested == cell.variant
        True
        """
        for cell in self.cells:
            if cell.name == name and shape in (None, cell.shape):
                return cell
        listed = ", ".join(
            repr(cell.name) + (f" with {cell.shape!r}" if cell.shape else "") for cell in self.cells
        )
        raise CompilescopeError(f"The sweep has no cell {name!r}.", remedy=f"It has {listed}.")

    def to_json(self) -> str:
        """The report as JSON; `compilescope.load` reads it back."""
        return self.report.to_json()

    def save(self, path: str | Path, *, redact: bool = False) -> Path:
        """Writes the report, as `Report.save` does."""
        return self.report.save(path, redact=redact)

    def _repr_html_(self) -> str:
        return renderers["sweep html"](self.report)

    def __str__(self) -> str:
        return renderers["sweep text"](self.report)

    def __repr__(self) -> str:
        done = sum(cell.state == "done" for cell in self.cells)
        lowest = f", lowest median {self.best.name!r}" if self.best else ""
        return f"<sweep of {self.report.subject.name}: {done} of {len(self.cells)} done{lowest}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))
