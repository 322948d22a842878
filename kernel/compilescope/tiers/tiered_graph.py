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

from ..analysis.figures.tier_words import add_tier_words
from ..report import OutputError
from ..report.problem import Problem
from ..report.tiers import GraphTiers, SwapGain, Tier, TierName
from ..torch_api.dynamo.wrapper_type import Inner
from ..torch_api.inductor.background import background_runs
from ..torch_api.inductor.both_wrappers.compiling import InterceptedGraph
from ..torch_api.inductor.both_wrappers.library import WouldBuildError
from ..torch_api.inductor.both_wrappers.loading import WrappersDifferError, load
from ..torch_api.inductor.graph_recording import Loaded, end_step
from ..torch_api.inductor.wrappers.wrapper_launches import count_launches
from . import background, observers
from .alternating_calls import AlternatingCalls
from .background_check import BackgroundCheck, prepare_libraries
from .cached_files import KEEP_FOLDER, CachedFiles, Rejection, decided_by
from .check import Check, UncheckedError, deviation_text, first_line
from .cuda_graphs_tier import CudaGraphsTier
from .partners import Partners
from .recording import Recording
from .stage import ComparingStage, Stage
from .tier_warning import warn_once
from .wrappers import Wrappers, gpus, wrappers_of

_log = logging.getLogger(__name__)


class TieredGraph:
    """A graph, its current tier, and its next tier.

    Each change is a single assignment: calls of the graph take no lock, except the one that ends
    the check.

    Parameters
    ----------
    intercepted
        As torch has just compiled or loaded it.
    partners
        The graphs of the same call of the backend, to which it is added.
    records
        Whether CUDA graphs are its third tier.
    """

    def __init__(
        self, intercepted: InterceptedGraph, partners: Partners, *, records: bool = False
    ) -> None:
        self.files = CachedFiles(intercepted.key)
        self.partners = partners
        self._compiled = weakref.ref(intercepted.compiled)
        # If the graph came from torch's caches, only an earlier process has seen it.
        self.traits = intercepted.traits or self.files.traits()
        self._ready = time.monotonic()
        self._first = Tier(name="python", state="serves", seconds=intercepted.seconds)
        self._second = Tier(name="cpp", state="waits")
        self.cuda_graphs = CudaGraphsTier(self, records=records)
        self.report_now = GraphTiers(
            compilation=intercepted.compile_id,
            kind=intercepted.kind,
            serving="python",
            tiers=[
                tier
                for tier in (self._first, self._second, self.cuda_graphs.tier)
                if tier is not None
            ],
            number=next(_numbers),
        )
        self._seemed_slower = False
        """Whether its C++ wrapper was measured to be slower once."""
        self._launches = 1
        """How many kernels its Python wrapper launches."""
        partners.graphs.append(self)

    @property
    def compiled(self) -> Any:
        """Torch's object; None if it can no longer be called."""
        return self._compiled()

    @property
    def is_alive(self) -> bool:
        """Whether it can still be called."""
        return self.compiled is not None

    @property
    def is_settled(self) -> bool:
        """Whether its state is final, or changes only at a call."""
        return self._second.state not in ("waits", "builds")

    @property
    def number(self) -> int:
        """Identifies the graph within this process."""
        return self.report_now.number

    @property
    def _lock(self) -> threading.RLock:
        return self.partners.lock

    @property
    def compilation(self) -> str:
        """Torch's id of the compilation."""
        return self.report_now.compilation

    def report(self, *, is_shared: bool = False) -> GraphTiers:
        """Its current state; ``is_shared`` is `GraphTiers.shared`."""
        now: GraphTiers = msgspec.convert(msgspec.to_builtins(self.report_now), GraphTiers)
        now.shared = is_shared
        add_tier_words(now)
        return now

    def pin(self, tier: TierName | None) -> None:
        """Uses no tier after this one; if None, the latest available tier."""
        with self._lock:
            if tier == self.report_now.pinned_to or not self.is_alive:
                return
            self.report_now.pinned, self.report_now.pinned_to = tier is not None, tier
            for graph in self.partners.graphs:
                graph.install()
        self.notify()
        for graph in self.partners.graphs:
            graph.end_step()

    def end_step(self) -> None:
        """Stops torch from waiting for a recorded backward that will not run."""
        wrappers = wrappers_of(self.compiled)
        if wrappers is not None and wrappers.graphs is not None:
            end_step(wrappers.recordable.device)

    def install(self) -> None:
        """Switches to the tier that should serve."""
        with self._lock:
            compiled = self.compiled
            wrappers = wrappers_of(compiled)
            if wrappers is not None and wrappers.next is not None:
                self._install(compiled, wrappers)

    def _install(self, compiled: Any, wrappers: Wrappers) -> None:
        is_checking = isinstance(wrappers.next, (BackgroundCheck, Check))
        is_pinned_to_first = self.report_now.pinned_to == "python"
        serving: TierName
        if is_pinned_to_first:
            serving, current = "python", wrappers.first
        elif is_checking:
            serving, current = "python", wrappers.next
        elif wrappers.graphs is None or self.partners.are_pinned:
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
        self.cuda_graphs.note_serving(wrappers, current, time.monotonic() - self._ready)

    def notify(self) -> None:
        """Notifies observers of a change."""
        if observers.is_observed():
            observers.notify(self.report())

    def decline(self, why: str) -> None:
        """There is no second tier, as intended."""
        self._second.state, self._second.why = "unwanted", why
        self.files.settle()
        self.cuda_graphs.refuse(_NO_WRAPPER)
        self.notify()

    def fail(self, what: str, why: str, *, remedy: str, detail: str = "") -> None:
        """There is no second tier, though there should be one: warns once."""
        problem = Problem(severity="warning", what=what, why=why, remedy=remedy, detail=detail)
        self._second.state, self._second.problem = "failed", problem
        self.files.settle()
        self.cuda_graphs.refuse(_NO_WRAPPER)
        self.notify()
        warn_once(problem)

    def prepare(self) -> None:
        """Does work at compile time that would otherwise delay calls during a check."""
        compiled = self.compiled
        self._launches = count_launches(compiled.source_code)
        try:
            background_runs.prepare(gpus(compiled))
        except Exception as error:  # noqa: BLE001 - memory: the check does it again
            _log.info("a check could not be prepared: %s", error)
        if self._is_checked_in_background(compiled):
            prepare_libraries(compiled.source_code, gpus(compiled))

    def mark_building(self) -> None:
        """It is being built."""
        self._second.state = "builds"
        self.notify()

    def serve_cached(self) -> bool:
        """Uses the result of an earlier process that checked it; returns whether that worked."""
        start = time.perf_counter()
        compiled = self.compiled
        try:
            loaded = self._load(compiled)
            wrappers = wrappers_of(compiled, new=True)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, it is built again
            _log.info("the cached result of %s is built again: %s", self.name, error)
            self.files.forget_result()
            return False
        self._second.load_s = time.perf_counter() - start
        self._second.seconds = self.files.seconds()
        self._second.cached = True
        self._second.gain = self.files.gain("cpp")
        self._serve(compiled, wrappers, loaded.wrapper)
        self.notify()
        self.cuda_graphs.take_recordable(wrappers, loaded)
        self.cuda_graphs.record()
        return True

    def load(self, seconds: float | None) -> None:
        """Loads the built result, and compares it with the first tier on the next inputs."""
        compiled = self.compiled
        self._second.seconds = seconds
        if compiled is None:
            return
        start = time.perf_counter()
        try:
            with background.giving_way():
                loaded = self._load(compiled)
        except WrappersDifferError as error:
            self.files.forget_result()
            self.reject("cannot be used", f"It was built, but {error}.", remedy=_REPORT)
            return
        except WouldBuildError as error:
            self.files.forget_result()
            why = f"It was built, but {error}."
            self.fail(self._sentence("cannot be used"), why, remedy=KEEP_FOLDER)
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, the first tier serves
            self.files.forget_result()
            self.fail(self._sentence("could not be loaded"), first_line(error), remedy=_REPORT)
            return
        self._second.load_s = time.perf_counter() - start
        background.start()
        wrappers = wrappers_of(compiled, new=True)
        if self._is_checked_in_background(compiled):
            stage: ComparingStage = self._background_check(compiled, wrappers.first, loaded.wrapper)
        else:
            stage = self._check(compiled, wrappers.first, loaded.wrapper)
        with self._lock:
            wrappers.next = stage
            self._install(compiled, wrappers)
        self.cuda_graphs.take_recordable(wrappers, loaded)
        self.notify()

    def _is_checked_in_background(self, compiled: Any) -> bool:
        """Whether both wrappers can be compared in the background.

        Calls that record CUDA graphs compare, too.
        """
        devices = gpus(compiled)
        return (
            self.traits.is_repeatable
            and self.cuda_graphs.tier is None
            and compiled.device_types <= {"cpu", "cuda"}
            and len(devices) <= 1
            and background_runs.is_possible(devices[0] if devices else None)
        )

    def _background_check(self, compiled: Any, first: Inner, second: Inner) -> BackgroundCheck:
        device = next(iter(gpus(compiled)), None)
        return BackgroundCheck(
            first,
            second,
            static=(compiled.fx_kwargs or {}).get("static_input_idxs") or (),
            # A backward takes over the memory of what a forward saved, and then parameters change.
            copies_all=self.report_now.kind != "inference",
            changes=self.changes(),
            device=device,
            max_copied_bytes=background_runs.copied_at_most(device),
            undefined=self.traits.undefined,
            kernels=self._launches,
            planned=self.traits.planned,
            settle=lambda: self._settle(None),
            give_up=self._check_in_a_call,
        )

    def _check(self, compiled: Any, first: Inner, second: Inner) -> Check:
        return Check(
            first,
            second,
            changes=self.changes(),
            devices=gpus(compiled),
            undefined=self.traits.undefined,
            kernels=self._launches,
            settle=self._settle,
        )

    def _check_in_a_call(self) -> None:
        """Makes the next call compare: the background check could not decide."""
        compiled = self.compiled
        wrappers = wrappers_of(compiled)
        if wrappers is None or not isinstance(wrappers.next, BackgroundCheck):
            return
        with self._lock:
            wrappers.next = self._check(compiled, wrappers.first, wrappers.next.second)
            self._install(compiled, wrappers)

    def _load(self, compiled: Any) -> Loaded:
        records = self.report_now.compilation if self.cuda_graphs.is_possible else ""
        built = self.files.result.read_bytes()
        return load(built, compiled, self.files.caches, records=records)

    def changes(self) -> frozenset[int] | None:
        """The inputs that it changes in place; None for a backward."""
        is_backward = self.report_now.kind == "backward"
        return None if is_backward else frozenset(self.compiled.mutated_input_idxs)

    def after_fork(self) -> None:
        """In a forked child: keeps the current tier."""
        self.partners.lock = threading.RLock()
        compiled = self.compiled
        wrappers = wrappers_of(compiled)
        for stage in () if wrappers is None else (wrappers.next, wrappers.graphs):
            if isinstance(stage, Stage):
                stage.after_fork()
        if not self.is_settled:
            # Its files stay: the other process still builds from them.
            self._second.state = "unwanted"
            self._second.why = "It was being built in the process that this one was forked from."
            self.cuda_graphs.refuse(_NO_WRAPPER)
        # No fork can use the GPU.
        self.cuda_graphs.refuse("It was not recorded in the process that this one was forked from.")

    def _settle(self, wrong: list[OutputError] | Exception | None) -> None:
        compiled = self.compiled
        wrappers = wrappers_of(compiled)
        if wrappers is None or not isinstance(wrappers.next, (BackgroundCheck, Check)):
            return
        if wrong is None:
            self._begin_turns(compiled, wrappers)
            self.notify()
            try:
                self.files.note_checked()
            except OSError as error:  # the next process compares once more
                _log.info("the check of %s could not be noted: %s", self.name, error)
            self.files.settle()
            return
        self._serve_first(compiled, wrappers)
        if isinstance(wrong, UncheckedError):
            # Another process may compare.
            self.fail(self._sentence("could not be checked"), str(wrong), remedy=wrong.remedy)
            return
        self.files.forget_result()
        if isinstance(wrong, Exception):
            # Another process may have another GPU.
            why = f"It raised an exception where the Python wrapper gave a result: {wrong}."
            self.fail(self._sentence(_ANOTHER_RESULT), why, remedy=_REPORT)
        else:
            self.reject(_ANOTHER_RESULT, deviation_text(wrong, "Python wrapper"), remedy=_REPORT)

    def _begin_turns(self, compiled: Any, wrappers: Wrappers) -> None:
        """Alternates calls between both wrappers, for the gain."""
        turns = AlternatingCalls(
            wrappers.first,
            wrappers.next.second,
            is_host_time=bool(gpus(compiled)),
            settle=self._end_turns,
        )
        self._serve(compiled, wrappers, turns)

    def _end_turns(self, gain: SwapGain | None) -> None:
        compiled = self.compiled
        wrappers = wrappers_of(compiled)
        if compiled is None or wrappers is None or not isinstance(wrappers.next, AlternatingCalls):
            return
        self._second.gain = gain
        # CUDA graphs are recorded of the C++ wrapper, and replace it.
        is_slower = gain is not None and gain.is_slower and not self.cuda_graphs.is_possible
        slower: Rejection | None = None
        if not is_slower:
            self._serve(compiled, wrappers, wrappers.next.second)
            self.cuda_graphs.record()
        elif not self._seemed_slower:
            self._seemed_slower = True
            self._begin_turns(compiled, wrappers)  # only what recurs counts
        else:
            why = f"Its calls are slower: {gain}."
            slower = Rejection(what="", why=why, decided_by=decided_by(), is_slower=True)
            self._serve_first(compiled, wrappers)
            self._second.state, self._second.why = "unwanted", why

        def keep() -> None:
            self.notify()
            if gain is not None:
                self.store(lambda: self.files.note_gain("cpp", gain))
            if slower is not None:
                self.store(lambda: self.files.note_slower(slower))

        # Writing a file takes longer than many calls.
        if not background.run(keep):
            keep()

    def store(self, note: Callable[[], None]) -> None:
        """Records something for later processes, if they look for it."""
        if not self.files.is_lasting:
            return
        try:
            note()
        except OSError as error:
            # The next process determines it again.
            _log.info("a note on %s is not kept: %s", self.name, error)

    def _serve(self, compiled: Any, wrappers: Wrappers, second: Callable[[list[Any]], Any]) -> None:
        with self._lock:
            wrappers.next = second
            self._install(compiled, wrappers)

    def _serve_first(self, compiled: Any, wrappers: Wrappers) -> None:
        """Returns to the first tier permanently."""
        with self._lock:
            compiled.current_callable = wrappers.first
            wrappers.next = None
            self.report_now.serving = "python"
            self._first.state = "serves"

    @property
    def name(self) -> str:
        """Its name in messages: ``0/0 inference``."""
        return f"{self.report_now.compilation} {self.report_now.kind}"

    def _sentence(self, what: str) -> str:
        return f"The C++ wrapper of graph {self.name} {what}; its Python wrapper keeps serving."

    def fail_to_send(self, why: str) -> None:
        """Reports that no other process can build it."""
        remedy = 'Nothing is lost: backend="inductor" would serve it with the same wrapper.'
        self.fail(self._sentence("cannot be built in another process"), why, remedy=remedy)

    def fail_to_build(
        self, why: str, detail: str = "", *, is_transient: bool = True, remedy: str = ""
    ) -> None:
        """Reports that the build failed; if the error is not transient, also to later processes."""
        remedy = remedy or _DOCTOR
        if is_transient:
            self.fail(self._sentence(_NOT_BUILT), why, remedy=remedy, detail=detail)
        else:
            self.reject(_NOT_BUILT, why, remedy=remedy, detail=detail)

    def reject(self, what: str, why: str, *, remedy: str, detail: str = "") -> None:
        """Reports that there is no usable C++ wrapper, also to later processes."""
        rejection = Rejection(what=what, why=why, detail=detail, decided_by=decided_by())
        self.store(lambda: self.files.note_rejected(rejection))
        self.fail(self._sentence(what), why, remedy=remedy, detail=detail)

    def reject_as_before(self) -> bool:
        """Reports what was found before, if it still applies: by this process or another."""
        rejection = self.files.rejection()
        if rejection is None or rejection.decided_by != decided_by():
            return False
        why = f"Found when the graph was compiled before: {rejection.why}"
        if rejection.is_slower:
            if self.cuda_graphs.is_possible:
                return False
            self._second.cached, self._second.gain = True, self.files.gain("cpp")
            self.decline(f"{why} It is not used until you delete {self.files.rejected}.")
            return True
        self._second.cached = True
        self.fail(
            self._sentence(rejection.what),
            why,
            remedy=f"It is not built again until you delete {self.files.rejected}.",
            detail=rejection.detail,
        )
        return True


_ANOTHER_RESULT = "gives another result"
_NOT_BUILT = "could not be built"
WRITABLE = "Make torch's cache folder writable, or set TORCHINDUCTOR_CACHE_DIR to another one."
_DOCTOR = "compilescope.doctor() checks whether the C++ compiler works here."
_NO_WRAPPER = "There is no C++ wrapper to record."
_REPORT = "compilescope.inspect compares both wrappers of the call; then report it to PyTorch."

_numbers = itertools.count(1)
