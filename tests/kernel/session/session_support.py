"""Calls that the tests of sessions inspect, and an observer that notes what it is told."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import compilescope as cs
import torch
from compilescope.jobs.jobs import Job
from compilescope.session.session import Session

from .. import subjects

X = torch.randn(4, 8)


CPP = cs.Variant(cpp_wrapper=True)


EAGER = cs.Variant(backend="eager")


class Notices:
    """An observer that notes what it is told."""

    def __init__(self, session: Session) -> None:
        self.kinds: list[str] = []
        self.states: list[tuple[str, str]] = []
        self.stop = session.observe(self)

    def __call__(self, kind: str, subject: str, job: Job | None, _: Any) -> None:
        self.kinds.append(kind)
        if job is not None and (job.id, job.state) not in self.states[-1:]:
            self.states.append((job.id, job.state))


def inspected(session: Session, **options: Any) -> str:
    options = {"run": False, "variants": "python", **options}
    return session.inspect(subjects.plain, (X,), **options).subject.id


def in_thread(work: Callable[[], Any]) -> Any:
    """What ``work`` returned or raised in a thread of its own."""
    results: list[Any] = []

    def body() -> None:
        try:
            results.append(work())
        except Exception as error:  # noqa: BLE001 - handed to the test
            results.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join(600)
    return results[0]
