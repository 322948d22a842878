"""Parses torch's messages about code and marked sizes that it does not compile.

It reads text only, so it works for an exception and for a message in a trace. The texts are those
of ``UserError`` (``torch/_dynamo/exc.py``) and of ``ConstraintViolationError``
(``torch/fx/experimental/symbolic_shapes.py``), from 2.11 to 2.15. Every backend fails alike: which
part of torch fails is not the question.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Restriction(NamedTuple):
    """What torch does not compile, why, and what to do."""

    what: str
    why: str
    remedy: str


_CONSTRAINT = re.compile(r"Constraints violated \((?P<names>.+?)\)!")
_DATA_DEPENDENT = re.compile(
    r"(?P<what>Could not guard on data-dependent expression (?P<expression>.+?))"
    r"(?: \(unhinted: .*| *\(Size-like symbols: .*|\.? *$)",
    re.M,
)
_ADVICE = re.compile(r"(?:(Consider .*?\.) (?=[A-Z]))?(.*)")
"""The first line of torch's message: what it advises, if it does, and what went wrong."""
_REASON = re.compile(r"^\s*- (.*)$", re.M)
_EXPORTDB = re.compile(r"https?://\S*/exportdb/\S*")

_NOT_DYNAMIC = (
    "Remove mark_dynamic from it, or use torch._dynamo.maybe_mark_dynamic, which leaves it "
    "constant where it must be."
)
_STATE_THE_CASE = (
    "State before the line which case holds, with torch._check(\u2026), write both cases with "
    "torch.cond, or compile without fullgraph=True, so that the graph breaks there."
)
_REWRITE = "Rewrite the line, or keep it out with torch.compiler.disable."


def restriction(message: str, kind: str) -> Restriction | None:
    """Read a message; None if torch does not name what it does not compile.

    Parameters
    ----------
    kind
        The name of the exception's class.
    """
    if constraint := _CONSTRAINT.search(message):
        reasons = _REASON.findall(message.partition("User stack:")[0])
        # What follows is torch's advice for every way to mark a size.
        why = " ".join(reason.partition(" If you're using ")[0] for reason in reasons)
        what = f"A size is marked as dynamic, which it cannot be: {constraint['names']}."
        return Restriction(what, why, _NOT_DYNAMIC)
    if kind != "UserError":
        return None
    link = _EXPORTDB.search(message)
    see = f" See {link.group()}" if link else ""
    if condition := _DATA_DEPENDENT.search(message):
        return Restriction(
            condition["what"],
            f"Which case holds ({condition['expression']}) is known only when the code runs.",
            _STATE_THE_CASE + see,
        )
    first_line = next(iter(message.strip().splitlines()), "")
    advice, failure = _ADVICE.match(first_line).groups("")  # type: ignore[union-attr]
    return Restriction(
        failure,
        "It is a restriction of torch.compile on the code that it takes.",
        (advice or _REWRITE) + see,
    )
