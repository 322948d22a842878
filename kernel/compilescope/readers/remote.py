"""Traces at addresses (``s3://…``): copied to this machine by fsspec, where that is installed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any

from ..report.errors import CompilescopeError
from ..report.saving.path_checks import given_path
from .log_files import is_log

_ADDRESS = re.compile(r"[a-zA-Z][\w+.-]+://")


def is_remote(place: str | Path) -> bool:
    """Whether it is an address and no path of this machine."""
    return isinstance(place, str) and _ADDRESS.match(place) is not None


@contextmanager
def located(place: str | Path) -> Iterator[Path]:
    """A path of this machine to a trace: a copy, for the length of the block, of a remote one.

    A log is read from its first byte to its last, so it is fetched as a whole. From a folder, only
    the logs are copied.

    Raises
    ------
    CompilescopeError
        fsspec is not installed, or what it needs for this kind of address; there is nothing there;
        or it cannot be read.
    OSError
        There is no room for the copy.
    """
    if not is_remote(place):
        yield given_path(place, "a trace")
        return
    from ..processes.folders import temporary

    with temporary("trace") as folder:
        yield _copied(str(place), folder)


def _copied(address: str, folder: Path) -> Path:
    if find_spec("fsspec") is None:
        raise CompilescopeError(
            f"{address} cannot be read: fsspec is not installed.",
            "It reads files that are on other machines.",
            "Run pip install 'jupyterlab-compilescope[remote]', or copy the log here first.",
        )
    import fsspec

    try:
        system, path = fsspec.url_to_fs(address)
        name = PurePosixPath(path.rstrip("/")).name or "trace"
        if not system.isdir(path):
            _copy(system, path, folder / name)
            return folder / name
        root = folder / name
        root.mkdir()
        for file in system.find(path):
            relative = PurePosixPath(file).relative_to(PurePosixPath(path))
            if is_log(file) and ".." not in relative.parts:
                target = root / relative
                target.parent.mkdir(parents=True, exist_ok=True)
                _copy(system, file, target)
    except ImportError as error:
        raise CompilescopeError(
            f"{address} cannot be read: a package is missing.",
            f"{error}.",
            "Install it, or copy the log here first.",
        ) from None
    except FileNotFoundError:
        raise CompilescopeError(
            f"There is no trace at {address!r}.", remedy="Check the address."
        ) from None
    except Exception as error:  # noqa: BLE001 - each kind of address has errors of its own
        raise CompilescopeError(
            f"{address} cannot be read.",
            f"{type(error).__name__}: {error}",
            "Check the address, the network and the permissions; or copy the log here.",
        ) from None
    if not any(root.iterdir()):
        raise CompilescopeError(
            f"There is no trace at {address!r}.",
            "The folder has no files that end in .log, .log.gz or .log.zst.",
            "Give the folder that TORCH_TRACE named.",
        )
    return root


def _copy(system: Any, file: str, target: Path) -> None:
    """Copy a file with the time of its last change, where its file system knows it."""
    system.get_file(file, str(target))
    with suppress(Exception):  # each file system has errors of its own
        time_s = system.modified(file).timestamp()
        os.utime(target, (time_s, time_s))
