"""What is told of an error that torch raised in a check."""

from __future__ import annotations

import pytest
from compilescope.targets.check.errors import first_sentence


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            RuntimeError(
                "Could not run 'aten::f' with the 'CPU' backend. This could be because\n…"
            ),
            "Could not run 'aten::f' with the 'CPU' backend",
        ),
        (ValueError("0.5 is no size: f.py has two.\nTraceback"), "0.5 is no size: f.py has two"),
        (ValueError(), "ValueError"),
    ],
)
def test_it_is_one_sentence(error: Exception, expected: str) -> None:
    assert first_sentence(error) == expected
