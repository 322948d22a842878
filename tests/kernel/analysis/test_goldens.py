"""What `assemble` makes of real compiler output; see tests/data/cases/README.md."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from compilescope.analysis.assemble import assemble
from compilescope.capture.records import Record

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


def test_numbers_of_a_mac_are_read_like_those_of_linux(records):
    def read(rows: Sequence[Record]) -> list[Any]:
        [compilation] = assemble(rows, variant="cpp")
        kernels = [(kernel.grid, kernel.tiling, kernel.baked) for kernel in compilation.kernels]
        return msgspec.to_builtins([kernels, compilation.memory])

    linux = records("mlp", "cpp")
    mac = [
        msgspec.structs.replace(record, payload=re.sub(r"(?<=\d)L\b", "LL", record.payload or ""))
        for record in linux
    ]
    assert mac != linux
    assert read(mac) == read(linux)


def test_every_case_is_tested(data: Path):
    assert sorted(path.parent.name for path in data.glob("cases/*/program.py")) == CASES
