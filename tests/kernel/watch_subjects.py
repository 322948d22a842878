"""What the tests of watching compile, and what they look at."""

from __future__ import annotations

import sys
import threading
from typing import Any

import torch
from compilescope.compiler.watch import Watch
from compilescope.report import Report
from compilescope.session import get_session
from torch._dynamo import convert_frame, eval_frame
from torch._logging import _internal

EAGER = {"backend": "eager"}


def installed() -> dict[str, object]:
    """Everything that watching touches in the process."""
    return {
        "handlers": list(_internal.trace_log.handlers),
        "compile": eval_frame._TorchDynamoContext.__call__,
        "print": torch.fx.GraphModule.print_readable,
        "trace": {
            vars(module)["trace_structured"]
            for name, module in list(sys.modules.items())
            if name.startswith("torch.") and "trace_structured" in vars(module)
        },
        "hooks": dict(convert_frame._bytecode_hooks),
        "threads": [one.name for one in threading.enumerate() if one.name == "compilescope-watch"],
    }


def plain(x: torch.Tensor) -> torch.Tensor:
    return (x + 1) * 2


def ids(report: Report) -> list[str]:
    return [one.id for one in report.compilations]


def latest() -> Watch:
    found = list(get_session().inspections.values())[-1]
    assert isinstance(found, Watch)
    return found


def compiled_often(times: int) -> None:
    """Compiles as many functions that differ."""
    for number in range(times):
        namespace: dict[str, Any] = {}
        exec(f"def f{number}(x):\n    return x * {number} + 1", namespace)
        torch.compile(namespace[f"f{number}"], **EAGER)(torch.ones(3))
