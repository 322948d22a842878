"""The C++ headers that Inductor precompiles, once on a machine for each compiler and set of flags.

They are outside the cache folder, so a process with an empty cache finds them; a process that must
start without them uses another folder.

Relies on ``torch._inductor.codecache`` (_HEADER_DIR, _HEADER_LOCK_DIR,
_precompile_header) and
``torch._inductor.config.cpp_cache_precompile_headers``: the same in 2.11 to 2.15.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch._inductor.config as inductor_config
from torch._inductor import codecache

FIRST_IMPORTS = "import torch, torch._dynamo, torch._inductor.compile_fx"
"""The modules that a process imports before its first compilation."""


def keep_in(folder: Path) -> None:
    """Makes this process keep precompiled headers in a folder, and find none elsewhere."""
    names: Any = codecache
    names._HEADER_DIR = str(folder)
    names._HEADER_LOCK_DIR = str(folder / "locks")


def precompile(on: bool) -> None:
    """Whether this process precompiles headers."""
    config: Any = inductor_config
    config.cpp_cache_precompile_headers = on


def header_folder() -> Path:
    """Where this process keeps precompiled headers; the folder may not exist yet."""
    names: Any = codecache
    return Path(names._HEADER_DIR)


def precompiles() -> bool:
    """Whether this process precompiles headers."""
    config: Any = inductor_config
    return bool(config.cpp_cache_precompile_headers)


@contextlib.contextmanager
def recording_headers() -> Iterator[list[Path]]:
    """Yields the precompiled headers that builds in the block use, new and existing ones."""
    names: Any = codecache
    precompile_header = names._precompile_header
    paths: list[Path] = []

    def note(*args: Any, **kwargs: Any) -> str:
        header = str(precompile_header(*args, **kwargs))
        paths.extend(Path(header).parent.glob(f"{Path(header).name}.*ch"))
        return header

    names._precompile_header = note
    try:
        yield paths
    finally:
        names._precompile_header = precompile_header
