"""The environment that wrote a trace: torch, Triton, Python, and its devices."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...capture.logged_values import decoded
from ...capture.records import Record
from ...report import Environment
from ...torch_api.trace.record_names import METRICS

_TORCH = re.compile(r"^# torch version: (\S+)", re.M)
_GPUS = re.compile(r"^# GPU Hardware Info: *\n((?:# .+ : \d+ *\n)+)", re.M)
_GPU = re.compile(r"^# (.+) : (\d+)", re.M)
_DEVICE = re.compile(r"device\(type='(\w+)'")
_MAX_GPUS = 64


def environment_of(records: Sequence[Record]) -> Environment:
    """Describe the process that wrote a trace; unknown fields are empty."""
    environment = Environment()
    for record in records:
        if record.name == "torch_version":
            environment.torch = environment.torch or _text(
                _object(record.payload), "pytorch_version"
            )
        elif record.event in METRICS:
            metrics = record.metadata.get(record.event)
            if isinstance(metrics, dict):
                environment.torch = environment.torch or _text(metrics, "pytorch_version")
                environment.triton = environment.triton or _text(metrics, "triton_version") or None
                environment.python = (
                    environment.python or _text(metrics, "python_version").partition(" ")[0]
                )
        elif record.name == "fx_graph_runnable" and record.payload:
            version_line = _TORCH.search(record.payload)
            environment.torch = environment.torch or (version_line[1] if version_line else "")
            environment.gpus = environment.gpus or _gpus(record.payload)
    return environment


def device_of(records: Sequence[Record]) -> str:
    """The device type of the tensors: ``cuda``; empty if unknown."""
    types = set()
    for record in records:
        if record.event == "describe_tensor":
            detail = record.metadata.get(record.event)
            device_type = (
                _DEVICE.match(_text(detail, "device")) if isinstance(detail, dict) else None
            )
            types |= {device_type[1]} if device_type else set()
    types.discard("meta")
    return min(types, key=lambda kind: (kind == "cpu", kind), default="")


def _gpus(text: str) -> list[str]:
    table = _GPUS.search(text)
    if table is None:
        return []
    counts = [(name, int(count[:4])) for name, count in _GPU.findall(table[1])]
    return [name for name, count in counts for _ in range(min(count, _MAX_GPUS))][:_MAX_GPUS]


def _object(payload: str | None) -> dict[str, Any]:
    try:
        value = decoded(payload or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _text(values: dict[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""
