"""What the kernel's tests share: one cache folder for the run, a clean Dynamo, one thread."""

from __future__ import annotations

import os
from collections.abc import Iterator

import comm
import pytest
import torch
from comm.base_comm import CommManager
from compilescope.processes import warm_headers
from compilescope.progress import history

_FOLDER = "TORCHINDUCTOR_CACHE_DIR"
_VECTORS = "TORCHINDUCTOR_VEC_ISA_OK"


def pytest_configure() -> None:
    """The processor's vector instructions are taken as it names them, here and in what is started.

    Otherwise each process that compiles C++ in an empty cache folder first builds and loads six
    libraries that use them: ten seconds. Torch reads this when Inductor is imported.
    """
    os.environ.setdefault(_VECTORS, "1")


@pytest.fixture(scope="session", autouse=True)
def no_warming() -> None:
    """No kernel that a test starts precompiles headers for later."""
    os.environ[warm_headers.SETTING] = "0"


@pytest.fixture(scope="session", autouse=True)
def own_history(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The developer's own estimates are neither shown here nor changed by what tests take."""
    os.environ[history.FOLDER] = str(tmp_path_factory.mktemp("history"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that need a GPU: those in files called ``test_gpu…``."""
    for item in items:
        if item.path.name.startswith("test_gpu"):
            item.add_marker(pytest.mark.gpu)


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keeps the run out of the developer's own cache, unless the caller names a folder."""
    if os.environ.get(_FOLDER):
        yield
        return
    os.environ[_FOLDER] = str(tmp_path_factory.mktemp("inductor"))
    yield
    del os.environ[_FOLDER]


@pytest.fixture
def fresh_dynamo() -> Iterator[None]:
    """Dynamo has compiled nothing before the test, and keeps nothing that the test compiled."""
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """On a busy machine threads wait for each other, a thousand times as long as they compute."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> CommManager:
    """Comms that no kernel serves."""
    made = CommManager()
    monkeypatch.setattr(comm, "get_comm_manager", lambda: made)
    return made
