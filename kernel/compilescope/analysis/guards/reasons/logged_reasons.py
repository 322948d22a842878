"""Reads torch's reasons for a recompile from the artifact ``recompile_reasons``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ....capture.logged_values import decoded
from ....report import Recompile
from ..origin import Files, with_full_path

_REASON = re.compile(r"(?:\[?(\d+/\d+)(?:_\d+)?\]?: )?(.*)$", re.S)
_STACK = re.compile(r"\n\s*User stack trace:.*$", re.S)


def parse_recompile(text: str, files: Iterable[str] = ()) -> Recompile:
    """Read why the guards of earlier compilations failed.

    Parameters
    ----------
    text
        A JSON list, or (torch declares JSON but is not strict about it) one reason as plain text.
    files
        Known full file names; see `parse_guards`.
    """
    resolve = Files(files)
    try:
        logged = decoded(text)
    except ValueError:
        logged = text
    texts = [str(reason) for reason in logged] if isinstance(logged, list) else [str(logged)]
    previous = ""
    reasons = []
    for reason in texts:
        match = _REASON.match(reason.strip())
        if match is None:
            continue
        previous = previous or match.group(1) or ""
        reasons.append(with_full_path(_STACK.sub("", match.group(0)).strip(), resolve))
    return Recompile(reasons=[reason for reason in reasons if reason], previous=previous)
