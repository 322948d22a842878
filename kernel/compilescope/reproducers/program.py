"""A program that reproduces a part of a report, and the result of its trial."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..report.saving.path_checks import given_path, write_whole, writing
from .same_failure import DIFFERS

TrialOutcome = Literal["agrees", "ran", "differs", "fails", "failed", "not tried"]


MAX_OUTPUT_CHARACTERS = 8000
"""The most characters of a failed program's output that its text shows: a C++ compiler's warnings
may be 100,000."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What of a report is reproduced; the fields are parameters of `compilescope.reproducer`."""

    kernel: str | None = None
    graph: str | None = None
    compilation: str | None = None
    variant: str | None = None
    run: bool = True
    minify: bool = False


@dataclass
class Program:
    """A program that reproduces a part of a report, before its trial."""

    what: str
    """What it runs: ``cpp_fused_add_0``, or ``post_grad of 0/0``."""
    file_name: str
    """The name of the file that `save` writes to a folder."""
    code: str
    """The program."""
    device: str
    """The device that it needs: ``cpu``, ``cuda``."""
    unchecked: str = ""
    """Why it compares nothing, or not everything, as a clause; empty if it compares everything."""


@dataclass
class Reproducer(Program):
    """A program that runs one kernel or graph alone, with inputs of the same layout.

    It needs nothing but torch. Displays itself with the result of its trial.
    """

    tried: TrialOutcome = "not tried"
    """``agrees``: it ran in a separate process, and every compared result equals that of torch's
    operators; ``ran``: it ran, and compares nothing; ``differs``; ``fails``: it fails as the graph
    in the report does, which is what it is for; ``failed``."""
    why: str = ""
    """Why it was not tried, or why it failed."""
    output: str = ""
    """Its output."""
    failure: str = ""
    """What fails and why, without sizes and numbers of buffers; empty if nothing does."""

    def save(self, path: str | Path | None = None) -> Path:
        """Writes the program.

        Parameters
        ----------
        path
            A file, or a folder in which it gets a default name. The current folder if None.

        Raises
        ------
        CompilescopeError
            The path is invalid, or the file cannot be written.
        """
        what = "the file to write, or of its folder"
        target = Path(self.file_name) if path is None else given_path(path, what)
        with writing(target):
            if target.is_dir():
                target /= self.file_name
        write_whole(target, self.code)
        return target

    @property
    def outcome(self) -> str:
        """How its trial ended, as a clause, with what was not compared."""
        compared = {"agrees": "not all is compared", "ran": "nothing is compared"}.get(self.tried)
        if compared is None or not self.unchecked:
            return _TRIED[self.tried]
        return f"{_TRIED[self.tried]} ({compared}: {self.unchecked})"

    @property
    def size(self) -> str:
        """How long the program is."""
        return f"{len(self.code.splitlines())} lines"

    @property
    def trial(self) -> str:
        """How its trial ended, and what it printed."""
        head = f"{self.what}: {self.outcome}"
        # A traceback is long, and is that of the report.
        is_known = self.tried == "fails" and self.failure != DIFFERS
        output = "" if is_known else self.output.strip()
        if self.tried == "failed" and len(output) > MAX_OUTPUT_CHARACTERS:
            output = f"Its output has {len(output):,} characters: run the program to see it."
        return "\n".join(filter(None, (head, self.why, output)))

    def __str__(self) -> str:
        return f"{self.trial}\n{self.size}; .save() writes {self.file_name}"

    def __repr__(self) -> str:
        return f"<reproducer of {self.what}: {self.tried}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


_TRIED: dict[TrialOutcome, str] = {
    "agrees": "ran in a new process and agrees with torch's operators",
    "ran": "ran in a new process",
    "differs": "ran in a new process and DIFFERS from torch's operators",
    "fails": "fails in a new process, as in the report",
    "failed": "failed in a new process",
    "not tried": "was not tried",
}
