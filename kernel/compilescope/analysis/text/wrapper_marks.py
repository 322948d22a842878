"""Code shared by the scanners of both wrappers: the marks they insert, the comments they read."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

_AOT_ID = re.compile(r"^# AOT ID:.*$", re.MULTILINE)
Kind = Literal["kernel", "launch", "alloc", "free", "guard", "return", "entry"]


@dataclass
class Mark:
    """A region as it is found: lines from 1, the end inclusive."""

    kind: Kind
    start: int
    end: int
    label: str = ""
    kernel: str | None = None
    call: int = 0
    """The first line of the call itself; the region begins with its comments."""
    handle: int | None = None
    """The number of the debug handle."""
    comments: Comments | None = None
    scope: str = ""
    """The graph inside the graph that a launch belongs to (a branch of ``torch.cond``)."""
    order: tuple[int, ...] = ()
    """Sorts launches by when they run."""
    language: str = ""
    source: tuple[int, int] | None = None
    """A kernel's source: its first and last line, without what wraps it."""
    key: str = ""


@dataclass
class Comments:
    """What the comments above a kernel or a launch say."""

    start: int = 0
    end: int = 0
    """The first and last line so far, from 0."""
    handle: tuple[str, int] | None = None
    source_nodes: list[str] = field(default_factory=list)
    """Names of nodes of the graph before AOTAutograd (backward: also of post-grad nodes)."""
    aten: list[str] = field(default_factory=list)
    nodes: list[str] = field(default_factory=list)
    """Post-grad nodes, from the source-node-to-ATen-node mapping."""

    def read(self, comment: str) -> bool:
        """Read one comment, without its ``#`` or ``//``; False if it says nothing of interest."""
        handle = _HANDLE.match(comment)
        if handle:
            self.handle = (handle.group(1), int(handle.group(2)))
            return True
        summary = _SUMMARY.match(comment)
        if summary:
            self.source_nodes = _items(summary.group(1))
            self.aten = _items(summary.group(2))
            return True
        mapping = _MAPPING.match(comment)
        if mapping:
            self.nodes += [name for name in _items(mapping.group(2)) if name not in self.nodes]
            return True
        return comment.startswith((" Source node to ATen", " Graph fragment:", "   %", "   return"))


def launch_mark(name: str, start: int, end: int, comments: Comments | None, scope: str) -> Mark:
    """The mark of a launch, which begins with the comments above it.

    Parameters
    ----------
    name
        The kernel's.
    start, end
        The lines [start, end) of the call, from 0.
    scope
        The graph inside the graph that it belongs to, or nothing.
    """
    begin = comments.start if comments else start
    return Mark(
        "launch",
        begin + 1,
        end,
        label=name,
        kernel=name,
        call=start + 1,
        handle=comments.handle[1] if comments and comments.handle else None,
        comments=comments,
        scope=scope,
        order=(begin,),
    )


def read_comment(comments: Comments | None, comment: str, number: int) -> Comments | None:
    """Read a comment line; return what the comments that are now pending say.

    Parameters
    ----------
    comments
        What is pending: comments that belong to what comes next.
    comment
        The line without its ``#`` or ``//``.
    number
        The line's number, from 0. A line that does not follow the pending comments begins a new
        block, which takes their place if it tells anything.
    """
    follows = comments is not None and comments.end == number - 1
    block = comments if comments is not None and follows else Comments(start=number)
    if block.read(comment) or comment.startswith(" kernel path:"):
        block.end = number
        return block
    return comments


_HANDLE = re.compile(r" \[Provenance debug handles\] (\S+):(\d+)\s*$")
_SUMMARY = re.compile(
    r" (?:Topologically Sorted|Unsorted) Source Nodes: \[(.*)\], Original ATen: \[(.*)\]\s*$"
)
_MAPPING = re.compile(r"   (\S+) => (.*)$")


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def without_number(text: str) -> str:
    """A wrapper without torch's count of compilations, in which equal wrappers differ."""
    return _AOT_ID.sub("# AOT ID: \u2026", text)
