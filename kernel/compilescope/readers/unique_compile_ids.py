"""Unique compile ids for a log: torch restarts its numbering after a reset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ..capture.records import NO_COMPILE_ID, Record
from ..torch_api.trace.record_names import CHROMIUM_EVENT


class UniqueCompileIds:
    """Names compilations while their log is read from its beginning.

    Ids of torch's first count are kept; frames of a later count continue the numbering.
    """

    def __init__(self) -> None:
        self.ids: list[dict[str, str]] = [{}]
        """Of each count: torch's id → the one that is shown."""
        self._started: set[str] = set()
        self._frames = 0
        self._graphs = 0

    def name(self, torch_id: str) -> str:
        """The id that is shown for torch's."""
        ids = self.ids[-1]
        if torch_id not in ids:
            ids[torch_id] = _moved(torch_id, self._frames, self._graphs)
        return ids[torch_id]

    def start(self, torch_id: str) -> bool:
        """Record that Dynamo starts a compilation. Returns whether torch's numbering restarts."""
        is_restarted = torch_id in self._started
        if is_restarted:
            self.count_anew()
        self._started.add(torch_id)
        return is_restarted

    def count_anew(self) -> None:
        """Number the frames that follow on from those so far."""
        names = self.ids[-1].values()
        self._frames = _free(self._frames, (n.split("/")[-2] for n in names if "/" in n))
        self._graphs = _free(self._graphs, (n[1:].split("/")[0] for n in names if n[0] == "!"))
        self.ids.append({})
        self._started.clear()


def _moved(name: str, frames: int, graphs: int) -> str:
    """A compile id, offset by a number of frames and of compiled autograd's graphs."""
    if not frames and not graphs:
        return name
    parts = name.split("/")
    if len(parts) > 1:
        parts[-2] = str(int(parts[-2]) + frames)
    if parts[0].startswith("!"):
        parts[0] = f"!{int(parts[0][1:]) + graphs}"
    return "/".join(parts)


def _free(before: int, numbers: Iterable[str]) -> int:
    """The first free number; ``before`` if no number is taken."""
    return max((int(number) + 1 for number in numbers), default=before)


def distinguished(records: Sequence[Record]) -> list[Record]:
    """A whole log's records under ids that occur once, as `UniqueCompileIds` names them.

    Records without an id get `NO_COMPILE_ID`, but for those that are of the whole process.
    """
    # What reads a log on demand needs neither.
    from ..analysis.phases.compilations import epochs
    from ..capture.renumber import renamed

    names = UniqueCompileIds()
    distinct: list[Record] = []
    for epoch in epochs(records):
        ids = dict.fromkeys(record.compile_id for record in epoch if record.compile_id is not None)
        names.count_anew()
        shown = {torch_id: names.name(torch_id) for torch_id in ids}
        distinct += [with_id(renamed(record, shown)) for record in epoch]
    return distinct


def with_id(record: Record) -> Record:
    """The record under `NO_COMPILE_ID`, if it has no id and is not of the whole process."""
    if record.compile_id is not None or is_of_process(record):
        return record
    return msgspec.structs.replace(record, compile_id=NO_COMPILE_ID)


def is_of_process(record: Record) -> bool:
    """Whether a record alone is no sign that its process compiled anything: a span, a file's name.

    `Outlines` makes no compilation of such records either.
    """
    return record.event in ("str", CHROMIUM_EVENT) or record.name == "torch_version"
