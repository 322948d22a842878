"""Marks for sizes of 0 or 1 of several tensors that change in the same call."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from ....report import Advice, Failure

LAYOUT = re.compile(r"\.(?:stride\(\)\[\d+\]|storage_offset\(\))$")
_AT_LEAST_TWO = "at least 2"


def marks_together(
    failure: Failure,
    changes: Sequence[Failure],
    became: Sequence[str],
    before: Callable[[Failure, str, str, str], Iterator[Advice]],
) -> Advice | None:
    """A mark for each of the sizes; None if something else changed too, or one has no code.

    Parameters
    ----------
    failure, changes
        The size that torch reports, and what else changed.
    became
        Sources that became symbols in the new compilation.
    before
        Gives a statement before the call, as the adviser's.
    """
    sizes = [failure, *changes]
    if not changes or not all(map(_is_special, sizes)):
        return None
    own = {f"{size.source}.size()[{size.dimension}]" for size in sizes}
    if not all(source in own or LAYOUT.search(source) for source in became):
        return None
    marks = [
        mark
        for size in sizes
        for mark in before(
            size,
            "mark_unbacked",
            f"size {size.dimension} of {{0}}",
            f"torch._dynamo.decorators.mark_unbacked({{0}}, {size.dimension})",
        )
    ]
    if len(marks) < len(sizes) or not all(mark.code and "\n" not in mark.code for mark in marks):
        return None
    *first, last = [mark.what for mark in marks]
    return Advice(
        kind="mark_unbacked",
        what=(
            f"Mark {', '.join(first)} and {last} as unbacked: they become symbols that include 0 "
            "and 1. Marking only some of them does not avoid the recompile. Code that branches on "
            "them no longer compiles."
        ),
        code="\n".join(mark.code for mark in marks),
        where=marks[0].where,
    )


def _is_special(change: Failure) -> bool:
    """Whether a size was or becomes 0 or 1, of which torch makes no symbol by itself."""
    return change.kind == "size" and (
        change.old == _AT_LEAST_TWO or bool({change.old, change.new} & {"0", "1"})
    )
