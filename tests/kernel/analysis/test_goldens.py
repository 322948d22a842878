"""What `assemble` makes of real compiler output; see tests/data/cases/README.md."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

CASES = ["breaks", "cached", "fallbacks", "mlp", "recompiles", "training"]


@pytest.mark.parametrize("wrapper", ["python", "cpp"])
@pytest.mark.parametrize("case", CASES)
def test_case(case, wrapper, compiled, summary, data: Path):
    results = [summary.summarize(compilation) for compilation in compiled(case, wrapper)]
    text = json.dumps(results, indent=1, ensure_ascii=False) + "\n"
    expected = data / "cases" / case / f"{wrapper}.expected.json"
    if os.environ.get("COMPILESCOPE_UPDATE_GOLDENS"):
        expected.write_text(text, encoding="utf-8")
    assert text.split("\n") == expected.read_text(encoding="utf-8").split("\n")


def test_every_case_is_tested(data: Path):
    assert sorted(path.parent.name for path in data.glob("cases/*/program.py")) == CASES
