"""The cache folders of torch and Triton."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

import psutil

from ..report.checkup import Check
from ..torch_api.process import caches
from .context import CheckContext, CheckFunction, ok, problem, run, warning

SUBJECT = "Cache folders"
_OTHER_FOLDER = "point TORCHINDUCTOR_CACHE_DIR at another folder and restart the kernel."
_LOW_BYTES = 2e9
_FULL_BYTES = 2e8
_LARGE_BYTES = 2e10
_COUNT_S = 3.0
_NETWORK = ("nfs", "nfs4", "cifs", "smb3", "lustre", "beegfs", "fuse.sshfs", "9p", "gpfs", "afs")


def writable(context: CheckContext) -> Check:
    """Whether files and folders can be made there, and locked, as torch does."""
    name, folder = "torch's folder", caches.folder()
    remedy = f"Make it writable, or {_OTHER_FOLDER}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix="compilescope-") as file:
            file.write(b"?")
            file.flush()
            locked = _lock(file.fileno())
    except OSError as error:
        return problem(name, f"{folder} is not writable: {error}.", remedy)
    if locked:
        return warning(
            name,
            f"Files in {folder} cannot be locked ({locked}): processes that compile the same code "
            "can overwrite each other's files.",
            f"Use a folder on a disk of this machine: {_OTHER_FOLDER}",
        )
    return ok(name, f"{folder} is writable, and files in it can be locked.")


def executable(context: CheckContext) -> Check:
    """Whether programs may be run from there: a ``noexec`` mount lets nothing be loaded."""
    name, folder = "programs run from it", caches.folder()
    remedy = f"Mount it without noexec, or {_OTHER_FOLDER}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix="compilescope-") as scratch:
            program = Path(scratch) / "program"
            program.write_text("#!/bin/sh\necho yes\n", encoding="utf-8")
            program.chmod(0o755)
            done = run([str(program)], folder=Path(scratch))
    except PermissionError:
        return problem(name, f"Programs in {folder}{_mounted(folder)} cannot be executed.", remedy)
    if not done.ok or done.output.strip() != "yes":
        return problem(name, f"A program in {folder} fails: {done.first}", remedy)
    return ok(name, f"A program in {folder} runs.")


def disk(context: CheckContext) -> Check:
    """What kind of disk it is on, and how much is free there."""
    name, folder = "free space", _nearest_existing(caches.folder())
    free = shutil.disk_usage(folder).free
    finding = f"{free / 1e9:,.1f} GB free for {caches.folder()}"
    if free < _FULL_BYTES:
        return problem(name, finding, f"Free some space there, or {_OTHER_FOLDER}")
    if free < _LOW_BYTES:
        return warning(name, finding, f"Free some space there, or {_OTHER_FOLDER}")
    return ok(name, finding)


def file_system(context: CheckContext) -> Check:
    """Whether the folder is on this machine: compiling reads and writes many small files."""
    name, (kind, options) = "kind of disk", _mount(_nearest_existing(caches.folder()))
    if kind in _NETWORK:
        return warning(
            name,
            f"{kind}, over the network: compiling there is slow.",
            _OTHER_FOLDER[0].upper() + _OTHER_FOLDER[1:],
        )
    if "noexec" in options:
        return problem(name, f"{kind}, mounted noexec.", f"Mount it without, or {_OTHER_FOLDER}")
    return ok(name, kind or "Unknown; on this machine.")


def size(context: CheckContext) -> Check:
    """How much is kept."""
    name, folder = "size", caches.folder()
    total, files, whole = _size(folder)
    finding = f"{files:,} files, {total / 1e9:,.2f} GB" + ("" if whole else ", and more")
    if total > _LARGE_BYTES:
        return warning(
            name,
            finding,
            f"torch never removes anything from it. When no kernel is running, delete {folder}.",
        )
    return ok(name, finding)


def triton(context: CheckContext) -> Check:
    """Triton's own folder."""
    name, folder = "Triton's folder", caches.triton_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix="compilescope-"):
            pass
    except OSError as error:
        return problem(
            name, f"{folder} is not writable: {error}.", "Point TRITON_CACHE_DIR at another."
        )
    return ok(name, f"{folder} is writable.")


def temporary(context: CheckContext) -> Check:
    """The folder for temporary files, which compilers use."""
    folder = Path(tempfile.gettempdir())
    free = shutil.disk_usage(folder).free
    finding = f"{folder}, {free / 1e9:,.1f} GB free"
    if free < _FULL_BYTES:
        return problem("temporary files", finding, "Free some space there, or set TMPDIR.")
    return ok("temporary files", finding)


def _lock(number: int) -> str:
    """Why a file cannot be locked; empty if it can."""
    try:
        import fcntl
    except ImportError:  # Windows locks by other means
        return ""
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return str(error)
    return ""


def _nearest_existing(folder: Path) -> Path:
    """The folder, or the nearest above it that exists."""
    return next(parent for parent in (folder, *folder.parents) if parent.exists())


def _mount(folder: Path) -> tuple[str, str]:
    """The kind and the options of the file system that a folder is on."""
    mounts = sorted(
        psutil.disk_partitions(all=True), key=lambda partition: -len(partition.mountpoint)
    )
    place = folder.resolve()
    for mount in mounts:
        if place.is_relative_to(mount.mountpoint):
            return mount.fstype, mount.opts
    return "", ""


def _mounted(folder: Path) -> str:
    return ", which is mounted noexec" if "noexec" in _mount(_nearest_existing(folder))[1] else ""


def _size(folder: Path) -> tuple[int, int, bool]:
    """Bytes and files below a folder, and whether all were counted in the time there is."""
    total = files = 0
    end = time.monotonic() + _COUNT_S
    for place, _, names in os.walk(folder):
        for name in names:
            files += 1
            try:
                total += (Path(place) / name).lstat().st_size
            except OSError:  # another process removed it meanwhile
                files -= 1
        if time.monotonic() > end:
            return total, files, False
    return total, files, True


CHECKS: tuple[CheckFunction, ...] = (
    writable,
    executable,
    disk,
    file_system,
    size,
    triton,
    temporary,
)
