"""What the kernel answers about a report, kept for the front end, which reads the same from the
report's file (``tests/ts/model/file.spec.ts``)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import compilescope as cs
import msgspec
from compilescope.comms import messages, report_without_texts
from compilescope.comms.clients import to_builtins
from compilescope.report import Report
from compilescope.report.errors import CompilescopeError

DATA = Path(__file__).parents[2] / "data"
ANSWERS = DATA / "protocol" / "answers.json"
REPORTS = ("breaks", "training", "targets")
KERNEL = "kernel.inference.triton_per_fused__softmax_add_gelu_prepare_softmax_online_0"
"""Of the report ``targets``."""


def answered(report: Report) -> Iterator[tuple[str, dict[str, Any], messages.Message]]:
    """Every question that no struct of the report answers by itself, and some without an answer."""
    # The kernel works out the overview anew; the front end has the one in the file.
    stored = report.overview
    summary = msgspec.structs.replace(report_without_texts.report(report, 1), overview=stored)
    yield "get_report", {}, summary
    yield "search", {"text": "return "}, report_without_texts.search(report, "return ")
    for variant in report.variants:
        for compilation in variant.compilations[:1]:
            which = {"variant": variant.name, "compilation": compilation.id}
            for name in ("python", "backward.cpp", "graph.dynamo"):
                yield "get_artifact", which | {"artifact": name}, artifact(report, which, name)
            if variant.target is not None:
                for form in ("ptx", "amdgcn@XBLOCK=4, num_warps=1, num_stages=1", "sass@none"):
                    name = f"{KERNEL}.{form}"
                    yield "get_artifact", which | {"artifact": name}, artifact(report, which, name)


def stored(name: str) -> Report:
    return cs.load(DATA / "reports" / f"{name}.compilescope.json")


def artifact(report: Report, which: dict[str, str], name: str) -> messages.Message:
    try:
        return report_without_texts.artifact(report, which["variant"], which["compilation"], name)
    except CompilescopeError as error:
        return messages.Reply(id="", error=error.problem)


def test_the_kept_answers_are_the_kernels() -> None:
    answers = [
        {"report": name, "command": command, "arguments": arguments, "answer": to_builtins(answer)}
        for name in REPORTS
        for command, arguments, answer in answered(stored(name))
    ]
    data = json.loads(json.dumps(answers))
    if os.environ.get("COMPILESCOPE_UPDATE_GOLDENS"):
        ANSWERS.write_text(json.dumps(data, indent=None, separators=(",", ":")) + "\n", "utf-8")
    assert data == json.loads(ANSWERS.read_text("utf-8"))
