"""Files that torch or the C++ compiler could not write, as problems."""

from __future__ import annotations

import errno
import shutil
import tempfile
from pathlib import Path

from ...report.problem import Problem, message_of


def disk_full(path: str, why: str, *, detail: str) -> Problem:
    """The problem of a file that did not fit on its disk."""
    return Problem(
        severity="error",
        what=f"The disk of {path} is full.",
        why=why,
        remedy=f"Free some space there, or {_elsewhere(path)}.",
        detail=detail,
    )


def _elsewhere(path: str) -> str:
    """How to make torch or the compiler write a file to another folder."""
    from ..process.caches import folder

    temporary = Path(tempfile.gettempdir())
    file = Path(path)
    if file.is_relative_to(temporary) and not file.is_relative_to(folder()):
        return f"point TMPDIR at another folder than {temporary}"
    return "point TORCHINDUCTOR_CACHE_DIR at another folder"


def fullest_folder() -> str:
    """The folder with the least free space among those that torch and the compiler write to."""
    from ..process.caches import folder

    folders = [path for path in (folder(), Path(tempfile.gettempdir())) if path.is_dir()]
    return str(min(folders, key=lambda path: shutil.disk_usage(path).free, default=folder()))


def not_written(error: BaseException) -> Problem | None:
    """The problem for an error of the operating system; None for one that is not about writing."""
    number = getattr(error, "errno", None)
    path = getattr(error, "filename", None)
    why = f"torch keeps what it builds in its cache folder: {message_of(error)}"
    if number == errno.ENOSPC:
        # The error does not name a file that was already open and could not grow.
        return disk_full(str(path or fullest_folder()), message_of(error), detail=message_of(error))
    if number == errno.EFBIG:
        return file_too_large(why, detail=message_of(error))
    path = path or "the cache folder"
    reasons = {
        errno.EDQUOT: (f"The disk quota of {path} is used up.", "Free some space there"),
        errno.EROFS: (f"{path} is on a read-only file system.", "Make it writable"),
        errno.EACCES: (f"{path} may not be written to.", "Make it writable"),
        errno.EPERM: (f"{path} may not be written to.", "Make it writable"),
        errno.EEXIST: (f"{path} cannot be made: a file is in its way.", "Remove that file"),
        errno.ENOTDIR: (f"{path} cannot be made: a file is in its way.", "Remove that file"),
    }
    if number not in reasons:
        return None
    what, remedy = reasons[number]
    return Problem(
        severity="error",
        what=what,
        why=why,
        remedy=f"{remedy}, or point TORCHINDUCTOR_CACHE_DIR at another folder.",
        detail=message_of(error),
    )


def file_too_large(why: str, *, detail: str) -> Problem:
    """The problem of a file larger than this process may write."""
    return Problem(
        severity="error",
        what="A file grew beyond the size that this process may write.",
        why=why,
        remedy="Raise the limit on the size of files (ulimit -f unlimited) and restart the kernel.",
        detail=detail,
    )
