"""Records that say that something failed."""

from __future__ import annotations

from typing import Any

from ...capture.records import Record

METRICS = ("compilation_metrics", "bwd_compilation_metrics")
FAKE_KERNELS = ("missing_fake_kernel", "mismatched_fake_kernel")
"""What torch logs of operators while ``draft_export`` compares them with what they compute."""
RECOMPILE_LIMIT = "recompile limit exceeded"
"""How torch ends the reason for giving a frame up; it raises nothing and leaves no graph."""


def failed(record: Record) -> dict[str, Any] | None:
    """A compilation's metrics, if they say that it failed."""
    metrics = record.metadata.get(record.event) if record.event in METRICS else None
    return metrics if isinstance(metrics, dict) and metrics.get("fail_type") else None


def tells_of_failure(record: Record) -> bool:
    """Whether `compile_failures.read_failures` makes a problem of the record."""
    return record.event in FAKE_KERNELS or failed(record) is not None
