"""One page of all ranks that torchrun started on this machine, compared."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ..readers.log_files import is_log
from . import files


def rank_here() -> int | None:
    """The rank of this process; None if torchrun did not start it."""
    rank = os.environ.get("RANK", "")
    return int(rank) if rank.isdigit() else None


def ranks_here() -> int:
    """How many ranks torchrun started on this machine."""
    size = os.environ.get("LOCAL_WORLD_SIZE", "")
    return int(size) if size.isdigit() else 1


class JoinedPage:
    """The page of all ranks of this machine, which the last one to end writes.

    Parameters
    ----------
    output
        The path of the page. Of several machines, each adds its number.
    logs
        The folder that torch logs to for the user; None: a folder beside the page, which is
        deleted with the page written. A rank that is killed leaves it, with the logs.
    """

    def __init__(self, output: Path, logs: Path | None) -> None:
        self.output = output
        if os.environ.get("GROUP_WORLD_SIZE", "1") != "1":
            node = os.environ.get("GROUP_RANK", "0")
            self.output = output.with_name(f"{output.stem}.node{node}{output.suffix}")
        # torchrun's process is the parent of all ranks.
        self._folder = self.output.with_name(f"{self.output.stem}.ranks-{os.getppid()}")
        self._folder.mkdir(exist_ok=True)
        self.logs = logs if logs is not None else self._folder

    def end(self, rank: int, title: str, *, failed: bool, redact: bool) -> Path | None:
        """Note that a rank has ended, and write the page if it is for this one to do.

        Parameters
        ----------
        rank
            The rank of this process.
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
            (self._folder / f"rank{rank}.ended").touch()
            ended = len(list(self._folder.glob("*.ended")))
            if ended < ranks_here() and not failed:
                return None
            (self._folder / "joined").touch(exist_ok=False)
        except (FileExistsError, FileNotFoundError):
            return None  # another rank writes it, or has written it
        try:
            return self._write(title, redact=redact)
        finally:
            self.discard()

    def discard(self) -> None:
        """Delete the folder beside the page."""
        # Another rank may do so too, or still write to it.
        shutil.rmtree(self._folder, ignore_errors=True)

    def _write(self, title: str, *, redact: bool) -> Path | None:
        if not any(is_log(file.name) for file in self.logs.rglob("*")):
            return None  # no rank compiled anything
        from ..readers.trace import report_of

        report = report_of(self.logs)
        report.subject.name = title + report.subject.name.removeprefix(self.logs.name)
        files.write(report, self.output, redact=redact)
        if report.trace is not None and report.trace.ranks is not None:
            files.print_note(report.trace.ranks.sentence)
        return self.output
