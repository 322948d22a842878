"""Earlier durations of work on this machine, for estimates."""

from __future__ import annotations

import contextlib
import logging
import os
import statistics
import tempfile
import threading
from pathlib import Path

import msgspec
import platformdirs

FOLDER = "COMPILESCOPE_CACHE_DIR"
"""The environment variable for a folder other than the user's cache folder."""
KINDS = 200
"""Kinds of work that are kept, the latest ones."""
TIMES = 5
"""Times that are kept of each kind, the latest ones."""
MIN_SECONDS = 2.0
"""Shorter work needs no estimate."""
_SPREAD = 2.0
"""The ratio of the longest time to the shortest above which an estimate is rough."""

_log = logging.getLogger(__name__)


class UsualDuration(msgspec.Struct, frozen=True, kw_only=True):
    """How long a kind of work usually takes."""

    about_s: int
    """The median of the last times, rounded as far as an estimate carries."""
    longest_s: float
    """The longest of them: what takes longer takes longer than usual."""
    is_rough: bool = False
    """Whether the longest took more than twice as long as the shortest."""


class History:
    """The times of earlier work by kind, in a file that all of the user's kernels share.

    Safe to call from any thread. A file that cannot be read counts as empty; one that cannot be
    written costs the next estimate and nothing else.

    Parameters
    ----------
    folder
        Where the file is; the user's cache folder if None.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._lock = threading.Lock()

    @property
    def file(self) -> Path:
        """The file, which need not exist."""
        configured = os.environ.get(FOLDER)
        folder = self._folder or (Path(configured) if configured else None)
        return (folder or platformdirs.user_cache_path("compilescope", False)) / "history.json"

    def usual(self, kind: str) -> UsualDuration | None:
        """How long work of a kind usually takes; None where nothing is known, or it is short."""
        with self._lock:
            times = self._read().get(kind)
        if not times or statistics.median(times) < MIN_SECONDS:
            return None
        return UsualDuration(
            about_s=_rounded(statistics.median(times)),
            longest_s=max(times),
            is_rough=max(times) > _SPREAD * min(times),
        )

    def add(self, kind: str, seconds: float) -> None:
        """Records that work of a kind was done, and how long it took."""
        with self._lock:
            times_by_kind = self._read()
            times = [*times_by_kind.pop(kind, []), round(seconds, 2)]
            times_by_kind[kind] = times[-TIMES:]
            try:
                self._write(dict(list(times_by_kind.items())[-KINDS:]))
            except OSError as error:
                _log.info("%s is not written: %s", self.file, error)

    def _read(self) -> dict[str, list[float]]:
        try:
            return msgspec.json.decode(self.file.read_bytes(), type=dict[str, list[float]])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            _log.info("%s is not read: %s", self.file, error)
            return {}

    def _write(self, times_by_kind: dict[str, list[float]]) -> None:
        """Replaces the file as a whole: another kernel may read it meanwhile."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self.file.parent, prefix="history-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(msgspec.json.encode(times_by_kind))
            Path(name).replace(self.file)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                Path(name).unlink()
            raise


def _rounded(seconds: float) -> int:
    """Whole seconds below 10, then in steps of 5, above a minute in steps of 10."""
    step = 1 if seconds < 10 else 5 if seconds < 60 else 10
    return max(1, round(seconds / step) * step)
