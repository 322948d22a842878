"""What the kernel's tests share: one cache folder for the run, and a clean Dynamo for each test."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

_FOLDER = "TORCHINDUCTOR_CACHE_DIR"


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keeps the run out of the developer's own cache, unless the caller names a folder."""
    if os.environ.get(_FOLDER):
        yield
        return
    os.environ[_FOLDER] = str(tmp_path_factory.mktemp("inductor"))
    yield
    del os.environ[_FOLDER]
