"""What the kernel's tests share: one cache folder for the run, a clean Dynamo, one thread."""

# ruff: noqa: E402

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from pathlib import Path

# Python looks for garbage where a test asks for it, or memory runs short (`little_memory`): a fifth
# of the time.
gc.set_threshold(1_000_000_000)

# All of this is set before torch is imported, which reads some of it then. What a test starts has
# it too.

# Threads that wait for each other sleep. Otherwise they spin, and where tests share two cores they
# take ten times as long as what they compute.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# The processor's vector instructions are taken as it names them. Otherwise each process that
# compiles C++ in an empty cache folder first builds and loads six libraries that use them: ten
# seconds.
os.environ.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "1")

# Dynamo looks for garbage after each frame that it compiles: a thirtieth of a compilation's time.
os.environ.setdefault("TORCH_DYNAMO_RUN_GC_AFTER_COMPILE", "0")

_FOLDERS = {
    # The run stays out of the developer's own cache, unless the caller names a folder.
    "TORCHINDUCTOR_CACHE_DIR": "inductor",
    # What was compiled in the run is not compiled again; `make test` has its processes share it.
    "COMPILESCOPE_TEST_COMPILATIONS": "compilations",
}
if not _FOLDERS.keys() <= os.environ.keys():
    _RUN = tempfile.TemporaryDirectory(prefix="compilescope-tests-", ignore_cleanup_errors=True)
    for _name, _folder in _FOLDERS.items():
        os.environ.setdefault(_name, f"{_RUN.name}/{_folder}")
_COMPILER = str(Path(__file__).resolve().parents[1] / "compiler")
os.environ["PATH"] = f"{_COMPILER}{os.pathsep}{os.environ['PATH']}"

# A shell starts what runs in its background with Ctrl-C ignored; tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# jsonschema, which nbformat imports, can do without. Its import parses a grammar 39 times: three
# seconds, for a check of addresses that no notebook has.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

from collections.abc import Iterator

import comm
import psutil
import pytest
import torch
from comm.base_comm import CommManager
from compilescope.processes import warm_headers
from compilescope.progress import history
from compilescope.torch_api.process.float32_precision import (
    float32_precisions,
    set_float32_precisions,
)
from hypothesis import settings

from . import less_work
from .forks import forked

# No example has a time limit, which a busy machine would break.
settings.register_profile("compilescope", deadline=None)
settings.load_profile("compilescope")


@pytest.fixture(autouse=True)
def same_random_numbers() -> None:
    """Tests compute with the same weights in each run, in any order."""
    torch.manual_seed(0)


@pytest.fixture(scope="session", autouse=True)
def less_garbage_collection() -> Iterator[None]:
    """Python looks for no garbage in what is imported, nor in anything at the end."""
    gc.collect()
    gc.freeze()
    yield
    gc.freeze()


_GARBAGE = 2 << 30
"""How many bytes a process may grow before it looks for garbage."""


class Collected:
    """When Python last looked for garbage."""

    def __init__(self) -> None:
        self.used_bytes = _used()
        """In use afterwards."""
        self.is_inductor_frozen = False


@pytest.fixture(scope="session")
def collected() -> Collected:
    """When Python last looked for garbage in the tests' process."""
    return Collected()


@pytest.fixture(autouse=True)
def little_memory(collected: Collected) -> Iterator[None]:
    """What the tests of a process leave behind does not add up to all memory."""
    yield
    if not collected.is_inductor_frozen and "torch._inductor.compile_fx" in sys.modules:
        # What torch loads to compile is looked through once: then a test that looks for garbage
        # needs a third of a second less.
        gc.collect()
        gc.freeze()
        collected.is_inductor_frozen = True
    if _used() > collected.used_bytes + _GARBAGE:
        gc.collect()
        collected.used_bytes = _used()


def _used() -> int:
    return psutil.Process().memory_info().rss


@pytest.fixture(scope="session", autouse=True)
def no_warming() -> None:
    """No kernel that a test starts precompiles headers for later."""
    os.environ[warm_headers.SETTING] = "0"


@pytest.fixture(scope="session", autouse=True)
def less_compiling_and_timing() -> None:
    """No test needs the precision that a user gets, nor what torch times of its own."""
    less_work.less_compiling()
    less_work.short_timing()
    less_work.keep_slower_wrappers()


@pytest.fixture(scope="session", autouse=True)
def forked_processes() -> Iterator[None]:
    """Processes of ours that import torch first are forked from one that has."""
    with forked():
        yield


@pytest.fixture(scope="session", autouse=True)
def own_history(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The developer's own estimates are neither shown here nor changed by what tests take."""
    os.environ[history.FOLDER] = str(tmp_path_factory.mktemp("history"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that need a GPU: those in files called ``test_gpu…``."""
    for item in items:
        if item.path.name.startswith("test_gpu"):
            item.add_marker(pytest.mark.gpu)


@pytest.fixture
def real_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is compiled, also what was before: for tests of what a build costs."""
    monkeypatch.delenv("COMPILESCOPE_TEST_COMPILATIONS")


@pytest.fixture
def fresh_dynamo() -> Iterator[None]:
    """Dynamo has compiled nothing before the test, and keeps nothing that the test compiled."""
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.fixture
def precision() -> Iterator[None]:
    """How products are rounded is afterwards as it was before."""
    before = float32_precisions()
    yield
    set_float32_precisions(before)


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
    comm_manager = CommManager()
    monkeypatch.setattr(comm, "get_comm_manager", lambda: comm_manager)
    return comm_manager
