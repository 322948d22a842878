"""A session that notes what the magics ask of it, and a check that a cell ran."""

from __future__ import annotations

from typing import Any

from compilescope.isolation.global_state import contexts
from compilescope.progress.progress import Progress
from compilescope.report import Report
from compilescope.report.subjects.watching import WatchState
from IPython.core.interactiveshell import ExecutionResult

from ..views_report import report


class FakeWatcher:
    """A switch that is as it was put."""

    def __init__(self) -> None:
        self.asked: list[object] = []
        self.now = WatchState()

    def on(self, memory_mb: float | None) -> None:
        self.asked.append(memory_mb)
        self.now = WatchState(on=True, subject="w", since_s=0.0, budget_bytes=256_000_000)

    def off(self) -> bool:
        was_on, self.now.on = self.now.on, False
        return was_on

    def raised(self, error: BaseException) -> None:
        """A cell's exception, of which these tests have many."""

    def clear(self) -> None:
        self.asked.append("clear")

    def state(self) -> WatchState:
        return self.now


class FakeSession:
    """Notes what it is asked, and answers with a small report."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.contexts: list[list[str]] = []
        """torch's modes at each inspection."""
        self.inspections: dict[str, Any] = {}
        self.watcher = FakeWatcher()
        self.error: BaseException | None = None

    def forget(self, subject: str) -> None:
        del self.inspections[subject]

    def inspect(self, fn: Any, args: Any, kwargs: Any, **options: Any) -> Report:
        self.asked.append({"fn": fn, "args": args, "kwargs": kwargs, **options})
        self.contexts.append(contexts())
        options["progress"](Progress(step="capturing", fraction=0.5))
        if self.error is not None:
            raise self.error
        return report()


def succeed(result: ExecutionResult) -> None:
    result.raise_error()
