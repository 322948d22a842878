"""The time of a compiled graph's kernels in one run, from a profile of whole calls."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from ..torch_api.kernels.profiler_events import GraphRun, ProfiledCall
from .layers import Figure, figure


def kernels_of(
    calls: Sequence[ProfiledCall], source: str, *, empty_ns: float, device: bool
) -> Figure | None:
    """The time of a graph's kernels in one run of it; None if it did not run.

    Parameters
    ----------
    source
        The graph's generated code, which identifies it.
    empty_ns
        The profiler's time of an empty range.
    device
        Whether kernels run on a GPU, which times them itself.
    """
    samples = []
    for call in calls:
        spent = [
            _device_ns(run) if device else _host_ns(run, empty_ns)
            for run in call.runs
            if run.source == source
        ]
        if spent:
            samples.append(statistics.fmean(spent) / 1000)
    return figure(samples) if samples else None


def _device_ns(run: GraphRun) -> float:
    return sum(work.ns for span in run.spans for work in span.work)


def _host_ns(run: GraphRun, empty_ns: float) -> float:
    return sum(max(span.ns - empty_ns * (1 + span.inner), 0.0) for span in run.spans)
