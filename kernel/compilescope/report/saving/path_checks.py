"""Checks paths from callers: a path or file that cannot be used is a clear error."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import CompilescopeError

_MAX_CHARACTERS = 200
"""How many characters of a path a message shows."""


def given_path(place: object, what: str) -> Path:
    """The path that a caller gave; ``~`` at its beginning is the home folder.

    Parameters
    ----------
    place
        The value passed as a path.
    what
        What the path should name, for the message: ``a trace``.

    Raises
    ------
    CompilescopeError
        The value is not a path, no file system can have it, or there is no home folder.
    """
    remedy = f"Give the path, a str or a pathlib.Path, of {what}."
    text = os.fspath(place) if isinstance(place, str | os.PathLike) else place
    if not isinstance(text, str):
        kind = type(place).__name__
        raise CompilescopeError(f"{_shown(place)} is not a path.", f"It is of type {kind}.", remedy)
    if not text:
        raise CompilescopeError("The path is empty.", remedy=remedy)
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        why = "It contains a lone surrogate, which no file name can contain."
        raise CompilescopeError(f"{_shown(text)} is not a path.", why, remedy) from None
    if "\0" in text:
        why = "It holds a NUL character, which no file's name has."
        raise CompilescopeError(f"{_shown(text)} is not a path.", why, remedy)
    path = Path(text)
    if path.parts[:1] != ("~",):
        return path
    try:
        return path.expanduser()
    except RuntimeError:
        why = "This user has no home folder, which ~ stands for."
        raise CompilescopeError(f"There is no folder for {_shown(text)}.", why, remedy) from None


def report_path(place: object) -> Path:
    """The path that a caller gave for a report to save.

    Raises
    ------
    CompilescopeError
        As for `given_path`; or the path has another ending than .json and .html.
    """
    path = given_path(place, "the file to write: it ends in .json or .html")
    if path.suffix not in (".json", ".html", ".htm"):
        raise CompilescopeError(
            f"A report cannot be saved as {path.name!r}.", remedy="Use .json or .html."
        )
    return path


@contextmanager
def reading(path: Path, what: str) -> Iterator[None]:
    """Turns the operating system's errors of reading a file in the block into `CompilescopeError`.

    ``what`` is as for `given_path`.
    """
    try:
        yield
    except OSError as error:
        shown = _shown(str(path))
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            raise CompilescopeError(
                f"There is no file {shown}.",
                "" if path.is_absolute() else f"It was looked for in {Path.cwd()}.",
                f"Give the path of {what}.",
            ) from None
        raise CompilescopeError(
            f"{shown} cannot be read.",
            f"The operating system says: {error.strerror or error}.",
            "Check the path and the file's permissions.",
        ) from None


def write_whole(path: Path, text: str) -> None:
    """Writes a file, or keeps the old one: a full disk must not destroy it.

    The text is written to a temporary file in the same folder, which then replaces the old one.

    Raises
    ------
    CompilescopeError
        It cannot be written.
    """
    with writing(path):
        if path.exists() and not path.is_file():  # a device or a pipe
            path.write_text(text, encoding="utf-8")
            return
        target = path.resolve()
        partial = target.with_name(f".compilescope-{uuid.uuid4().hex}.partial")
        try:
            partial.write_text(text, encoding="utf-8")
            if target.exists():
                shutil.copymode(target, partial)
            partial.replace(target)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns the operating system's errors of writing in the block into `CompilescopeError`."""
    try:
        yield
    except OSError as error:
        shown = _shown(str(path))
        if isinstance(error, FileNotFoundError) and not path.parent.is_dir():
            raise CompilescopeError(
                f"There is no folder {_shown(str(path.parent))} to write {_shown(path.name)} to.",
                "" if path.is_absolute() else f"It was looked for in {Path.cwd()}.",
                "Make the folder first, or give another path.",
            ) from None
        raise CompilescopeError(
            f"{shown} cannot be written.",
            f"The operating system says: {error.strerror or error}.",
            "Give another path, or check its permissions and free space.",
        ) from None


def _shown(place: object) -> str:
    text = ascii(place) if _is_odd(place) else repr(place)
    return (
        text
        if len(text) <= _MAX_CHARACTERS
        else f"{text[: _MAX_CHARACTERS // 2]}…{text[-_MAX_CHARACTERS // 2 :]}"
    )


def _is_odd(place: object) -> bool:
    return isinstance(place, str) and not place.isprintable()
