"""Resets a target's process between two requests to torch's initial settings and modes."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import torch

from ...isolation.global_state import SavedModes, SavedRandomness
from ...isolation.user_code import is_user_module
from ...torch_api.kernels import user_kernels
from ...torch_api.process import portable_settings
from ..packed_call import let_go


class InitialState:
    """How the process is when nothing is asked of it; made before the first question."""

    def __init__(self) -> None:
        self._settings = portable_settings.settings()
        self._modes = SavedModes()
        self._randomness = SavedRandomness()
        self._files: dict[str, float] = {}
        # All that is here by now stays: no search for garbage has to look at it again.
        gc.collect()
        gc.freeze()

    def restore(self) -> None:
        """Takes back what a question has changed."""
        let_go()
        with user_kernels.preserved():
            torch.compiler.reset()
        portable_settings.apply(self._settings)
        self._modes.restore()
        self._randomness.restore()
        gc.collect()

    def note_files(self) -> None:
        """Remembers when files of the user's were changed last of which there are modules now."""
        for file in _files():
            self._files.setdefault(file, _changed_at(file))

    def is_outdated(self) -> bool:
        """Whether a file of the user's has changed since a module was made of it here."""
        return any(_changed_at(file) != when for file, when in self._files.items())


def _files() -> list[str]:
    """The files of the user's modules."""
    modules = list(sys.modules.values())
    return [str(module.__file__) for module in modules if is_user_module(module)]


def _changed_at(file: str) -> float:
    try:
        return Path(file).stat().st_mtime
    except OSError:
        return 0.0
