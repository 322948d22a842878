"""Helpers for the lines of texts."""

from __future__ import annotations


def line_count(text: str) -> int:
    """The number of lines; an empty text has one."""
    return text.count("\n") + (not text.endswith("\n"))
