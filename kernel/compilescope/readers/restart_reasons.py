"""Why Dynamo started a frame again, in words, and what avoids it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..analysis.problems.breaks import causes_restart
from ..analysis.problems.failed_records import restart_reasons
from ..capture.logged_values import finite
from ..report import Break
from ..report.restart_explanations import explanation_of
from .lost_time import CompileSeconds


def add_restarts(
    spent: CompileSeconds,
    metrics: Mapping[str, object],
    breaks: Iterable[Break],
    *,
    redact: bool = False,
) -> None:
    """Add the restarts of a frame that no graph break caused.

    Parameters
    ----------
    spent
        The figures of the compilation; changed in place.
    metrics
        As torch logs them.
    breaks
        The graph breaks of the frame.
    redact
        Leave out torch's own messages, which may quote values.
    """
    # torch counts all time of a frame without a graph as time before a restart.
    reasons = restart_reasons(metrics)
    ended_us = 0.0
    for graph_break in breaks:
        if graph_break.duration_us:
            ended_us += graph_break.duration_us
            reasons = [reason for reason in reasons if not causes_restart(graph_break, [reason])]
    if not reasons:
        return
    before_s = finite(metrics.get("dynamo_time_before_restart_s")) or 0.0
    spent.restarted_s = max(before_s - ended_us / 1e6, 0.0)
    explained = [_explanation(reason, redact=redact) for reason in reasons]
    spent.restart_why = "; ".join(dict.fromkeys(why for why, _ in explained if why))
    spent.restart_remedy = " ".join(dict.fromkeys(remedy for _, remedy in explained if remedy))


def _explanation(reason: str, *, redact: bool) -> tuple[str, str]:
    return explanation_of(reason) or ("" if redact else reason.partition("\n")[0], "")
