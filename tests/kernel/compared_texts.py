"""What torch generated for a variant, comparable between processes."""

from __future__ import annotations

import re

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
