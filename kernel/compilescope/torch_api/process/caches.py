"""Switches Inductor's caches to a separate folder for a block, and back to the user's.

Relies on ``torch._inductor.runtime.cache_dir_utils`` (cache_dir, default_cache_dir; and the
TORCHINDUCTOR_CACHE_DIR and TRITON_CACHE_DIR variables, which torch and Triton read at each call)
and on the in-memory caches of
``torch._inductor.utils._registered_caches``, and on ``codecache.CacheBase.get_local_cache_path``
(the autotuner's folder, remembered for the process). Precompiled headers live outside the cache
folder (``codecache._HEADER_DIR``), so an empty cache does not mean building those again.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import platformdirs
from torch._inductor import codecache, utils
from torch._inductor.runtime.cache_dir_utils import cache_dir, default_cache_dir

_FOLDER = "TORCHINDUCTOR_CACHE_DIR"
_TRITON_FOLDER = "TRITON_CACHE_DIR"
_LOOK_S = 0.2

_changed = threading.Condition()
_switched_by: list[int] = []
"""The thread of each block that now has its own caches."""


@contextlib.contextmanager
def only(folder: Path) -> Iterator[None]:
    """Makes compilations in the block use ``folder`` as their only cache.

    They behave as in a new process: in-memory caches are set aside. The user's caches, on disk and
    in memory, do not change.
    """
    # Once per process torch hashes its own files for cache keys; no variant should be charged for
    # it.
    if hasattr(codecache, "torch_key"):
        codecache.torch_key()
    before = {name: os.environ.get(name) for name in (_FOLDER, _TRITON_FOLDER)}
    memory = [(cache, dict(cache)) for cache in _in_memory()]
    with _changed:
        _switched_by.append(threading.get_ident())
    for cache, _ in memory:
        cache.clear()
    _forget_path()
    os.environ[_FOLDER] = str(folder)
    os.environ[_TRITON_FOLDER] = str(folder / "triton")
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        for cache, content in memory:
            cache.clear()
            cache.update(content)
        _forget_path()
        with _changed:
            _switched_by.remove(threading.get_ident())
            _changed.notify_all()


def wait_for(wanted: Path, cancelled: Callable[[], bool]) -> None:
    """Waits while a block of any thread has switched from these caches to others.

    Parameters
    ----------
    wanted
        What `folder` gave.
    cancelled
        Whether to stop waiting.
    """
    with _changed:
        while _switched_by and folder() != wanted and not cancelled():
            _changed.wait(_LOOK_S)


def _after_fork() -> None:
    """In a child process: blocks of other threads do not end here."""
    global _changed
    _changed = threading.Condition()
    _switched_by[:] = [ident for ident in _switched_by if ident == threading.get_ident()]


os.register_at_fork(after_in_child=_after_fork)


def folder() -> Path:
    """Torch's cache folder, which may not exist yet."""
    return Path(os.environ.get(_FOLDER) or default_cache_dir()).absolute()


def own_folder() -> Path:
    """The folder of compilescope inside torch's cache folder, which may not exist yet.

    torch's default cache folder is in the folder for temporary files, where another user can create
    one of its name first. Such a folder is not used, because libraries are loaded from it.
    """
    before = os.environ.get(_FOLDER)
    try:
        torch_folder = Path(cache_dir())
    finally:
        # cache_dir() writes the folder it chose into the environment.
        if before is None:
            os.environ.pop(_FOLDER, None)
    is_default = torch_folder == Path(default_cache_dir())
    if is_default and not _is_this_users(torch_folder):
        return platformdirs.user_cache_path("compilescope", False) / "inductor"
    return torch_folder / "compilescope"


def _is_this_users(folder: Path) -> bool:
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


def triton_folder(torchs: Path | None = None) -> Path:
    """Triton's cache folder for Inductor's kernels, which may not exist yet.

    Parameters
    ----------
    torchs
        torch's cache folder, if it is not the current one.
    """
    configured = os.environ.get(_TRITON_FOLDER)
    return Path(configured) if configured else (torchs or folder()) / "triton"


def new_folder() -> Path:
    """A new, empty folder inside torch's cache folder.

    Raises
    ------
    OSError
        The cache folder cannot be written to, or the disk is full.
    """
    parent = own_folder()
    parent.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(dir=parent))


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Uses an empty cache for compilations in the block, and removes it afterwards.

    Yields the folder. Libraries that were loaded from it stay usable after it is removed.
    """
    folder = new_folder()
    try:
        with only(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_MEMORIES = ("cache", "_cache", "modules_no_attr")
"""The attribute of code caches that holds what they loaded, by key."""


def _in_memory() -> list[dict[Any, Any]]:
    owners = utils._registered_caches
    candidates = [getattr(owner, name, None) for owner in owners for name in _MEMORIES]
    return [cache for cache in candidates if isinstance(cache, dict)]


def _forget_path() -> None:
    """Makes the autotuner look up its folder again, which it does only once per process."""
    path: Any = getattr(codecache.CacheBase, "get_local_cache_path", None)
    if hasattr(path, "cache_clear"):
        path.cache_clear()
