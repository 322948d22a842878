"""Finished cells, stored as lines of JSON, so that an interrupted sweep can be resumed."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from ..processes.executors import LOST, NOT_STARTED, NOT_TAKEN, OF_ALL_WORK, SHUT_DOWN
from ..report.measurements.sweeps import SweepCell
from ..report.problem import FAULT, Problem
from ..report.saving.earlier_names import with_present_names
from .worker import KILLED

FILE = "cells.jsonl"
_MAY_PASS = (FAULT, NOT_STARTED, NOT_TAKEN, SHUT_DOWN, LOST, *OF_ALL_WORK, KILLED)
"""Beginnings of problems of the machine or of compilescope, which may be fixed meanwhile."""


class StoredCell(msgspec.Struct, kw_only=True):
    """A line: a cell, and what it was allowed."""

    cell: SweepCell
    timeout_s: float | None = None
    memory_bytes: float | None = None
    seconds: float = 0.0

    def serves(
        self, timeout_s: float | None, memory_bytes: float | None, seconds: float = 0.0
    ) -> bool:
        """Whether it need not be run again.

        A cell that hit a limit is, if the limit grew; a measured one, if it is to be measured for
        more seconds; and one that failed for a reason which may have passed.
        """
        if self.cell.state == "timeout":
            return not _is_more(timeout_s, self.timeout_s)
        if self.cell.state == "memory":
            return not _is_more(memory_bytes, self.memory_bytes)
        if self.cell.state == "done":
            return seconds <= self.seconds
        if self.cell.problem is not None and self.cell.problem.what.startswith(_MAY_PASS):
            return False
        return self.cell.state in ("failed", "crashed")

    @property
    def precedence(self) -> tuple[bool, float]:
        """Of several for one cell the one with the highest counts."""
        is_done = self.cell.state == "done"
        return is_done, self.seconds if is_done else 0.0


class Store:
    """The finished cells of a sweep, in a folder.

    If the folder is not writable, the sweep continues without it, and ``problem`` says so.

    Parameters
    ----------
    folder
        Made when it is not there.
    part
        Which part of the sweep this is, where several machines share the folder: each writes a file
        of its own, as appending to one file at once is not safe on network file systems.
    """

    def __init__(self, folder: Path, part: str = "") -> None:
        self.folder = folder
        self._file = folder / (f"cells-{part}.jsonl" if part else FILE)
        self.problem: Problem | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self._give_up(error)

    def load(self) -> dict[str, StoredCell]:
        """Key → what was kept of it: of a file the last line, of several files the best.

        Lines that cannot be read are left out.
        """
        result: dict[str, StoredCell] = {}
        try:
            files = [file.read_bytes() for file in sorted(self.folder.glob("cells*.jsonl"))]
        except OSError:
            return {}
        for content in files:
            for key, stored in _last_lines(content).items():
                if key not in result or stored.precedence >= result[key].precedence:
                    result[key] = stored
        return result

    def add(self, stored: StoredCell) -> None:
        """Keeps a cell."""
        if self.problem is not None:
            return
        line = msgspec.json.encode(stored, enc_hook=repr) + b"\n"
        try:
            with self._file.open("a+b") as file:
                if file.tell() and _last(file.fileno()) != b"\n":
                    line = b"\n" + line
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self.problem = Problem(
            severity="warning",
            what="Finished cells cannot be kept on disk.",
            why=f"{error}.",
            remedy=(
                "The sweep continues, but cannot be resumed. Free space, or set another folder."
            ),
        )


def _last_lines(content: bytes) -> dict[str, StoredCell]:
    result = {}
    for line in content.splitlines():
        try:
            stored = msgspec.json.decode(with_present_names(line), type=StoredCell)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue  # cut off as it was written
        result[stored.cell.key] = stored
    return result


def _last(file: int) -> bytes:
    return os.pread(file, 1, os.fstat(file).st_size - 1)


def _is_more(now: float | None, before: float | None) -> bool:
    return before is not None and (now is None or now > before)
