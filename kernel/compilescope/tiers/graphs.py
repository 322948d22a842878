"""The graphs that the backend compiled, each with its tiers."""

from __future__ import annotations

import itertools
import logging
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import msgspec

from ..report import OutputError
from ..report.problem import Problem, message_of
from ..report.tiers import Gain, GraphTiers, Tier
from ..torch_api.inductor.both_wrappers import Noticed, UnlikeError, WouldBuildError, load
from . import observers
from .cached_files import CachedFiles
from .check import Check
from .turns import Turns

_log = logging.getLogger(__name__)


class TierWarning(UserWarning):
    """A tier that could not be had. Your calls are served by the one before it."""


class Wrappers:
    """The wrappers of a graph, kept on torch's object: nothing else may keep that alive.

    torch may pickle its object, and functions that it compiled cannot be pickled.

    Parameters
    ----------
    first
        The Python wrapper.
    """

    def __init__(self, first: Any = None) -> None:
        self.first = first
        self.next: Any = None
        """What serves when the graph is not pinned: the check, then both wrappers in turns, then
        the C++ wrapper."""

    def __reduce__(self) -> Any:
        return Wrappers, ()


class TieredGraph:
    """A graph, what serves it, and what is to serve it.

    Everything that happens to it is an assignment: calls of the graph take no lock, but for the
    one that ends the check.

    Parameters
    ----------
    noticed
        As torch has just compiled or loaded it.
    """

    def __init__(self, noticed: Noticed) -> None:
        self.files = CachedFiles(noticed.key)
        self._compiled = weakref.ref(noticed.compiled)
        self._lock = threading.RLock()
        self._ready = time.monotonic()
        self._first = Tier(name="python", state="serves", seconds=noticed.seconds)
        self._second = Tier(name="cpp", state="waits")
        self._report = GraphTiers(
            compilation=noticed.compile_id,
            kind=noticed.kind,
            serving="python",
            tiers=[self._first, self._second],
            number=next(_numbers),
        )

    @property
    def is_alive(self) -> bool:
        """Whether anybody can still call it."""
        return self._compiled() is not None

    @property
    def is_settled(self) -> bool:
        """Whether nothing more will happen to it, or only at a call."""
        return self._second.state not in ("waits", "builds")

    @property
    def number(self) -> int:
        """Tells the graphs of this process apart."""
        return self._report.number

    def report(self) -> GraphTiers:
        """How it stands now."""
        now: GraphTiers = msgspec.convert(msgspec.to_builtins(self._report), GraphTiers)
        return now

    def pin(self, pinned: bool) -> None:
        """Has the first tier serve, whatever is built; or, if not ``pinned``, the latest tier."""
        with self._lock:
            compiled = self._compiled()
            if compiled is None or pinned == self._report.pinned:
                return
            self._report.pinned = pinned
            wrappers = _wrappers_of(compiled)
            if wrappers is not None and wrappers.next is not None:
                self._install(compiled, wrappers)
        self.tell()

    def _install(self, compiled: Any, wrappers: Wrappers) -> None:
        """Has the tier serve that is to serve."""
        is_checking = isinstance(wrappers.next, Check)
        is_first = self._report.pinned or is_checking
        compiled.current_callable = wrappers.first if self._report.pinned else wrappers.next
        self._report.serving = "python" if is_first else "cpp"
        self._first.state = "serves" if is_first else "replaced"
        if is_checking:
            self._second.state = "checks"
        else:
            self._second.state = "checked" if self._report.pinned else "serves"
            if not self._report.pinned and self._report.swapped_s is None:
                self._report.swapped_s = time.monotonic() - self._ready

    def tell(self) -> None:
        """Passes on that it has changed."""
        if observers.is_observed():
            observers.notify(self.report())

    def refuse(self, why: str) -> None:
        """There is no second tier, as is right."""
        self._second.state, self._second.why = "unwanted", why
        self.files.settle()
        self.tell()

    def fail(self, what: str, why: str, *, remedy: str, detail: str = "") -> None:
        """There is no second tier, though there should be one: says so once."""
        problem = Problem(severity="warning", what=what, why=why, remedy=remedy, detail=detail)
        self._second.state, self._second.problem = "failed", problem
        self.files.settle()
        self.tell()
        _warn_once(problem)

    def begin(self) -> None:
        """It is being built."""
        self._second.state = "builds"
        self.tell()

    def serve_cached(self) -> bool:
        """Has what an earlier process built and checked serve at once; whether that worked."""
        start = time.perf_counter()
        compiled = self._compiled()
        try:
            second = load(self.files.result.read_bytes(), compiled)
            wrappers = _wrappers_of(compiled, new=True)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, it is built anew
            _log.info("the cached result of %s is built again: %s", self._name, error)
            self.files.forget_result()
            return False
        self._second.load_s = time.perf_counter() - start
        self._second.seconds = self.files.seconds()
        self._second.cached = True
        self._report.gain = self.files.gain()
        self._serve(compiled, wrappers, second)
        self.tell()
        return True

    def take(self, seconds: float | None) -> None:
        """Loads what was built, and has the next call compare it with the first tier."""
        compiled = self._compiled()
        self._second.seconds = seconds
        if compiled is None:
            return
        start = time.perf_counter()
        try:
            second = load(self.files.result.read_bytes(), compiled)
        except (UnlikeError, WouldBuildError) as error:
            self.files.forget_result()
            why = f"It was built, but {error}."
            if isinstance(error, WouldBuildError):
                why = f"It was built, but {error} is gone."
            self.fail(self._what("cannot be used"), why, remedy=_REPORT)
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, the first tier serves
            self.files.forget_result()
            self.fail(self._what("could not be loaded"), _first_line(error), remedy=_REPORT)
            return
        self._second.load_s = time.perf_counter() - start
        kind = self._report.kind
        wrappers = _wrappers_of(compiled, new=True)
        wrappers.next = Check(
            wrappers.first,
            second,
            changes=None if kind == "backward" else frozenset(compiled.mutated_input_idxs),
            devices=_gpus(compiled),
            settle=self._settle,
        )
        with self._lock:
            self._install(compiled, wrappers)
        self.tell()

    def after_fork(self) -> None:
        """In a child of the process that builds: the tier that it has stays."""
        self._lock = threading.RLock()
        compiled = self._compiled()
        wrappers = _wrappers_of(compiled)
        if wrappers is not None and isinstance(wrappers.next, (Check, Turns)):
            wrappers.next.after_fork()
        if not self.is_settled:
            self.refuse("It was being built in the process that this one was forked from.")

    def _settle(self, wrong: list[OutputError] | Exception | None) -> None:
        compiled = self._compiled()
        wrappers = _wrappers_of(compiled)
        if compiled is None or wrappers is None or not isinstance(wrappers.next, Check):
            return
        if wrong is None:
            turns = Turns(
                wrappers.first,
                wrappers.next.second,
                is_host_time=bool(_gpus(compiled)),
                settle=self._end_turns,
            )
            self._serve(compiled, wrappers, turns)
            self.tell()
            try:
                self.files.note_checked()
            except OSError as error:
                # The next process compares once more.
                _log.info("the check of %s could not be noted: %s", self._name, error)
            self.files.settle()
            return
        with self._lock:
            compiled.current_callable = wrappers.first
            wrappers.next = None
        self.files.forget_result()
        if isinstance(wrong, Exception):
            why = f"It raised an exception where the Python wrapper gave a result: {wrong}."
        else:
            worst = max(wrong, key=lambda error: error.max_abs)
            why = (
                f"{worst.path} is off by {worst.max_abs:.3g} (relative {worst.max_rel:.3g}) from "
                f"the Python wrapper's; allowed are {worst.tolerance_abs:.3g} + "
                f"{worst.tolerance_rel:.3g} times the value."
            )
        self.fail(self._what("gives another result"), why, remedy=_REPORT)

    def _end_turns(self, gain: Gain) -> None:
        compiled = self._compiled()
        wrappers = _wrappers_of(compiled)
        if compiled is None or wrappers is None or not isinstance(wrappers.next, Turns):
            return
        self._report.gain = gain
        self._serve(compiled, wrappers, wrappers.next.second)
        self.tell()
        if not self.files.is_lasting:
            return
        try:
            self.files.note_gain(gain)
        except OSError as error:
            _log.info("what the swap of %s gained is not kept: %s", self._name, error)

    def _serve(self, compiled: Any, wrappers: Wrappers, second: Callable[[list[Any]], Any]) -> None:
        with self._lock:
            wrappers.next = second
            self._install(compiled, wrappers)

    @property
    def _name(self) -> str:
        return f"{self._report.compilation} {self._report.kind}"

    def _what(self, what: str) -> str:
        return f"The C++ wrapper of graph {self._name} {what}; its Python wrapper goes on serving."

    def fail_to_send(self, why: str) -> None:
        """Says that no other process can build it."""
        remedy = 'Nothing is lost: backend="inductor" would serve it with the same wrapper.'
        self.fail(self._what("cannot be built in another process"), why, remedy=remedy)

    def fail_to_build(self, why: str, detail: str = "") -> None:
        """Says that building failed."""
        remedy = "compilescope.doctor() looks whether the C++ compiler works here."
        self.fail(self._what("could not be built"), why, remedy=remedy, detail=detail)


_REPORT = "compilescope.inspect compares both wrappers of the call; then report it to PyTorch."

_WRAPPERS = "_compilescope_wrappers"
_numbers = itertools.count(1)
_lock = threading.Lock()
_graphs: weakref.WeakKeyDictionary[Any, list[TieredGraph]] = weakref.WeakKeyDictionary()
_others: list[TieredGraph] = []
"""Of no call of ``torch.compile`` that is known."""
_warned: set[str] = set()


def _gpus(compiled: Any) -> list[int]:
    return sorted(compiled.device_idxs) if "cuda" in compiled.device_types else []


def _wrappers_of(compiled: Any, *, new: bool = False) -> Any:
    """The wrappers that are kept of a graph, or None; ``new`` begins with what serves it now."""
    if new and compiled is not None:
        setattr(compiled, _WRAPPERS, Wrappers(compiled.current_callable))
    return getattr(compiled, _WRAPPERS, None)


def add(context: Any, graph: TieredGraph) -> None:
    """Remembers a graph; ``context`` stands for the call of ``torch.compile`` it belongs to."""
    with _lock:
        graphs = _others if context is None else _graphs.setdefault(context, [])
        graphs[:] = [other for other in graphs if other.is_alive]
        graphs.append(graph)


def of(context: Any) -> list[TieredGraph]:
    """The graphs that can still be called, of one call of ``torch.compile``."""
    with _lock:
        return [graph for graph in _graphs.get(context, ()) if graph.is_alive]


def every() -> list[TieredGraph]:
    """All that can still be called."""
    with _lock:
        all_graphs = [*(graph for graphs in _graphs.values() for graph in graphs), *_others]
    return [graph for graph in all_graphs if graph.is_alive]


def after_fork() -> None:
    """In a child process: whoever held the lock is not here."""
    global _lock
    _lock = threading.Lock()
    for graph in every():
        graph.after_fork()


def _warn_once(problem: Problem) -> None:
    # A compiler that is missing fails each graph in the same way.
    cause = problem.why
    with _lock:
        if cause in _warned:
            return
        _warned.add(cause)
    text = " ".join(part for part in (problem.what, problem.why, problem.remedy) if part)
    try:
        warnings.warn(text, TierWarning, stacklevel=2)
    except TierWarning:
        # Warnings are errors here, and this may be the thread of a call, or that of the builder.
        _log.warning(text)


def _first_line(error: Exception) -> str:
    first = message_of(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first}"
