"""CUDA graphs as the last tier of a graph: recorded once the C++ wrapper serves it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..analysis.figures import wording
from ..analysis.settings.cuda_graph_reasons import read_skip
from ..report.problem import Problem, message_of
from ..report.tiers import SwapGain, Tier
from ..torch_api.inductor.graph_recording import Loaded, pool_bytes
from .alternating_calls import AlternatingCalls
from .background_check import BackgroundCheck
from .check import Check, deviation_text, first_line
from .recording import LIMIT, Recorded, Recording, Replays
from .tier_warning import warn_once
from .wrappers import Wrappers, gpus, wrappers_of

if TYPE_CHECKING:
    from .tiered_graph import TieredGraph


class CudaGraphsTier:
    """The CUDA graphs tier of a compiled graph.

    Parameters
    ----------
    graph
        The compiled graph; its C++ wrapper is what is recorded.
    records
        Whether the user requested this tier. If not, `tier` is None.
    """

    def __init__(self, graph: TieredGraph, *, records: bool) -> None:
        self._graph = graph
        self.tier = Tier(name="cuda_graphs", state="waits") if records else None

    def note_serving(self, wrappers: Wrappers, current: Any, seconds: float) -> None:
        """Update the state after another callable took over the graph.

        Parameters
        ----------
        current
            The callable that serves the graph.
        seconds
            Time since the first tier was ready.
        """
        if self.tier is None or wrappers.graphs is None:
            return
        serves = current is wrappers.graphs
        if isinstance(wrappers.graphs, Recording):
            self.tier.state = "records" if serves else "waits"
            return
        self.tier.state = "serves" if serves else "checked"
        if serves and self.tier.swapped_s is None:
            self.tier.swapped_s = seconds

    @property
    def is_possible(self) -> bool:
        """Whether CUDA graphs serve the graph now or may serve it later."""
        return self.tier is not None and self.tier.state not in ("failed", "unwanted")

    def refuse(self, why: str) -> None:
        """Record no CUDA graphs for this graph and its partner; this is not an error."""
        with self._graph.partners.lock:
            if self.tier is None or self.tier.state not in ("waits", "records"):
                return
            self.tier.state, self.tier.why = "unwanted", why
            self._drop()
        self._graph.notify()

    def fail(self, why: str, *, detail: str = "") -> None:
        """Drop the tier after an error, and warn once."""
        if self.tier is None:
            return
        name = self._graph.name
        what = f"The CUDA graphs of graph {name} failed; its C++ wrapper keeps serving."
        problem = Problem(
            severity="warning", what=what, why=why, remedy=_WITHOUT_GRAPHS, detail=detail
        )
        with self._graph.partners.lock:
            self.tier.state, self.tier.problem = "failed", problem
            self._drop()
        self._graph.notify()
        warn_once(problem)

    def _drop(self) -> None:
        wrappers = wrappers_of(self._graph.compiled)
        if wrappers is not None:
            self._graph.end_step()
            wrappers.recordable = wrappers.graphs = None
            self._graph.install()
        for graph in self._graph.partners.graphs:
            if graph is not self._graph:
                graph.cuda_graphs.drop_with_partner(f"The {self._graph.report_now.kind} has none.")

    def join_partners(self) -> None:
        """Drop the tier if an earlier partner cannot have it."""
        for other in self._graph.partners.graphs:
            if other is not self._graph and not other.cuda_graphs.is_possible:
                self.drop_with_partner(f"The {other.report_now.kind} has none.")

    def drop_with_partner(self, why: str) -> None:
        """Drop the tier because the partner cannot have it."""
        if self.tier is None or self.tier.state in ("failed", "unwanted"):
            return
        self.tier.state, self.tier.why = "unwanted", why
        self._drop()
        self._graph.notify()

    def take_recordable(self, wrappers: Wrappers, loaded: Loaded) -> None:
        """Keeps the loaded recordings, or says why CUDA graphs are not recorded."""
        if not self.is_possible:
            return
        if loaded.recordable is None:
            self.refuse(why_not_recorded(loaded.reason))
            return
        wrappers.recordable = loaded.recordable

    def record(self) -> None:
        """Makes the next calls record, once only the C++ wrapper serves it and its partner."""
        with self._graph.partners.lock:
            if self.tier is None or not self._graph.partners.are_complete:
                return
            graphs = self._graph.partners.graphs
            if not all(graph.cuda_graphs.may_record for graph in graphs):
                return
            for graph in graphs:
                graph.cuda_graphs.begin_recording()
        for graph in graphs:
            graph.notify()

    @property
    def may_record(self) -> bool:
        """Whether only the C++ wrapper serves it, and can be recorded."""
        wrappers = wrappers_of(self._graph.compiled)
        return (
            wrappers is not None
            and wrappers.recordable is not None
            and wrappers.graphs is None
            and not isinstance(wrappers.next, (BackgroundCheck, Check, AlternatingCalls))
        )

    def begin_recording(self) -> None:
        """Makes the next calls record; the lock is held."""
        compiled = self._graph.compiled
        wrappers = wrappers_of(compiled)
        wrappers.graphs = Recording(
            wrappers.recordable,
            home=self._graph.partners.home,
            leads=self._graph.report_now.kind != "backward",
            changes=self._graph.changes(),
            devices=gpus(compiled),
            undefined=self._graph.traits.undefined,
            settle=self._settle_recording,
        )
        self._graph.install()

    def _settle_recording(self, recorded: Recorded) -> None:
        compiled = self._graph.compiled
        wrappers = wrappers_of(compiled)
        third, wrong = self.tier, recorded.wrong
        if third is None or wrappers is None or not isinstance(wrappers.graphs, Recording):
            return
        third.seconds = recorded.seconds
        if wrong is not None:
            self.fail(
                first_line(wrong)
                if isinstance(wrong, Exception)
                else deviation_text(wrong, "C++ wrapper"),
                detail=message_of(wrong) if isinstance(wrong, Exception) else "",
            )
            return
        if not recorded.is_replayed:
            self.refuse(
                f"None of {LIMIT} calls was a replay: sizes or addresses of the inputs change."
            )
            return
        third.pool_bytes = pool_bytes(wrappers.recordable.device)
        with self._graph.partners.lock:
            wrappers.graphs = Replays(
                wrappers.recordable, home=self._graph.partners.home, fail=self._fail_replay
            )
            self._graph.install()
            self._begin_all_turns()
        self._graph.notify()

    def _fail_replay(self, error: Exception) -> None:
        self.fail(first_line(error), detail=message_of(error))

    def _begin_all_turns(self) -> None:
        """Once all partners are replayed, makes the next calls measure the gain."""
        graphs = self._graph.partners.graphs
        if not all(graph.cuda_graphs.is_replayed for graph in graphs):
            return
        known = [graph.files.gain("cuda_graphs") for graph in graphs]
        # A forward comes first: it decides for its backward.
        leader: AlternatingCalls | None = None
        for graph, gain in zip(graphs, known, strict=True):
            if None in known:
                leader = graph.cuda_graphs.begin_turns(leader)
            else:
                graph.cuda_graphs.take_gain(gain)

    @property
    def is_replayed(self) -> bool:
        """Whether only CUDA graphs serve it."""
        wrappers = wrappers_of(self._graph.compiled)
        return wrappers is not None and isinstance(wrappers.graphs, Replays)

    def begin_turns(self, leader: AlternatingCalls | None) -> AlternatingCalls:
        """Alternates calls between wrapper and CUDA graphs; returns the turns. The lock is held."""
        compiled = self._graph.compiled
        wrappers = wrappers_of(compiled)
        turns = AlternatingCalls(
            wrappers.recordable.plain,
            wrappers.graphs,
            is_host_time=True,
            settle=self._end_turns,
            leader=leader,
        )
        wrappers.graphs = turns
        self._graph.install()
        return leader or turns

    def take_gain(self, gain: SwapGain | None) -> None:
        """Stores the gain of CUDA graphs."""
        if self.tier is not None:
            self.tier.gain = gain

    def _end_turns(self, gain: SwapGain | None) -> None:
        compiled = self._graph.compiled
        wrappers = wrappers_of(compiled)
        if (
            compiled is None
            or wrappers is None
            or not isinstance(wrappers.graphs, AlternatingCalls)
        ):
            return
        self.take_gain(gain)
        with self._graph.partners.lock:
            wrappers.graphs = wrappers.graphs.second
            self._graph.install()
        self._graph.notify()
        if gain is not None:
            self._graph.store(lambda: self._graph.files.note_gain("cuda_graphs", gain))


def why_not_recorded(reason: str) -> str:
    """Why CUDA graphs are not recorded, from torch's reason."""
    skip = read_skip(reason)
    where = f" ({wording.place(skip.where)})" if skip.where is not None else ""
    return f"torch does not record it: {skip.reason}{where}. {skip.meaning}".strip()


_WITHOUT_GRAPHS = 'tiers=("python", "cpp") leaves them out.'
