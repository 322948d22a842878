"""The files of a graph's tiers in torch's cache folder, for this process and for later ones.

Each graph has a folder: the packed graph, what was built from it, and whether that was checked or
rejected.
"""

from __future__ import annotations

import os
import secrets
import shutil
import weakref
from pathlib import Path

import msgspec

from ..report.tiers import SwapGain, TierName
from ..torch_api.inductor.both_wrappers.compiling import Traits
from ..torch_api.process import caches
from ..torch_api.process.environment import environment

KEEP_FOLDER = (
    "Keep torch's cache folder until compilescope.tiers shows that the C++ wrapper serves. The "
    "next process that compiles it builds it again."
)
"""What to do if files were removed before the C++ wrapper was loaded."""


class Built(msgspec.Struct):
    """A note next to a result."""

    seconds: float


class Rejection(msgspec.Struct):
    """Why a graph has no C++ wrapper that could be used."""

    what: str
    """The first half of a sentence: ``gives another result``."""
    why: str
    decided_by: list[str]
    """Everything that it depends on besides the graph: versions, machine, compiler. torch's key of
    the graph covers its code and its settings."""
    detail: str = ""
    is_slower: bool = False
    """Whether its results agree and its calls are slower."""


def decided_by() -> list[str]:
    """Everything that a rejection depends on besides the graph."""
    here = environment()
    return [
        here.compilescope,
        here.torch,
        here.triton or "",
        here.python,
        here.platform,
        here.cpu,
        here.compiler,
    ]


class CachedFiles:
    """The files of one graph.

    Parameters
    ----------
    key
        The same in every process; empty for a graph that torch does not cache: no other process
        finds its files.
    """

    def __init__(self, key: str) -> None:
        self.is_lasting = bool(key)
        self.caches = caches.folder()
        self.folder = caches.own_folder() / "tiers" / (key or f"once-{secrets.token_hex(12)}")
        self._owner = os.getpid()
        if not self.is_lasting:
            # At the end of the process the builder does this, once nothing writes there any more.
            weakref.finalize(self, _remove, self.folder, self._owner).atexit = False
            _short_lived.add(self)

    @property
    def job(self) -> Path:
        """The packed graph."""
        return self.folder / "packed"

    @property
    def result(self) -> Path:
        """The built result."""
        return self.folder / "built"

    @property
    def rejected(self) -> Path:
        """Why it is not built again; without this file it is built."""
        return self.folder / "rejected.json"

    @property
    def is_checked(self) -> bool:
        """Whether the result agreed with the first tier's."""
        return self._checked.exists() and self.result.exists()

    def write_job(self, packed: bytes, traits: Traits) -> None:
        """Stores the packed graph, and properties that only the graph itself shows.

        Raises
        ------
        OSError
            The folder cannot be written to, or the disk is full.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        _write(self._traits, msgspec.json.encode(traits))
        _write(self.job, packed)
        self._unsendable.unlink(missing_ok=True)

    def note_unsendable(self, why: str) -> None:
        """Records why the graph cannot be packed: a later process does not see the graph itself."""
        self.folder.mkdir(parents=True, exist_ok=True)
        _write(self._unsendable, why.encode())

    def why_unsendable(self) -> str:
        """Why an earlier process could not pack the graph; empty if that is not known."""
        try:
            return self._unsendable.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            return ""

    def traits(self) -> Traits:
        """The graph's properties that an earlier process stored, if any."""
        try:
            return msgspec.json.decode(self._traits.read_bytes(), type=Traits)
        except (OSError, msgspec.MsgspecError):
            return Traits()

    def note_built(self, seconds: float) -> None:
        """Records the build time; the result exists."""
        _write(self._built, msgspec.json.encode(Built(seconds)))

    def seconds(self) -> float | None:
        """The build time, if known."""
        try:
            return msgspec.json.decode(self._built.read_bytes(), type=Built).seconds
        except (OSError, msgspec.MsgspecError):
            return None

    def note_checked(self) -> None:
        """Records that the result may be used without another check."""
        _write(self._checked, b"")
        self.rejected.unlink(missing_ok=True)

    def note_rejected(self, rejection: Rejection) -> None:
        """Records that the graph need not be built again, and why."""
        if self.is_lasting:
            _write(self.rejected, msgspec.json.encode(rejection))

    def note_slower(self, rejection: Rejection) -> None:
        """Records that a checked result is not to be used, as its calls are slower."""
        self.note_rejected(rejection)
        # Where the rejection does not apply, it is checked and measured again.
        self._checked.unlink(missing_ok=True)

    def rejection(self) -> Rejection | None:
        """Why an earlier process rejected the result, or could not build it."""
        try:
            return msgspec.json.decode(self.rejected.read_bytes(), type=Rejection)
        except (OSError, msgspec.MsgspecError):
            return None

    def note_gain(self, tier: TierName, gain: SwapGain) -> None:
        """Records the measured speedup of a tier over the one before it."""
        _write(self._gain(tier), msgspec.json.encode(gain))

    def gain(self, tier: TierName) -> SwapGain | None:
        """The speedup that an earlier process measured; None if that is not known."""
        try:
            return msgspec.json.decode(self._gain(tier).read_bytes(), type=SwapGain)
        except (OSError, msgspec.MsgspecError):
            return None

    def forget_result(self) -> None:
        """Removes the built result, which cannot be used."""
        gains = (self._gain("cpp"), self._gain("cuda_graphs"))
        for path in (self._checked, *gains, self.result, self._built):
            path.unlink(missing_ok=True)

    def settle(self) -> None:
        """Removes files that no other process looks for, once nothing more will be built."""
        if not self.is_lasting:
            _remove(self.folder, self._owner)

    @property
    def _traits(self) -> Path:
        return self.folder / "traits.json"

    @property
    def _built(self) -> Path:
        return self.folder / "built.json"

    def _gain(self, tier: TierName) -> Path:
        return self.folder / f"gain-{tier}.json"

    @property
    def _unsendable(self) -> Path:
        return self.folder / "unsendable.txt"

    @property
    def _checked(self) -> Path:
        return self.folder / "checked"


_short_lived: weakref.WeakSet[CachedFiles] = weakref.WeakSet()


def settle_all() -> None:
    """Removes, at the end of the process, all files that no other process looks for."""
    for files in list(_short_lived):
        files.settle()


def _remove(folder: Path, owner: int) -> None:
    """Removes a folder, unless this is a fork of the process that it belongs to."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _write(path: Path, content: bytes) -> None:
    """Writes a file atomically: other processes may read it."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
