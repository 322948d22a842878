"""The class of a method, from the file that defines it."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pytest
from compilescope.analysis.text.methods import qualified_name
from compilescope.report import SourceLine


@pytest.mark.parametrize(
    "text",
    [r'"\d"', r'"\\" + "\""', r'f"\N{EM DASH}{1}"', "1 + \\\n    2"],
    ids=["invalid escape", "quote", "name", "continued line"],
)
def test_a_method_is_found_without_a_warning(text: str, tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(f"A = {text}\nclass Block:\n    def forward(self, x):\n        return x\n")
    line = 3 + text.count("\n")
    frame = SourceLine(file=str(file), line=line, function="forward")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert qualified_name(frame) == "Block.forward"
    assert caught == []


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "model.py"
    os.mkfifo(pipe)
    for file in (str(pipe), "/dev/zero", "\0"):
        assert qualified_name(SourceLine(file=file, line=1, function="forward")) == "forward"
