"""The message shown for an error that torch raised."""

from __future__ import annotations

import re

_END = re.compile(r"[.!?](?=\s+[A-Z])|\n")


def first_sentence(error: BaseException) -> str:
    """The first sentence of its message, without a full stop.

    torch's dispatcher adds a page about builds and backends.
    """
    return _END.split(str(error).strip(), maxsplit=1)[0].rstrip(". ") or type(error).__name__
