"""One page of all ranks that torchrun started on this machine, compared."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from ..processes.torchrun import Torchrun
from ..readers.log_files import is_log
from . import files
from .terminal import Paint
from .trace_text import what_to_change


class JoinedPage:
    """The page of all ranks of this machine, which the last one to end writes.

    Parameters
    ----------
    output
        The path of the page. Of several machines, each adds its number.
    logs
        The folder that torch logs to for the user; None: a folder next to the page, which is
        deleted with the page written. A rank that is killed leaves it, with the logs.
    process
        The place of this process among the ranks.
    """

    def __init__(self, output: Path, logs: Path | None, process: Torchrun) -> None:
        self._process = process
        self.output = output
        if process.nodes > 1:
            self.output = output.with_name(f"{output.stem}.node{process.node}{output.suffix}")
        # torchrun's process is the parent of all ranks.
        self._folder = self.output.with_name(f"{self.output.stem}.ranks-{os.getppid()}")
        self._folder.mkdir(exist_ok=True)
        self.logs = logs if logs is not None else self._folder

    def end(self, title: str, *, failed: bool, redact: bool) -> Path | None:
        """Record that this rank has ended, and write the page if it is the last one.

        Parameters
        ----------
        title
            What the script is called.
        failed
            Whether its script raised an exception: torchrun then ends the other ranks.
        redact
            Leave out paths and source code.

        Returns
        -------
        Path or None
            The page, if this process wrote it.
        """
        try:
            (self._folder / f"rank{self._process.rank}.ended").touch()
            ended = len(list(self._folder.glob("*.ended")))
            if ended < self._process.local_size and not failed:
                return None
            (self._folder / "joined").touch(exist_ok=False)
        except (FileExistsError, FileNotFoundError):
            return None  # another rank writes it, or has written it
        try:
            return self._write(title, redact=redact)
        finally:
            self.discard()

    def discard(self) -> None:
        """Delete the folder next to the page."""
        # Another rank may do so too, or still write to it.
        shutil.rmtree(self._folder, ignore_errors=True)

    def _write(self, title: str, *, redact: bool) -> Path | None:
        if not any(is_log(file.name) for file in self.logs.rglob("*")):
            return None  # no rank compiled anything
        from ..readers.trace import report_of

        report = report_of(self.logs)
        report.subject.name = title + report.subject.name.removeprefix(self.logs.name)
        if report.trace is not None and report.trace.ranks is not None:
            files.print_note(report.trace.ranks.sentence)
        if report.trace is not None and not redact:  # a redacted report has none either
            files.print_lines(what_to_change(report.trace, Paint(sys.stderr)))
        files.write(report, self.output, redact=redact)
        return self.output
