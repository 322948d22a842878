"""The build process: builds one graph after the other, until none is left."""

from __future__ import annotations

import contextlib
import os
import time
import traceback
from pathlib import Path

import msgspec

from ..processes.child import ChildProcess, serve
from . import transient_errors

ORDER, ANSWER = ".order", ".answer"
"""Suffixes of the files in the queue's folder: the orders, and their results."""
BEGIN, END = "begin", "end"
"""The steps, each with the name of an order."""
_NICE = 10
"""The niceness: the user's own calls have priority."""


class Order(msgspec.Struct):
    """A graph to build."""

    job: str
    result: str


class Answer(msgspec.Struct):
    """The outcome; without an error, the result exists."""

    seconds: float
    error: str = ""
    detail: str = ""
    is_transient: bool = True
    """Whether a retry on the same machine may succeed."""


def work(inside: ChildProcess) -> bytes:
    """Builds the orders in the queue, including those that arrive meanwhile."""
    os.nice(_NICE)
    queue = Path(inside.header["queue"])
    done: set[str] = set()
    while waiting := sorted(path for path in queue.glob(f"*{ORDER}") if path.name not in done):
        for path in waiting:
            done.add(path.name)
            inside.step(f"{BEGIN} {path.stem}")
            answer = _build(msgspec.json.decode(path.read_bytes(), type=Order))
            path.with_suffix(ANSWER).write_bytes(msgspec.json.encode(answer))
            inside.step(f"{END} {path.stem}")
    return b"done"


def _build(order: Order) -> Answer:
    start = time.perf_counter()
    result = Path(order.result)
    partial = result.with_name(f"{result.name}.{os.getpid()}")
    try:
        from ..torch_api.inductor.both_wrappers.building import build

        partial.write_bytes(build(Path(order.job).read_bytes()))
        partial.replace(result)
    except Exception as error:  # noqa: BLE001 - it is torch's, the compiler's or the disk's
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        seconds = time.perf_counter() - start
        text = f"{type(error).__name__}: {error}"
        return Answer(seconds, text, traceback.format_exc(), transient_errors.is_transient(error))
    return Answer(time.perf_counter() - start)


if __name__ == "__main__":
    serve(work)
