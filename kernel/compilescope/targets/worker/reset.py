"""Resets a target's process between two requests to torch's initial settings and modes."""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path

import torch

from ...isolation.global_state import SavedModes, SavedRandomness
from ...isolation.user_code import is_user_module
from ...torch_api.kernels import user_kernels
from ...torch_api.process import portable_settings
from ..packed_call import leave_modes

_OUTDATED = -1.0
"""A time at which no file was changed."""


class InitialState:
    """How the process is when nothing is asked of it; made before the first question."""

    def __init__(self) -> None:
        self._settings = portable_settings.settings()
        self._modes = SavedModes()
        self._randomness = SavedRandomness()
        self._files: dict[str, float] = {}
        # All current objects stay, so garbage collection can skip them from now on.
        gc.collect()
        gc.freeze()

    def restore(self) -> None:
        """Reverts what a request has changed."""
        leave_modes()
        with user_kernels.preserved():
            torch.compiler.reset()
        portable_settings.apply(self._settings)
        self._modes.restore()
        self._randomness.restore()
        gc.collect()

    def note_files(self, began: float) -> None:
        """Records the modification times of the files of the user's modules that are loaded now.

        Parameters
        ----------
        began
            When the request that may have imported them began, by ``time.time``.
        """
        for file in _files():
            if file not in self._files:
                when = _changed_at(file)
                # If the file was saved since, the module may be of the earlier text. A time in the
                # future says nothing.
                self._files[file] = _OUTDATED if began <= when <= time.time() else when

    def is_outdated(self) -> bool:
        """Whether a file of one of the user's modules has changed since it was loaded here."""
        return any(_changed_at(file) != when for file, when in self._files.items())


def _files() -> list[str]:
    """The files of the user's modules."""
    modules = sys.modules.copy().values()
    return [str(module.__file__) for module in modules if is_user_module(module)]


def _changed_at(file: str) -> float:
    try:
        return Path(file).stat().st_mtime
    except OSError:
        return 0.0
