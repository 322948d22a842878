"""Files that torch or the C++ compiler could not write, as problems."""

from __future__ import annotations

import errno
import functools
import importlib.util
import os
import shutil
import tempfile
import traceback
from pathlib import Path

import torch

from ...report.problem import Problem, message_of


def disk_full(path: str, why: str, *, detail: str) -> Problem:
    """The problem of a file that did not fit on its disk."""
    return Problem(
        severity="error",
        what=f"The disk of {path} is full.",
        why=why,
        remedy=f"Free some space there, or {_use_other_folder(path)}.",
        detail=detail,
    )


def _use_other_folder(path: str) -> str:
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
    """The problem if torch could not write a file for the reason of the error; otherwise None."""
    if not _is_torchs(error):
        return None
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


def _is_torchs(error: BaseException) -> bool:
    """Whether torch may have raised the error while it built something.

    The user's own code raises the same errors. One without a traceback comes from another process.
    """
    frames = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    if not frames or _is_in_cache(getattr(error, "filename", None)):
        return True
    # What generated code calls is the user's, unless it builds again.
    calls = [number for number, file in enumerate(frames) if file == _CALLS_GENERATED]
    start = calls[-1] + 1 if calls else 0
    return any(file.startswith(_builders()) for file in frames[start:])


def _is_in_cache(path: object) -> bool:
    from ..process.caches import folder

    return isinstance(path, str) and Path(path).absolute().is_relative_to(folder())


_INDUCTOR = Path(torch.__file__).parent / "_inductor"
_CALLS_GENERATED = str(_INDUCTOR / "output_code.py")


@functools.cache
def _builders() -> tuple[str, ...]:
    """What the names of files begin with whose code writes what torch builds."""
    from ..process import caches

    triton = importlib.util.find_spec("triton")
    origin = triton.origin if triton is not None else None
    folders = (_INDUCTOR, *([Path(origin).parent] if origin else []))
    return (caches.__file__, *(f"{folder}{os.sep}" for folder in folders))


def file_too_large(why: str, *, detail: str) -> Problem:
    """The problem of a file larger than this process may write."""
    return Problem(
        severity="error",
        what="A file grew beyond the size that this process may write.",
        why=why,
        remedy="Raise the limit on the size of files (ulimit -f unlimited) and restart the kernel.",
        detail=detail,
    )
