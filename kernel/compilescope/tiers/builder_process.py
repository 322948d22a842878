"""The build process: builds one graph after the other, until none is left."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

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
    refuse_to_make(os.environ["TORCHINDUCTOR_CACHE_DIR"])
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


def refuse_to_make(folder: str) -> None:
    """Makes this process fail where it would create a folder.

    The parent made torch's cache folder. Whoever removed it meanwhile does not want it back, but
    torch creates it wherever it is missing.
    """
    refused = Path(folder).absolute()

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "os.mkdir" and Path(os.fsdecode(arguments[0])).absolute() == refused:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder)

    sys.addaudithook(refuse)


def _build(order: Order) -> Answer:
    start = time.perf_counter()
    result = Path(order.result)
    partial = result.with_name(f"{result.name}.{os.getpid()}")
    try:
        packed = Path(order.job).read_bytes()
        # Not before: importing torch fails without its cache folder.
        from ..torch_api.inductor.both_wrappers.building import build

        partial.write_bytes(build(packed))
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
