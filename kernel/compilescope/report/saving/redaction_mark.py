"""The mark that redaction writes in place of a constant, and where it is found again."""

from __future__ import annotations

import re

CONSTANT = "…"
"""What a redacted report has in place of a constant."""
_COMMENT = re.compile(r"#\s.*")
"""The rest of a line of Python after ``# ``. A C++ directive has no space after its ``#``."""


def lacks_constants(code: str) -> bool:
    """Whether redaction left constants out of generated code or of a graph's text.

    Comments do not count: they may quote a line of the user's code with the same character.
    """
    return CONSTANT in code and CONSTANT in _COMMENT.sub("", code)
