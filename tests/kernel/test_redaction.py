"""A redacted report tells no folder and no line of code, and still is a report."""

from __future__ import annotations

import re
from pathlib import Path

import compilescope as cs
import pytest
import torch
from compilescope.report import Advice, Report

from . import subjects
from .views_report import report

pytestmark = pytest.mark.slow

_OWN = Path(subjects.__file__)


@pytest.fixture(scope="module")
def reports() -> list[Report]:
    x = torch.randn(4, 8)
    training = subjects.training()
    made = [
        cs.inspect(subjects.Net(), (x,), variants=("python", "cpp"), run=False),
        cs.inspect(training.fn, training.args, variants="python", run=False),
        cs.inspect(subjects.broken, (x,), variants="python", run=False),
        cs.inspect(_wrong, (x,), variants="python", run=False),
    ]
    assert made[2].variants[0].compilations[0].breaks
    assert made[3].variants[0].problems
    return made


def _wrong(x: torch.Tensor) -> torch.Tensor:
    return x.view(3, 5).sum()


def test_no_folder_and_no_line_of_code_is_left(reports: list[Report]) -> None:
    files = (_OWN, Path(__file__))
    lines = {line.strip() for file in files for line in file.read_text("utf-8").splitlines()}
    # torch's own messages name torch's functions.
    telling = {
        line
        for line in lines
        if len(line) > 8 and re.search(r"\W.*\w", line) and not line.startswith("torch._dynamo")
    }
    found = 0
    for one in reports:
        whole, redacted = one.to_json(), one.redacted().to_json()
        assert str(_OWN.parent) in whole
        # JSON writes quotes with a backslash.
        quoted = {line.replace("\\", "\\\\").replace('"', '\\"') for line in telling}
        found += sum(line in whole for line in quoted)
        left = [line for line in quoted if _stands_in(line, redacted)]
        assert left == []
        assert str(_OWN.parent) not in redacted
        assert str(Path(torch.__file__).parent) not in redacted
        assert not re.search(r"(?<![\w.:/<~-])/(?:home|root|tmp|usr|opt|work|Users)/", redacted)
    assert found > 10


def test_what_is_not_the_users_stays(reports: list[Report]) -> None:
    redacted = reports[0].redacted()
    before, after = reports[0].compilation("0/0"), redacted.compilation("0/0")
    assert [kernel.source.count("\n") for kernel in before.kernels] == [
        kernel.source.count("\n") for kernel in after.kernels
    ]
    assert [node.name for node in before.graphs["post_grad"].nodes] == [
        node.name for node in after.graphs["post_grad"].nodes
    ]
    assert [source.line for source in before.kernels[0].sources] == [
        source.line for source in after.kernels[0].sources
    ]
    assert "https://" in str(reports[2].redacted().compilation("0/0").breaks[0].link)


def test_saving_can_redact(reports: list[Report], tmp_path: Path) -> None:
    path = reports[0].save(tmp_path / "x.json", redact=True)
    assert str(_OWN.parent) not in path.read_text("utf-8")
    assert cs.load(path).variant("cpp").compilations


@pytest.mark.parametrize(
    "before",
    [
        "# File: model.py:3 in forward",
        "# Backward of forward node: File: model.py:3 in forward",
        '# File "model.py", line 3, in forward',
        "// File: model.py:3 in forward",
    ],
)
def test_no_line_of_code_stands_in_a_comment(before: str) -> None:
    made = report()
    graph = made.compilation("0/0").graphs["dynamo"]
    graph.text = f"mul = x * y\n{before}, code: return secret(x)  # really\nadd = mul + 1\n"
    left = made.redacted().compilation("0/0").graphs["dynamo"]
    assert left.text == f"mul = x * y\n{before}, code: (left out)\nadd = mul + 1\n"


def test_advice_that_writes_the_call_anew_is_left_out() -> None:
    made = report()
    recompile = made.compilation("0/0").recompile
    assert recompile is not None
    assert "f(x)" in recompile.advice[0].code
    recompile.advice.append(
        Advice(kind="mark_dynamic", what="", code="torch._dynamo.mark_dynamic(x, 0)")
    )
    left = made.redacted().compilation("0/0").recompile
    assert left is not None
    assert [one.code for one in left.advice] == ["", "torch._dynamo.mark_dynamic(x, 0)"]
    assert left.advice[0].what == recompile.advice[0].what


def _stands_in(line: str, text: str) -> bool:
    """Whether the line stands there as such, not as a part of generated code's longer names."""
    return re.search(rf"(?<!\w){re.escape(line)}(?!\w)", text) is not None
