"""A pytest plugin: compile budgets for tests.

``@pytest.mark.compilescope(recompiles=0, graph_breaks=0)`` fails a test that compiles more than
that; the limits are those of `compilescope.budget`. The marks of a module, a class and a function
add up: for each limit, the closest mark that gives it counts. ``--compilescope-report=DIR`` saves
the compilations of every marked test, as ``.compilescope.json`` for ``compilescope diff``, and as a
page if a limit is exceeded.

pytest loads it in every run where compilescope is installed, so it imports only small modules:
torch and the rest are imported for the first marked test.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import re
from collections.abc import Generator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ..report import Report

MARKER = "compilescope"
_PLAIN = r"[\w./:\-]+(\[[\w.\-]*\])?"
"""Ids of tests whose parameters are in the file's name as they are."""
_MAX_NAME_BYTES = 230
"""Bytes of a name: file systems allow 255 with the suffix."""
_HASH = 8


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--compilescope-report``."""
    parser.getgroup("compilescope").addoption(
        "--compilescope-report",
        type=Path,
        metavar="DIR",
        help="keep what tests marked 'compilescope' compiled, as reports in this folder",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, for ``--strict-markers`` and ``--markers``."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(recompiles=, graph_breaks=, kernels=, guards=, compilations=, "
        "compile_seconds=, eager_fallbacks=): fail if the test compiles more than this",
    )


# Around all others: pytest skips a test in a hook of this kind.
@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Delete the report of an earlier run: a test that does not get to its call writes none."""
    folder: Path | None = item.config.getoption("--compilescope-report")
    if folder is not None and item.get_closest_marker(MARKER) is not None:
        for path in _files(folder, item):
            path.unlink(missing_ok=True)
    return (yield)


# Last, so that pytest's own log handlers are already installed.
@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Run a marked test within its budget."""
    markers = list(item.iter_markers(MARKER))
    if not markers:
        return (yield)
    from ..jobs.watch_switch import caller
    from ..report.errors import CompilescopeError
    from ..session.lazy import session
    from ..torch_api.trace.process_trace import unseen_by
    from ..watching.watch import MEMORY_MB
    from .budget import Budget, BudgetError, check

    known = [field.name for field in fields(Budget)]
    limits: dict[str, Any] = {}
    unknown: list[str] = []
    for marker in reversed(markers):  # the closest is the first
        limits |= marker.kwargs
        unknown += map(repr, marker.args)
    unknown += [name for name in limits if name not in known]
    # A traceback would show this plugin's code.
    if unknown:
        names = ", ".join(known)
        pytest.fail(f"@pytest.mark.{MARKER} has no limit {unknown[0]}, but {names}.", pytrace=False)
    try:
        budget = Budget(**limits)
    except CompilescopeError as error:
        wrong = f"@pytest.mark.{MARKER}: {error}"
    else:
        wrong = ""
    if wrong:  # outside the handler: pytest would show both errors
        pytest.fail(wrong, pytrace=False)
    folder: Path | None = item.config.getoption("--compilescope-report")
    report = None
    try:
        with unseen_by(_is_pytests), session().watcher.block(MEMORY_MB, caller()) as report:
            result = yield
    except BaseException:
        if folder is not None and report is not None:
            with contextlib.suppress(CompilescopeError, OSError):
                _save(report, folder, item)
        raise
    page = None if folder is None else _save(report, folder, item)
    try:
        check(budget, report, page)
    except BudgetError as error:
        message = str(error)
    else:
        return result
    pytest.fail(message, pytrace=False)


def _save(report: Report, folder: Path, item: pytest.Item) -> Path:
    """Saves a test's report, and returns where its page goes."""
    folder.mkdir(parents=True, exist_ok=True)
    file, page = _files(folder, item)
    report.save(file)
    return page


def _files(folder: Path, item: pytest.Item) -> tuple[Path, Path]:
    """A test's report, and its page, which it has if a limit is exceeded."""
    name = file_name(item.nodeid)
    return folder / f"{name}.compilescope.json", folder / f"{name}.html"


def file_name(node_id: str) -> str:
    """The name of a test's report, without a suffix; no two tests have the same."""
    name = re.sub(r"[^\w.\-]+", "-", node_id)
    if re.fullmatch(_PLAIN, node_id) and len(name.encode()) <= _MAX_NAME_BYTES:
        return name
    # Parameters such as "a b" and "a-b" look the same in a name.
    start = name.encode()[: _MAX_NAME_BYTES - _HASH - 1].decode(errors="ignore")
    return f"{start}-{hashlib.sha256(node_id.encode(errors='replace')).hexdigest()[:_HASH]}"


def _is_pytests(handler: logging.Handler) -> bool:
    """Whether pytest captures logs with it: it would show each event as an empty line."""
    return type(handler).__module__.partition(".")[0] == "_pytest"
