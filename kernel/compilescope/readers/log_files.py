"""The files of a trace, and the names of the processes that wrote them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..report import Problem
from ..report.errors import CompilescopeError
from ..report.saving.path_checks import reading

_RANK = re.compile(r"rank_?(\d{1,9})")
_NAMED = 3
"""How many paths the name of a trace lists."""
_LOG = re.compile(r"\.log(\.\d+)?(\.gz|\.zst)?$")


class LogFiles(NamedTuple):
    """What a path holds."""

    logs: list[Path]
    problems: list[Problem]
    """Files with a log's name that are no logs."""


class Origin(NamedTuple):
    """Which process wrote a log."""

    file: str
    """Relative to the folder that was opened."""
    rank: int | None
    begun_s: float
    """When it wrote the first record."""

    @property
    def order(self) -> tuple[float, float, str]:
        """Ranks by number, and the files of a restarted one by time; then those without a rank."""
        return (
            (float("inf"), 0.0, self.file) if self.rank is None else (self.rank, self.begun_s, "")
        )


def is_log(name: str) -> bool:
    """Whether a file of a folder is a log, by its name."""
    return _LOG.search(name) is not None


def paths_of(source: str | Path | Sequence[Path]) -> list[Path]:
    """The paths of a trace; several are absolute, so that one folder holds them."""
    paths = [Path(source)] if isinstance(source, (str, Path)) else list(source)
    if len(paths) == 1:
        # "." and ".." are no names to call a trace after.
        return [path if path.name.strip(".") else path.resolve() for path in paths]
    return [path.absolute() for path in paths]


def common_path(paths: Sequence[Path]) -> Path:
    """The path of a trace, or the folder that holds all of its paths."""
    return paths[0] if len(paths) == 1 else Path(os.path.commonpath(paths))


def trace_name(paths: Sequence[Path]) -> str:
    """What a trace is called after: its path, or the folder that holds all of its paths.

    The root and the folder of temporary files say nothing: the paths' own names are listed then.
    """
    common = common_path(paths)
    if len(paths) == 1 or not _says_nothing(common):
        return common.name
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(path.name for path in paths[:_NAMED]) + more


def _says_nothing(folder: Path) -> bool:
    if not folder.name:
        return True
    import tempfile  # most traces have one path

    try:
        return folder == Path(tempfile.gettempdir())
    except OSError:
        return False  # there is none


def find_logs(paths: Sequence[Path]) -> LogFiles:
    """Find the logs at some paths.

    Raises
    ------
    CompilescopeError
        There are none at one of them.
    """
    each_path = [_logs_at(path) for path in paths]
    logs = dict.fromkeys(file for log_files in each_path for file in log_files.logs)
    problems = [problem for log_files in each_path for problem in log_files.problems]
    return LogFiles([*logs], problems)


def _logs_at(path: Path) -> LogFiles:
    with reading(path, "a trace"):
        log_files = (
            _in_folder(path) if path.is_dir() else LogFiles([path] if path.is_file() else [], [])
        )
    if not log_files.logs:
        raise CompilescopeError(
            f"There is no trace at {str(path)!r}.",
            "It is neither a file nor a folder with files that end in .log, .log.gz or .log.zst.",
            "Give the file that torch wrote, or the folder that TORCH_TRACE named.",
        )
    return log_files


def _in_folder(path: Path) -> LogFiles:
    log_files = LogFiles([], [])
    for folder, _, names in sorted(os.walk(path)):
        for name in sorted(names):
            file = Path(folder, name)
            if not is_log(name):
                continue
            if file.is_file():
                log_files.logs.append(file)
            else:
                log_files.problems.append(_no_file(file, path))
    return log_files


def _no_file(file: Path, folder: Path) -> Problem:
    link = file.is_symlink()
    return Problem(
        severity="warning",
        what=f"{_relative(file, folder)} is not read.",
        why=f"It is a link to {file.readlink()}, which is not there."
        if link
        else "It is not a file.",
        remedy="The other files are shown.",
    )


def unreadable(file: Path, error: OSError) -> Problem:
    """The problem for a log that the operating system does not allow to be read."""
    return Problem(
        severity="error",
        what=f"{file.name} cannot be read: {error.strerror or error}.",
        why="The operating system refused it.",
        remedy="Check the file's permissions.",
    )


def _relative(file: Path, folder: Path) -> str:
    return file.name if file == folder else file.relative_to(folder).as_posix()


def origin(file: Path, folder: Path, rank: int | None, begun_s: float) -> Origin:
    """Which process wrote a log.

    Parameters
    ----------
    file, folder
        The log, and what was opened.
    rank
        What its lines say, if they do; else the file's name may.
    begun_s
        When its first record was written.
    """
    named = _RANK.search(file.name)
    if rank is None and named is not None:
        rank = int(named[1])
    return Origin(_relative(file, folder), rank, begun_s)


def names_of(origins: Sequence[Origin]) -> list[str]:
    """A unique name for each log's process.

    Parameters
    ----------
    origins
        In their order: of a rank, the attempts by time.
    """
    names: list[str] = []
    attempts: dict[int, int] = {}
    for log_origin in origins:
        if log_origin.rank is None:
            names.append(_LOG.sub("", log_origin.file))
            continue
        attempt = attempts[log_origin.rank] = attempts.get(log_origin.rank, 0) + 1
        # A restarted job writes another file for each rank.
        names.append(f"rank {log_origin.rank}" + (f", attempt {attempt}" if attempt > 1 else ""))
    taken: set[str] = set()
    for index, name in enumerate(names):
        if name in taken:
            names[index] = origins[index].file
        taken.add(names[index])
    return names


def is_of_rank(name: str, rank: str | None) -> bool:
    """Whether a process is of a rank (``rank 1``), in any attempt; None: of any."""
    return rank in (None, name.partition(",")[0])


def ranks_of(origins: Sequence[Origin]) -> str:
    """The ranks as a suffix of a trace's name: ``, ranks 0 to 7``; empty if none is known."""
    ranks = sorted({log_origin.rank for log_origin in origins if log_origin.rank is not None})
    if not ranks:
        return ""
    if len(ranks) == 1:
        return f", rank {ranks[0]}"
    in_a_row = ranks == list(range(ranks[0], ranks[-1] + 1))
    listed = f"{ranks[0]} to {ranks[-1]}" if in_a_row else ", ".join(map(str, ranks))
    return f", ranks {listed}"
