"""What torch generated for a variant, comparable between processes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from compilescope.analysis.text.wrapper_marks import without_number
from compilescope.builds.capture_fingerprint import comparable
from compilescope.report import VariantReport


def texts(variant: VariantReport) -> dict[str, object]:
    """All that torch generated, without what differs in each process."""
    (compilation,) = variant.compilations
    code = compilation.code
    wrappers = [code.python, code.cpp, code.backward and code.backward.python]
    return {
        "graphs": {
            stage: re.sub(r"graph id: \d+", "", graph.text)
            for stage, graph in compilation.graphs.items()
        },
        "wrappers": [without_number(wrapper or "") for wrapper in wrappers],
        "kernels": [(kernel.name, kernel.source) for kernel in compilation.kernels],
        "guards": [comparable(guard.expression) for guard in compilation.guards],
        "symbols": compilation.symbols,
        "config": variant.config,
        "problems": variant.problems,
    }


_TIMES = {"duration_us", "wasted_us"}
_COUNT = re.compile(r"graph id: \d+| (?=[0-9a-f]{12}$)[0-9a-f]{12}", re.MULTILINE)
"""torch's number of a graph, and the ``id()`` of a constant in a wrapper."""


def everything(variant: VariantReport) -> Any:
    """All that the report of a variant says, without what differs in each process, and times."""
    said = _without_own(msgspec.to_builtins(variant, enc_hook=str))
    said["breaks"].sort(key=str)  # they are in the order of their times
    return said


def _without_own(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_own(each) for key, each in value.items() if key not in _TIMES}
    if isinstance(value, list):
        return [_without_own(each) for each in value]
    if isinstance(value, str):
        return _COUNT.sub("", comparable(without_number(value)))
    return value
