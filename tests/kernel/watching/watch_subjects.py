"""What the tests of watching compile, and what they look at."""

from __future__ import annotations

import sys
import threading
import types

import torch
from compilescope.report import Report
from compilescope.session.session import get_session
from compilescope.watching.watch import Watch
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
        "threads": [
            thread.name for thread in threading.enumerate() if thread.name == "compilescope-watch"
        ],
    }


def plain(x: torch.Tensor) -> torch.Tensor:
    return (x + 1) * 2


def halved_or_not(x: torch.Tensor, step: int) -> torch.Tensor:
    """A graph break in the first compilation, and a recompile of what follows it."""
    if x.sum() > 0:
        x = x / 2
    return x / step


def ids(report: Report) -> list[str]:
    return [compilation.id for compilation in report.compilations]


def latest() -> Watch:
    inspection = list(get_session().inspections.values())[-1]
    assert isinstance(inspection, Watch)
    return inspection


def compiled_often(times: int) -> None:
    """Compiles as many functions that differ."""
    for number in range(times):
        # A code of its own, and a file: torch 2.11 has one frame for all functions without one.
        code = doubled.__code__.replace(co_name=f"f{number}")
        torch.compile(types.FunctionType(code, globals()), **EAGER)(torch.ones(3))


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2
