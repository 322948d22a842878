"""A graph that the backend compiled, with its tiers."""

from __future__ import annotations

import itertools
import logging
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import msgspec

from ..analysis.figures import wording
from ..analysis.figures.tier_words import add_tier_words
from ..analysis.settings.cuda_graph_reasons import read_skip
from ..report import OutputError
from ..report.problem import Problem, message_of
from ..report.tiers import GraphTiers, SwapGain, Tier, TierName
from ..torch_api.inductor.both_wrappers import Noticed, UnlikeError, WouldBuildError, load
from ..torch_api.inductor.graph_recording import Home, Loaded, end_step, pool_bytes
from ..torch_api.inductor.wrapper_launches import count_launches
from . import observers
from .cached_files import CachedFiles
from .check import Check
from .recording import LIMIT, Recorded, Recording, Replays
from .stage import Stage
from .tier_warning import warn_once
from .turns import Turns
from .wrappers import Wrappers, wrappers_of

_log = logging.getLogger(__name__)


class Partners:
    """The graphs of one call of the backend: an inference graph, or a forward and its backward.

    CUDA graphs serve both or neither: a backward can only be replayed if what was saved for it lies
    where the forward's replay puts it.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.graphs: list[TieredGraph] = []
        self.home = Home()

    @property
    def are_pinned(self) -> bool:
        """Whether any is pinned."""
        return any(graph.report_now.pinned for graph in self.graphs)

    @property
    def are_complete(self) -> bool:
        """Whether nothing is missing that has to be recorded together."""
        kinds = {graph.report_now.kind for graph in self.graphs}
        return kinds in ({"inference"}, {"forward", "backward"})


class TieredGraph:
    """A graph, what serves it, and what is to serve it.

    Everything that happens to it is an assignment: calls of the graph take no lock, but for the
    one that ends the check.

    Parameters
    ----------
    noticed
        As torch has just compiled or loaded it.
    partners
        The graphs of the same call of the backend, to which it is added.
    records
        Whether CUDA graphs are its third tier.
    """

    def __init__(self, noticed: Noticed, partners: Partners, *, records: bool = False) -> None:
        self.files = CachedFiles(noticed.key)
        self._compiled = weakref.ref(noticed.compiled)
        self._partners = partners
        # Where torch had the graph in its caches, only an earlier process has seen it.
        is_seen = noticed.packed is not None
        self._undefined = noticed.undefined if is_seen else self.files.undefined()
        self._ready = time.monotonic()
        self._first = Tier(name="python", state="serves", seconds=noticed.seconds)
        self._second = Tier(name="cpp", state="waits")
        self._third = Tier(name="cuda_graphs", state="waits") if records else None
        self.report_now = GraphTiers(
            compilation=noticed.compile_id,
            kind=noticed.kind,
            serving="python",
            tiers=[self._first, self._second, *([self._third] if self._third else ())],
            number=next(_numbers),
        )
        partners.graphs.append(self)

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
        return self.report_now.number

    @property
    def _lock(self) -> threading.RLock:
        return self._partners.lock

    def report(self) -> GraphTiers:
        """How it stands now."""
        now: GraphTiers = msgspec.convert(msgspec.to_builtins(self.report_now), GraphTiers)
        add_tier_words(now)
        return now

    def pin(self, tier: TierName | None) -> None:
        """Has no tier after this one serve; or, if None, the latest that there is."""
        with self._lock:
            if tier == self.report_now.pinned_to or not self.is_alive:
                return
            self.report_now.pinned, self.report_now.pinned_to = tier is not None, tier
            for graph in self._partners.graphs:
                graph.install()
        self.tell()
        for graph in self._partners.graphs:
            graph.end_step()

    def end_step(self) -> None:
        """Has torch wait for no recorded backward that will not come."""
        wrappers = wrappers_of(self._compiled())
        if wrappers is not None and wrappers.graphs is not None:
            end_step(wrappers.recordable.device)

    def install(self) -> None:
        """Has the tier serve that is to serve."""
        with self._lock:
            compiled = self._compiled()
            wrappers = wrappers_of(compiled)
            if wrappers is not None and wrappers.next is not None:
                self._install(compiled, wrappers)

    def _install(self, compiled: Any, wrappers: Wrappers) -> None:
        is_checking = isinstance(wrappers.next, Check)
        is_pinned_to_first = self.report_now.pinned_to == "python"
        serving: TierName
        if is_pinned_to_first:
            serving, current = "python", wrappers.first
        elif is_checking:
            serving, current = "python", wrappers.next
        elif wrappers.graphs is None or self._partners.are_pinned:
            serving, current = "cpp", wrappers.next
        else:
            serving = "cpp" if isinstance(wrappers.graphs, Recording) else "cuda_graphs"
            current = wrappers.graphs
        compiled.current_callable = current
        self.report_now.serving = serving
        self._first.state = "serves" if serving == "python" else "replaced"
        if is_checking:
            self._second.state = "checks"
        elif is_pinned_to_first:
            self._second.state = "checked"
        else:
            self._second.state = "serves" if serving == "cpp" else "replaced"
            if self.report_now.swapped_s is None:
                self.report_now.swapped_s = time.monotonic() - self._ready
        if self._third is not None and wrappers.graphs is not None:
            if isinstance(wrappers.graphs, Recording):
                self._third.state = "records" if current is wrappers.graphs else "waits"
            else:
                self._third.state = "serves" if serving == "cuda_graphs" else "checked"
                if serving == "cuda_graphs" and self._third.swapped_s is None:
                    self._third.swapped_s = time.monotonic() - self._ready

    def tell(self) -> None:
        """Passes on that it has changed."""
        if observers.is_observed():
            observers.notify(self.report())

    def refuse(self, why: str) -> None:
        """There is no second tier, as is right."""
        self._second.state, self._second.why = "unwanted", why
        self.files.settle()
        self.refuse_graphs(_NO_WRAPPER)
        self.tell()

    def fail(self, what: str, why: str, *, remedy: str, detail: str = "") -> None:
        """There is no second tier, though there should be one: says so once."""
        problem = Problem(severity="warning", what=what, why=why, remedy=remedy, detail=detail)
        self._second.state, self._second.problem = "failed", problem
        self.files.settle()
        self.refuse_graphs(_NO_WRAPPER)
        self.tell()
        warn_once(problem)

    def begin(self) -> None:
        """It is being built."""
        self._second.state = "builds"
        self.tell()

    def serve_cached(self) -> bool:
        """Has what an earlier process built and checked serve at once; whether that worked."""
        start = time.perf_counter()
        compiled = self._compiled()
        try:
            loaded = self._load(compiled)
            wrappers = wrappers_of(compiled, new=True)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, it is built anew
            _log.info("the cached result of %s is built again: %s", self._name, error)
            self.files.forget_result()
            return False
        self._second.load_s = time.perf_counter() - start
        self._second.seconds = self.files.seconds()
        self._second.cached = True
        self._second.gain = self.files.gain("cpp")
        self._serve(compiled, wrappers, loaded.wrapper)
        self.tell()
        self._take_recordable(wrappers, loaded)
        self._record()
        return True

    def take(self, seconds: float | None) -> None:
        """Loads what was built, and has the next call compare it with the first tier."""
        compiled = self._compiled()
        self._second.seconds = seconds
        if compiled is None:
            return
        start = time.perf_counter()
        try:
            loaded = self._load(compiled)
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
        wrappers = wrappers_of(compiled, new=True)
        wrappers.next = Check(
            wrappers.first,
            loaded.wrapper,
            changes=self._changes(compiled),
            devices=_gpus(compiled),
            undefined=self._undefined,
            kernels=count_launches(compiled.source_code),
            settle=self._settle,
        )
        with self._lock:
            self._install(compiled, wrappers)
        self._take_recordable(wrappers, loaded)
        self.tell()

    def _load(self, compiled: Any) -> Loaded:
        records = self.report_now.compilation if self.wants_graphs else ""
        return load(self.files.result.read_bytes(), compiled, records=records)

    def _changes(self, compiled: Any) -> frozenset[int] | None:
        is_backward = self.report_now.kind == "backward"
        return None if is_backward else frozenset(compiled.mutated_input_idxs)

    def after_fork(self) -> None:
        """In a child of the process that builds: the tier that it has stays."""
        self._partners.lock = threading.RLock()
        compiled = self._compiled()
        wrappers = wrappers_of(compiled)
        for stage in () if wrappers is None else (wrappers.next, wrappers.graphs):
            if isinstance(stage, Stage):
                stage.after_fork()
        if not self.is_settled:
            self.refuse("It was being built in the process that this one was forked from.")
        # No fork can use the GPU.
        self.refuse_graphs("It was not recorded in the process that this one was forked from.")

    def _settle(self, wrong: list[OutputError] | Exception | None) -> None:
        compiled = self._compiled()
        wrappers = wrappers_of(compiled)
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
            why = _off(wrong, "Python wrapper")
        self.fail(self._what("gives another result"), why, remedy=_REPORT)

    def _end_turns(self, gain: SwapGain | None) -> None:
        compiled = self._compiled()
        wrappers = wrappers_of(compiled)
        if compiled is None or wrappers is None or not isinstance(wrappers.next, Turns):
            return
        self._second.gain = gain
        self._serve(compiled, wrappers, wrappers.next.second)
        self.tell()
        if gain is not None:
            self._keep(lambda: self.files.note_gain("cpp", gain))
        self._record()

    def _keep(self, note: Callable[[], None]) -> None:
        if not self.files.is_lasting:
            return
        try:
            note()
        except OSError as error:
            _log.info("what a swap of %s gained is not kept: %s", self._name, error)

    def _serve(self, compiled: Any, wrappers: Wrappers, second: Callable[[list[Any]], Any]) -> None:
        with self._lock:
            wrappers.next = second
            self._install(compiled, wrappers)

    @property
    def wants_graphs(self) -> bool:
        """Whether CUDA graphs serve it, or may come to."""
        return self._third is not None and self._third.state not in ("failed", "unwanted")

    def refuse_graphs(self, why: str) -> None:
        """No CUDA graphs are recorded of it, as is right, nor of its partner."""
        with self._lock:
            if self._third is None or self._third.state not in ("waits", "records"):
                return
            self._third.state, self._third.why = "unwanted", why
            self._drop_graphs()
        self.tell()

    def fail_graphs(self, why: str, *, detail: str = "") -> None:
        """CUDA graphs failed, though torch would record them: says so once."""
        if self._third is None:
            return
        what = f"The CUDA graphs of graph {self._name} failed; its C++ wrapper goes on serving."
        problem = Problem(
            severity="warning", what=what, why=why, remedy=_WITHOUT_GRAPHS, detail=detail
        )
        with self._lock:
            self._third.state, self._third.problem = "failed", problem
            self._drop_graphs()
        self.tell()
        warn_once(problem)

    def _drop_graphs(self) -> None:
        wrappers = wrappers_of(self._compiled())
        if wrappers is not None:
            self.end_step()
            wrappers.recordable = wrappers.graphs = None
            self.install()
        for graph in self._partners.graphs:
            if graph is not self:
                graph.drop_with_partner(f"The {self.report_now.kind} has none.")

    def join_partners(self) -> None:
        """Takes over from a partner that came before that CUDA graphs are not recorded."""
        for other in self._partners.graphs:
            if other is not self and not other.wants_graphs:
                self.drop_with_partner(f"The {other.report_now.kind} has none.")

    def drop_with_partner(self, why: str) -> None:
        """Has the wrapper serve again, since CUDA graphs cannot serve the partner."""
        if self._third is None or self._third.state in ("failed", "unwanted"):
            return
        self._third.state, self._third.why = "unwanted", why
        self._drop_graphs()
        self.tell()

    def _take_recordable(self, wrappers: Wrappers, loaded: Loaded) -> None:
        """Keeps what was loaded with the wrapper, or says why CUDA graphs are not recorded."""
        if not self.wants_graphs:
            return
        if loaded.recordable is None:
            self.refuse_graphs(why_not_recorded(loaded.reason))
            return
        wrappers.recordable = loaded.recordable

    def _record(self) -> None:
        """Has the next calls record, once the C++ wrapper serves it and its partner alone."""
        with self._lock:
            if self._third is None or not self._partners.are_complete:
                return
            graphs = self._partners.graphs
            if not all(graph.may_record for graph in graphs):
                return
            for graph in graphs:
                graph.begin_recording()
        for graph in graphs:
            graph.tell()

    @property
    def may_record(self) -> bool:
        """Whether the C++ wrapper serves it alone, and can be recorded."""
        wrappers = wrappers_of(self._compiled())
        return (
            wrappers is not None
            and wrappers.recordable is not None
            and wrappers.graphs is None
            and not isinstance(wrappers.next, (Check, Turns))
        )

    def begin_recording(self) -> None:
        """Has the next calls record; the lock is held."""
        compiled = self._compiled()
        wrappers = wrappers_of(compiled)
        wrappers.graphs = Recording(
            wrappers.recordable,
            home=self._partners.home,
            leads=self.report_now.kind != "backward",
            changes=self._changes(compiled),
            devices=_gpus(compiled),
            undefined=self._undefined,
            settle=self._settle_recording,
        )
        self._install(compiled, wrappers)

    def _settle_recording(self, recorded: Recorded) -> None:
        compiled = self._compiled()
        wrappers = wrappers_of(compiled)
        third, wrong = self._third, recorded.wrong
        if third is None or wrappers is None or not isinstance(wrappers.graphs, Recording):
            return
        third.seconds = recorded.seconds
        if wrong is not None:
            self.fail_graphs(
                _first_line(wrong) if isinstance(wrong, Exception) else _off(wrong, "C++ wrapper"),
                detail=message_of(wrong) if isinstance(wrong, Exception) else "",
            )
            return
        if not recorded.is_replayed:
            self.refuse_graphs(
                f"None of {LIMIT} calls was a replay: sizes or addresses of the inputs change."
            )
            return
        third.pool_bytes = pool_bytes(wrappers.recordable.device)
        with self._lock:
            wrappers.graphs = Replays(
                wrappers.recordable, home=self._partners.home, fail=self._fail_replay
            )
            self._install(compiled, wrappers)
            self._begin_graph_turns()
        self.tell()

    def _fail_replay(self, error: Exception) -> None:
        self.fail_graphs(_first_line(error), detail=message_of(error))

    def _begin_graph_turns(self) -> None:
        """Once all partners are replayed, has the next calls tell what that gained."""
        graphs = self._partners.graphs
        if not all(graph.is_replayed for graph in graphs):
            return
        known = [graph.files.gain("cuda_graphs") for graph in graphs]
        # A forward comes first: it decides for its backward.
        leader: Turns | None = None
        for graph, gain in zip(graphs, known, strict=True):
            if None in known:
                leader = graph.begin_graph_turns(leader)
            else:
                graph.take_graphs_gain(gain)

    @property
    def is_replayed(self) -> bool:
        """Whether CUDA graphs serve it alone."""
        wrappers = wrappers_of(self._compiled())
        return wrappers is not None and isinstance(wrappers.graphs, Replays)

    def begin_graph_turns(self, leader: Turns | None) -> Turns:
        """Has wrapper and CUDA graphs serve in turns; the lock is held. Gives who leads."""
        compiled = self._compiled()
        wrappers = wrappers_of(compiled)
        turns = Turns(
            wrappers.recordable.plain,
            wrappers.graphs,
            is_host_time=True,
            settle=self._end_graph_turns,
            leader=leader,
        )
        wrappers.graphs = turns
        self._install(compiled, wrappers)
        return leader or turns

    def take_graphs_gain(self, gain: SwapGain | None) -> None:
        """Shows what CUDA graphs gained."""
        if self._third is not None:
            self._third.gain = gain

    def _end_graph_turns(self, gain: SwapGain | None) -> None:
        compiled = self._compiled()
        wrappers = wrappers_of(compiled)
        if compiled is None or wrappers is None or not isinstance(wrappers.graphs, Turns):
            return
        self.take_graphs_gain(gain)
        with self._lock:
            wrappers.graphs = wrappers.graphs.second
            self._install(compiled, wrappers)
        self.tell()
        if gain is not None:
            self._keep(lambda: self.files.note_gain("cuda_graphs", gain))

    @property
    def _name(self) -> str:
        return f"{self.report_now.compilation} {self.report_now.kind}"

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


def why_not_recorded(reason: str) -> str:
    """Why CUDA graphs are not recorded, of torch's reason."""
    skip = read_skip(reason)
    where = f" ({wording.place(skip.where)})" if skip.where is not None else ""
    return f"torch does not record it: {skip.reason}{where}. {skip.meaning}".strip()


def _off(wrong: list[OutputError], other: str) -> str:
    worst = max(wrong, key=lambda error: error.max_abs)
    return (
        f"{worst.path} is off by {worst.max_abs:.3g} (relative {worst.max_rel:.3g}) from "
        f"the {other}'s; allowed are {worst.tolerance_abs:.3g} + "
        f"{worst.tolerance_rel:.3g} times the value."
    )


_NO_WRAPPER = "There is no C++ wrapper to record."
_WITHOUT_GRAPHS = 'tiers=("python", "cpp") does without them.'
_REPORT = "compilescope.inspect compares both wrappers of the call; then report it to PyTorch."

_numbers = itertools.count(1)


def _gpus(compiled: Any) -> list[int]:
    return sorted(compiled.device_idxs) if "cuda" in compiled.device_types else []


def _first_line(error: Exception) -> str:
    first = message_of(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first}"
