"""Names of functions that Dynamo resumes after a graph break."""

from __future__ import annotations

import pytest
from compilescope.report import SourceLine
from compilescope.report.resumed import plain_function, readable_text, resumed_at
from msgspec.json import decode


@pytest.mark.parametrize(
    ("generated", "readable", "function", "line"),
    [
        ("torch_dynamo_resume_in_step_at_4", "step from line 4", "step", 4),
        ("torch_dynamo_resume_in_<lambda>_at_12", "<lambda> from line 12", "<lambda>", 12),
        (
            "torch_dynamo_resume_in_torch_dynamo_resume_in_look_at_it_at_3_at_5",
            "look_at_it from line 5",
            "look_at_it",
            5,
        ),
        ("look_at_4", "look_at_4", "look_at_4", None),
        ("", "", "", None),
    ],
)
def test_a_place_names_the_users_function(
    generated: str, readable: str, function: str, line: int | None
) -> None:
    place = SourceLine(file="train.py", line=4, function=generated)
    assert place.function == readable
    # As a file of an earlier version has it.
    stored = f'{{"file":"train.py","line":4,"function":"{generated}"}}'
    assert decode(stored, type=SourceLine) == place
    assert (plain_function(place.function), resumed_at(place.function)) == (function, line)


def test_messages_of_torch_name_the_users_function() -> None:
    message = 'File "train.py", line 17, in torch_dynamo_resume_in_<lambda>_at_16, code: y > 0'
    assert (
        readable_text(message) == 'File "train.py", line 17, in <lambda> from line 16, code: y > 0'
    )
