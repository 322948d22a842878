"""Makes torch precompile its C++ headers in the background, once on a machine.

Otherwise the first build with each wrapper would take some ten seconds of processor time more. A
low-priority background process does it, unless the headers exist or another kernel is already
precompiling them.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

import filelock

from ..torch_api.inductor import headers
from ..torch_api.process.environment import environment
from .folders import temporary
from .runner import UNSET_VARIABLES, import_path

SETTING = "COMPILESCOPE_WARM_HEADERS"
"""The variable that turns this off: 0."""
COMMAND = ("-m", "compilescope.processes.warm_headers_child")

_log = logging.getLogger(__name__)


class Precompilation:
    """One precompilation in parallel with this process.

    Parameters
    ----------
    command
        What Python runs; the marker's path is added.
    """

    def __init__(self, command: tuple[str, ...] = COMMAND) -> None:
        self._command = command
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self.thread = threading.Thread(target=self._run, name="compilescope-headers", daemon=True)

    def stop(self) -> None:
        """Ends it, with its compilers, and waits for that; nothing half written stays."""
        self._stopped.set()
        with self._lock:
            if self._process is not None and self._process.stdin is not None:
                self._process.stdin.close()
        self.thread.join()

    def _run(self) -> None:
        try:
            marker = marker_file()
            if is_warm(marker):
                return
            marker.parent.mkdir(parents=True, exist_ok=True)
            with (
                filelock.FileLock(marker.with_suffix(".lock"), timeout=0),
                temporary("headers") as folder,
            ):
                self._precompile(marker, folder)
        except filelock.Timeout:
            _log.info("another kernel precompiles torch's headers")
        except OSError as error:
            # If the machine lacks something, the first build will report it.
            _log.info("torch's headers are not precompiled: %s", error)

    def _precompile(self, marker: Path, folder: Path) -> None:
        errors = folder / "errors"
        variables = {
            name: value for name, value in os.environ.items() if name not in UNSET_VARIABLES
        }
        variables |= {
            "TORCHINDUCTOR_CACHE_DIR": str(folder / "caches"),
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
            "PYTHONPATH": os.pathsep.join(import_path([])),
        }
        with self._lock, errors.open("wb") as stderr:
            if self._stopped.is_set():
                return
            self._process = subprocess.Popen(
                [sys.executable, *self._command, str(marker)],
                # Held open while this process lives: the child ends when it closes.
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                env=variables,
                cwd=folder,
                start_new_session=True,
            )
        if self._process.wait() != 0 and not self._stopped.is_set():
            text = errors.read_text(encoding="utf-8", errors="replace")
            _log.info("torch's headers could not be precompiled: %s", text[-2000:])


def marker_file() -> Path:
    """The file that names the headers, once this torch and compiler have them on this machine."""
    place = environment()
    key = "\n".join([sys.prefix, place.torch, place.python, place.compiler])
    name = hashlib.sha256(key.encode()).hexdigest()[:16]
    return headers.header_folder() / f"compilescope-{name}.txt"


def is_warm(marker: Path) -> bool:
    """Whether the headers that it names are there."""
    try:
        named = marker.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return False
    return bool(named) and all(Path(name).exists() for name in named)


def start() -> None:
    """Begins, unless it is under way in this process, or the user or torch has turned it off."""
    global _current
    if os.environ.get(SETTING) == "0" or not headers.precompiles() or sys.platform == "win32":
        return
    if _current is None or not _current.thread.is_alive():
        _current = Precompilation()
        _current.thread.start()
        atexit.register(_current.stop)


def stop() -> None:
    """Ends it, if it is under way."""
    global _current
    if _current is not None:
        with contextlib.suppress(ValueError):
            atexit.unregister(_current.stop)
        _current.stop()
        _current = None


_current: Precompilation | None = None
