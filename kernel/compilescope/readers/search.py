"""Search in all texts that torch logged, without assembling any compilation."""

from __future__ import annotations

from collections.abc import Iterator

from ..capture.record_heads import EVERY_HEAD, Block, Blocks
from ..report.problem import Struct
from .lazy_trace import ProcessLog, Trace
from .log_files import is_of_rank

MAX_HITS = 200
_SHOWN = 300
"""The most characters of a line that a hit shows."""


class Hit(Struct):
    """A line that holds the text."""

    process: str
    compilation: str
    name: str
    """The record: an artifact's name, or the event's."""
    line: int
    """The line in the record's text, counted from 1."""
    text: str


class Matches(Struct):
    """The result of a search."""

    hits: list[Hit] = []
    """The hits, at most `MAX_HITS`, in torch's order."""
    is_cut: bool = False
    """Whether there are more."""


def search(trace: Trace, text: str, *, rank: str | None = None) -> Matches:
    """Find a text, as it is written, in the texts of all compilations.

    Parameters
    ----------
    trace
        As far as it was read.
    text
        Within one line; case counts.
    rank
        The name of one process, to search it alone. None: all.
    """
    matches = Matches()
    if not text:
        return matches
    for log in trace.processes:
        if not is_of_rank(log.name, rank):
            continue
        for hit in _in_log(log, text.encode()):
            if len(matches.hits) == MAX_HITS:
                matches.is_cut = True
                return matches
            matches.hits.append(hit)
    return matches


def _in_log(log: ProcessLog, text: bytes) -> Iterator[Hit]:
    owners = {
        text_record.offset: (events.id, text_record.name)
        for events in log.events.values()
        for text_record in events.texts
    }
    blocks = Blocks(log.file)
    for block in _all(blocks):
        if block.buffer.find(text, 0, block.end) < 0:
            continue
        heads = [*EVERY_HEAD.finditer(block.buffer, 0, block.end)]
        ends = [*(head.start() for head in heads[1:]), block.end]
        for head, end in zip(heads, ends, strict=True):
            # Spans and tensor descriptions have no owner here: other records contain the same.
            owner = owners.get(block.offset + head.start() + 1)
            if owner is not None and block.buffer.find(text, head.end(), end) >= 0:
                lines = bytes(block.buffer[head.end() : end]).split(b"\n\t")[1:]
                for number, line in enumerate(lines, 1):
                    if text in line:
                        yield Hit(
                            process=log.name,
                            compilation=owner[0],
                            name=owner[1],
                            line=number,
                            text=line.decode("utf-8", "replace").strip()[:_SHOWN],
                        )


def _all(blocks: Blocks) -> Iterator[Block]:
    yield from blocks.complete()
    last = blocks.last()
    if last is not None:
        yield last
