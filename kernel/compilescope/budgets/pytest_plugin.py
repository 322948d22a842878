"""A pytest plugin: compile budgets for tests.

``@pytest.mark.compilescope(recompiles=0, graph_breaks=0)`` fails a test that compiles more than
that; the limits are those of `compilescope.budget`. ``--compilescope-report=DIR`` keeps what every
marked test compiled, as ``.compilescope.json`` for ``compilescope diff``, and as a page where a
limit is exceeded.

pytest loads it in every run where compilescope is installed, so it imports nothing large: torch
and the rest come with the first marked test.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from pathlib import Path

import pytest

MARKER = "compilescope"


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
        "compile_seconds=): fail if the test compiles more than this",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Run a marked test within its budget."""
    marker = item.get_closest_marker(MARKER)
    if marker is None:
        return (yield)
    from ..jobs.watch_switch import caller
    from ..session.lazy import session
    from ..watching.watch import MEMORY_MB
    from .budget import Budget, BudgetError, check

    try:
        budget = Budget(*marker.args, **marker.kwargs)
    except TypeError as error:
        raise pytest.UsageError(f"@pytest.mark.{MARKER}: {error}") from error
    folder: Path | None = item.config.getoption("--compilescope-report")
    with session().watcher.block(MEMORY_MB, caller()) as report:
        result = yield
    page = None
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^\w.\-]+", "-", item.nodeid)
        report.save(folder / f"{name}.compilescope.json")
        page = folder / f"{name}.html"
    try:
        check(budget, report, page)
    except BudgetError as error:
        message = str(error)
    else:
        return result
    # A traceback would show this plugin's code.
    pytest.fail(message, pytrace=False)
