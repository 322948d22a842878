"""Recognizes the records of failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...capture.records import Record
from ...report.compilation.artifacts import Outcome
from ...torch_api.trace.artifact_names import RAISES
from ...torch_api.trace.record_names import COMPILATION_METRICS, GRAPH_BREAK_REASON
from ...torch_api.trace.record_names import METRICS as METRICS

FAKE_KERNELS = ("missing_fake_kernel", "mismatched_fake_kernel")
"""What torch logs of operators while ``draft_export`` compares them with what they compute."""
RECOMPILE_LIMIT = "recompile limit exceeded"
"""How torch ends the reason for giving a frame up; it raises nothing and leaves no graph."""
_BREAKS = ("Unsupported", "SkipFrame")
"""The types of failures after which torch leaves a frame to eager, whatever the settings."""


def failed(record: Record) -> dict[str, Any] | None:
    """A compilation's metrics, if they say that it failed."""
    metrics = record.metadata.get(record.event) if record.event in METRICS else None
    return metrics if isinstance(metrics, dict) and metrics.get("fail_type") else None


def reports_failure(record: Record) -> bool:
    """Whether `compile_failures.read_failures` makes a problem of the record."""
    return record.event in FAKE_KERNELS or failed(record) is not None


def outcome_of(records: Sequence[Record]) -> Outcome:
    """How a compilation ended.

    Parameters
    ----------
    records
        All that torch logged of it so far.
    """
    outcome: Outcome = "compiled"
    for record in records:
        if (metrics := failed(record)) is not None:
            if not ran_in_eager(record, metrics, records):
                return "failed"
            outcome = "eager"
    return outcome


def ran_in_eager(record: Record, metrics: Mapping[str, Any], compilation: Sequence[Record]) -> bool:
    """Whether torch ran the frame of a failed compilation in eager instead.

    Parameters
    ----------
    record, metrics
        As `failed` takes and returns them.
    compilation
        The records of the same compilation.
    """
    if is_hidden(record, metrics) or RECOMPILE_LIMIT in _reason(metrics):
        return True
    # With fullgraph=True torch raises what it can't trace, and logs no graph break.
    return _is_break(metrics) and any(other.name == GRAPH_BREAK_REASON for other in compilation)


def is_hidden(record: Record, metrics: Mapping[str, Any]) -> bool:
    """Whether ``suppress_errors`` hides the failure: torch raises nothing and runs in eager.

    Graph breaks and the recompile limit leave a frame to eager with any setting. A backward is
    compiled when autograd calls it, where torch raises every error. So it does with
    ``fullgraph=True``, which a log that torch wrote itself does not say.
    """
    return (
        record.event == COMPILATION_METRICS
        and RAISES not in record.metadata
        and metrics.get("config_suppress_errors") is True
        and not _is_break(metrics)
        and RECOMPILE_LIMIT not in _reason(metrics)
    )


def kind_of(metrics: Mapping[str, Any]) -> str:
    """The type of the exception, without its module."""
    return str(metrics["fail_type"]).rpartition(".")[2]


def restart_reasons(metrics: Mapping[str, Any]) -> list[str]:
    """Why Dynamo started a frame again, in torch's words; empty if it did not."""
    reasons = metrics.get("restart_reasons")
    return list(map(str, reasons)) if isinstance(reasons, list) else []


def _is_break(metrics: Mapping[str, Any]) -> bool:
    return kind_of(metrics) in _BREAKS


def _reason(metrics: Mapping[str, Any]) -> str:
    return str(metrics.get("fail_reason") or "")
