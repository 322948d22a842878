"""A shell with the magics, and the session that they ask."""

from __future__ import annotations

import atexit
import builtins
import sys
from collections.abc import Iterator

import pytest
from compilescope.session import requests
from compilescope.session import session as sessions
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from .magic_support import FakeSession


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    # A doctest leaves it, and then IPython sets no other.
    monkeypatch.delattr(builtins, "_", raising=False)
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    before = sys.displayhook
    shell = InteractiveShell.instance(config=config)
    shell.run_line_magic("load_ext", "compilescope")
    shell.run_cell("def f(a, b=1):\n    calls.append((a, b))\n    return a + b\ncalls = []")
    yield shell
    shell.run_line_magic("unload_ext", "compilescope")
    InteractiveShell.clear_instance()
    # Each shell would look for garbage as the process ends: in all that the run has left, half a
    # second a shell.
    atexit.unregister(shell.atexit_operations)
    sys.displayhook = before


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> FakeSession:
    fake = FakeSession()
    monkeypatch.setattr(sessions, "get_session", lambda: fake)
    # Its report is of no call that could be made again.
    monkeypatch.setattr(requests, "plan_breakdown", lambda *_, **__: None)
    return fake
