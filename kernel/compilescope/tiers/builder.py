"""Builds the second tier of graphs in a separate process, in submission order.

A thread waits for that process, and loads its results. Both end when nothing is left to build.
"""

from __future__ import annotations

import atexit
import errno
import logging
import os
import threading
import traceback
from pathlib import Path

import msgspec

from ..processes import runner
from ..processes.folders import temporary
from ..torch_api.inductor.both_wrappers import loading
from ..torch_api.process import caches
from . import background, background_check, cached_files, graphs, observers
from .builder_process import ANSWER, BEGIN, END, ORDER, Answer, Order
from .tiered_graph import WRITABLE, TieredGraph
from .transient_errors import ENGLISH

COMMAND = ("-m", "compilescope.tiers.builder_process")

_JOIN_S = 5.0

_log = logging.getLogger(__name__)


class Builder:
    """Builds graphs; any thread may submit."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: list[TieredGraph] = []
        self._ordered: dict[str, TieredGraph] = {}
        """Name of an order → its graph, for orders that the process has not answered."""
        self._begun: set[str] = set()
        self._folder: Path | None = None
        """The queue's folder of the process that runs."""
        self._caches: Path | None = None
        """torch's cache folder of that process."""
        self._number = 0
        self._is_stopped = False
        self._thread: threading.Thread | None = None

    def submit(self, graph: TieredGraph) -> None:
        """Submits a graph whose packed form is stored; returns at once."""
        with self._changed:
            if self._is_stopped:
                return
            self._waiting.append(graph)
            if self._folder is not None:
                try:
                    self._send_waiting(self._folder)
                except OSError as error:
                    # This is the user's thread. What was not sent waits for the next process.
                    _log.info("a graph waits for the next process: %s", error)
            why = self._start() if self._thread is None else ""
        if why:
            self._give_up(why)

    def _start(self) -> str:
        """Starts the thread; returns why that failed, if it did."""
        thread = threading.Thread(target=self._run, name="compilescope-tiers", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            return f"No thread could be started for it: {error}."
        self._thread = thread
        return ""

    def wait(self, timeout_s: float | None = None) -> bool:
        """Waits until nothing is left to build; returns whether that was in time."""
        with self._changed:
            return self._changed.wait_for(lambda: self._thread is None, timeout_s)

    def stop(self) -> None:
        """Ends the process, if there is one, and waits for its end."""
        with self._changed:
            self._is_stopped = True
            thread = self._thread
        if thread is not None:
            # It may wait for a running compilation, whose process ends with this one.
            thread.join(_JOIN_S)

    def _run(self) -> None:
        while True:
            with self._changed:
                if self._is_stopped or not self._waiting:
                    self._thread = None
                    self._changed.notify_all()
                    return
            try:
                self._run_process()
            except OSError as error:
                self._give_up(f"No process could be started for it: {error}.")
            except Exception as error:  # noqa: BLE001 - further graphs need this thread
                why = f"Building it failed: {type(error).__name__}: {error}."
                self._give_up(why, traceback.format_exc())

    def _run_process(self) -> None:
        with self._changed:
            first = self._waiting[0]
        self._wait_for_caches(first)
        # The user may have chosen another folder since the graph was compiled.
        own_caches = first.files.caches
        with temporary("tiers") as folder:
            header = {
                "queue": str(folder),
                "cwd": str(Path.cwd()),
                "sys_path": runner.search_path(),
            }
            try:
                with self._changed:
                    self._folder, self._caches = folder, own_caches
                    self._begun.clear()
                    self._send_waiting(folder)
                ended = runner.run(
                    COMMAND,
                    b"",
                    header=header,
                    limits=runner.Limits(),
                    cancelled=lambda: self._is_stopped,
                    stepped=self._on_step,
                    variables={
                        "TRITON_CACHE_DIR": str(caches.triton_folder(own_caches)),
                        **ENGLISH,
                    },
                    folder=own_caches,
                )
            finally:
                with self._changed:
                    self._folder = None
            if self._is_stopped:
                return
            self._after(ended)

    def _send_waiting(self, folder: Path) -> None:
        """Moves waiting graphs to the process's queue; the lock is held.

        Those with other caches, and those after them, wait for the next process.
        """
        while self._waiting:
            graph = self._waiting[0]
            if graph.is_alive:
                if graph.files.caches != self._caches:
                    return
                self._number += 1
                name = f"{self._number:06}"
                order = Order(str(graph.files.job), str(graph.files.result))
                partial = folder / f"{name}.partial"
                partial.write_bytes(msgspec.json.encode(order))
                partial.replace(folder / f"{name}{ORDER}")
                self._ordered[name] = graph
            self._waiting.pop(0)

    def _on_step(self, step: str) -> None:
        what, _, name = step.partition(" ")
        with self._changed:
            graph, folder = self._ordered.get(name), self._folder
        if graph is None or folder is None:
            return
        if what == BEGIN:
            self._begun.add(name)
            graph.mark_building()
        elif what == END:
            with background.giving_way():
                self._hear_end(name, graph, folder)

    def _hear_end(self, name: str, graph: TieredGraph, folder: Path) -> None:
        answer = msgspec.json.decode((folder / f"{name}{ANSWER}").read_bytes(), type=Answer)
        with self._changed:
            del self._ordered[name]
        self._wait_for_caches(graph)
        _take(graph, answer)

    def _wait_for_caches(self, graph: TieredGraph) -> None:
        """An inspection has its own caches, which lack the graph's libraries."""
        caches.wait_for(graph.files.caches, lambda: self._is_stopped)

    def _after(self, ended: runner.Ended) -> None:
        """Handles the end of the process: unfinished builds fail, or move to another process."""
        with self._changed:
            left, self._ordered = self._ordered, {}
            fresh = {name: graph for name, graph in left.items() if name not in self._begun}
            for name in fresh:
                del left[name]
            if ended.how == "done" or left:
                # They came while it was ending, or were queued behind the graph that made it fail.
                self._waiting[:0] = fresh.values()
                fresh = {}
        why = f"The process that built it ended: {runner.describe_exit(ended.exit_code)}."
        remedy = ""
        if ended.exit_code is not None and ended.exit_code < 0:
            why = f"The process that built it was killed: {runner.describe_exit(ended.exit_code)}."
            remedy = _KILLED
        if ended.exit_code and ended.exit_code > 0 and ended.errors.strip():
            why += f" The last that it wrote: {ended.errors.strip().splitlines()[-1]}"
        for graph in (*left.values(), *fresh.values()):
            _fail(graph, why, ended.errors, remedy)

    def _give_up(self, why: str, detail: str = "") -> None:
        with self._changed:
            failed = [*self._ordered.values(), *self._waiting]
            self._ordered, self._waiting = {}, []
        for graph in failed:
            _fail(graph, why, detail)


FREE_SPACE = (
    "Free some space in {}, torch's cache folder, and in the temporary folder; the next process "
    "that compiles it builds it again. Or set TORCHINDUCTOR_CACHE_DIR to a folder on another disk."
)
"""What to do about a full disk, with the cache folder."""
_FULL = (os.strerror(errno.ENOSPC), os.strerror(errno.EDQUOT))

_KILLED = (
    "The next process that compiles it builds it again. If memory ran out, free some: a C++ "
    "compiler may take gigabytes for a large graph."
)


def _fail(graph: TieredGraph, why: str, detail: str, remedy: str = "") -> None:
    try:
        graph.fail_to_build(why, detail, remedy=remedy)
    except Exception:  # noqa: BLE001 - a warning filter may raise; other graphs must still fail
        _log.exception("The failure of a graph's second tier could not be reported.")


def _take(graph: TieredGraph, answer: Answer) -> None:
    if "'_OpNamespace'" in answer.error:
        graph.fail_to_send(f"It calls an operator that only your process knows: {answer.error}.")
        return
    if answer.error:
        detail = f"{answer.error}\n{answer.detail}"
        if not graph.files.job.exists():
            why = f"{graph.files.caches}, torch's cache folder, was emptied or removed before that."
            graph.fail_to_build(why, detail, remedy=cached_files.KEEP_FOLDER)
            return
        is_full = any(words in answer.error for words in _FULL)
        remedy = FREE_SPACE.format(graph.files.caches) if is_full else ""
        graph.fail_to_build(
            _line(answer.error), detail, remedy=remedy, is_transient=answer.is_transient
        )
        return
    try:
        graph.files.note_built(answer.seconds)
    except OSError as error:
        graph.fail_to_build(f"{type(error).__name__}: {error}", remedy=WRITABLE)
        return
    graph.load(answer.seconds)


def _line(error: str) -> str:
    """The most informative line of an error: a C++ compiler's first, else the error's own."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    return next((line for line in lines if "error: " in line), lines[0])[:400]


_builder = Builder()


def builder() -> Builder:
    """The builder of this process."""
    return _builder


def _stop() -> None:
    _builder.stop()
    cached_files.settle_all()


def _after_fork() -> None:
    global _builder
    _builder = Builder()
    loading.after_fork()
    background.after_fork()
    background_check.after_fork()
    observers.after_fork()
    graphs.after_fork()


atexit.register(_stop)
os.register_at_fork(after_in_child=_after_fork)
