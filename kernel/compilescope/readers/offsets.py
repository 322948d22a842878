"""The offsets of each compilation's records in a log, and reports read from them."""

from __future__ import annotations

import itertools
from array import array
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple

import msgspec

from ..analysis.parts import PartFailures
from ..capture.parse_log import DamagedLines, clock_shift, known_id, moved, parse_records
from ..capture.record_heads import ARTIFACT_NAME, EVERY_HEAD, Block, Blocks, decode_head
from ..capture.records import NO_COMPILE_ID, Record
from ..capture.renumber import renamed
from ..measure.garbage_collection import gc_disabled
from ..report import Compilation, Problem
from ..torch_api.trace.record_names import (
    CHROMIUM_EVENT,
    COMPILATION_METRICS,
    CREATE_SYMBOL,
    DYNAMO_START,
    GUARDS,
    RECOMPILE_REASONS,
)
from .unique_compile_ids import UniqueCompileIds, with_id

_MAX_CACHED = 32
"""How many compilations are kept assembled."""
_SPAN = CHROMIUM_EVENT.encode()
_START = DYNAMO_START.encode()
_REASONS = RECOMPILE_REASONS.encode()
_EARLIER = {
    _START,
    GUARDS.encode(),
    CREATE_SYMBOL.encode(),
    b"symbolic_shape_specialization",
    _REASONS,
    COMPILATION_METRICS.encode(),
}
"""The records of the frame's earlier compilations that a recompile's report needs."""


class Assembled(NamedTuple):
    """A complete compilation."""

    compilation: Compilation
    problems: list[Problem]
    """What of its records cannot be read."""


class _Interned(NamedTuple):
    """A file name, and the first record in which torch's number refers to it."""

    record: int
    number: int
    name: str


class Offsets:
    """The offsets of each compilation's records in a log, which may still grow.

    Parameters
    ----------
    file
        The log. It has to stay open.
    year
        When it was written.
    name
        What the log is called in sentences.
    """

    def __init__(
        self,
        file: BinaryIO,
        year: int,
        name: str,
    ) -> None:
        self._file = file
        self._blocks = Blocks(file)
        self._year = year
        self._name = name
        self._starts = array("Q", [0])
        """The offset of each record and of each line that is no record, then of the next record."""
        self._records: dict[str, array[int]] = {}
        """The numbers of each compilation's records."""
        self._spans = array("L")
        """The numbers of spans that name no compilation."""
        self._interned: list[_Interned] = []
        self._unique_ids = UniqueCompileIds()
        self._bounds = [0]
        """The first record after each reset of torch's compile ids."""
        self._kinds = array("L")
        """The kind of each record, as an index into `_names`."""
        self._names: list[bytes] = []
        """Events' names, and those of artifacts."""
        self._indices: dict[bytes, int] = {}
        self._cache: OrderedDict[str, Assembled] = OrderedDict()
        self._shift_s = 0.0
        self.failures = PartFailures()
        """The parts of assembled compilations that could not be analyzed."""

    def read(self, *, whole: bool, changed: Iterable[str] = ()) -> None:
        """Read what was written since the last time.

        Parameters
        ----------
        whole
            Whether the file is finished. Else a record that may go on is left for the next time.
        changed
            The compilations that there is something new of.
        """
        for shown_id in changed:
            self._cache.pop(shown_id, None)
            self.failures.remove(shown_id)
        self._starts.pop()
        for block in self._blocks.complete():
            self._read(block)
        last = self._blocks.last()
        if last is not None and (whole or self._blocks.last_is_complete()):
            self._read(last)
            self._blocks.take_last()
        self._starts.append(self._blocks.next_offset)
        if not self._shift_s:
            spans = self._named(_SPAN, 0, len(self))
            self._shift_s = clock_shift(self._parsed(spans, DamagedLines(self._name)))

    def __len__(self) -> int:
        return len(self._starts) - 1

    @gc_disabled()
    def assembled(self, shown_id: str, variant: str) -> Assembled:
        """A compilation as `compilescope.read_trace` makes it of the whole log.

        Parameters
        ----------
        shown_id
            One of the log's.
        variant
            The name of the variant that it is of.
        """
        if shown_id in self._cache:
            self._cache.move_to_end(shown_id)
            return self._cache[shown_id]
        # This import takes half of the package's import time, and a summary does not need it.
        from ..analysis.assemble import assemble

        damages = DamagedLines(self._name, numbered=False)
        records = list(self._parsed(self._numbers(shown_id), damages))
        with self.failures.collecting(shown_id):
            compilations = assemble(records, variant=variant, raw=True)
        # In a damaged log, the records may yield no compilation.
        empty = Compilation(id=shown_id)
        compilation = next(
            (candidate for candidate in compilations if candidate.id == shown_id), empty
        )
        self._cache[shown_id] = Assembled(compilation, damages.problems())
        if len(self._cache) > _MAX_CACHED:
            self._cache.popitem(last=False)
        return self._cache[shown_id]

    def text_at(self, offset: int) -> str:
        """The text of the record that begins there."""
        number = bisect_left(self._starts, offset)
        text = self._bytes(number, number + 1)
        for record in parse_records(text, {}, self._year, DamagedLines(self._name)):
            return record.payload or ""
        return ""

    def _read(self, block: Block) -> None:
        for match in EVERY_HEAD.finditer(block.buffer, 0, block.end):
            number = len(self._starts)
            self._starts.append(block.offset + match.start() + 1)
            text, name = match.groups()
            event = name or b""
            if event == b"artifact" and (title := ARTIFACT_NAME.search(text)):
                name = title[1]
            self._kinds.append(self._kind(name or b""))
            if text is None:
                continue
            try:
                if event == b"str":
                    self._intern(number, text)
                    continue
                head = decode_head(text)
                torch_id = known_id(head.compiled_autograd_id, head.frame_id, head.frame_compile_id)
            except (msgspec.DecodeError, ValueError, RecursionError):
                continue  # damage, which `Outlines` counts
            if event == _START and torch_id is not None and not head.attempt:
                self._start(number, torch_id)
            if torch_id is not None:
                shown_id = self._unique_ids.name(torch_id)
            elif event == _SPAN:
                self._spans.append(number)
                continue
            elif name == b"torch_version":
                continue
            else:
                shown_id = NO_COMPILE_ID
            records = self._records.get(shown_id)
            if records is None:
                records = self._records[shown_id] = array("L")
            records.append(number)

    def _kind(self, name: bytes) -> int:
        kind = self._indices.get(name)
        if kind is None:
            kind = self._indices[name] = len(self._names)
            self._names.append(name)
        return kind

    def _intern(self, number: int, text: bytes) -> None:
        detail = msgspec.json.decode(text)["str"]
        if isinstance(detail, list) and len(detail) == 2 and isinstance(detail[1], int):
            self._interned.append(_Interned(number, detail[1], str(detail[0])))

    def _start(self, number: int, torch_id: str) -> None:
        """Record a start, at which torch's ids may restart; its outer spans opened earlier."""
        earlier = self._unique_ids.ids[-1].get(torch_id)
        if not self._unique_ids.start(torch_id):
            return
        bound = number
        while bound > self._bounds[-1] + 1 and self._opens(bound - 1):
            bound -= 1
        self._bounds.append(bound)
        # These spans were assigned to the earlier compilation with the same torch id.
        records = self._records.get(earlier or "")
        moved_numbers = []
        while records and records[-1] >= bound:
            moved_numbers.append(records.pop())
        if moved_numbers:
            self._records[self._unique_ids.name(torch_id)] = array("L", reversed(moved_numbers))

    def _opens(self, number: int) -> bool:
        """Whether a record opens a span, or belongs to no compilation."""
        name = self._name_of(number)
        return name in (b"str", b"torch_version") or (
            name == _SPAN and b'"ph": "B"' in self._bytes(number, number + 1)
        )

    def _name_of(self, number: int) -> bytes:
        return self._names[self._kinds[number]]

    def _bytes(self, begin: int, end: int) -> bytes:
        """The bytes of the records ``begin`` to ``end``, without ``end``."""
        start = self._starts[begin]
        self._file.seek(start)
        return self._file.read(self._starts[end] - start)

    def _numbers(self, shown_id: str) -> list[int]:
        """The records that a compilation's report is made of, in torch's order."""
        record_numbers = self._records[shown_id]
        epoch = bisect_right(self._bounds, record_numbers[0]) - 1
        begin = self._bounds[epoch]
        end = self._bounds[epoch + 1] if epoch + 1 < len(self._bounds) else len(self)
        # Spans without an id end after the last record without one.
        bounds = (
            (begin, end - 1)
            if shown_id == NO_COMPILE_ID
            else (record_numbers[0], record_numbers[-1])
        )
        first, last = bisect_left(self._spans, bounds[0]), bisect_right(self._spans, bounds[1])
        numbers = {*record_numbers, *self._spans[first:last]}
        # Phases are timed relative to the earliest one, and guards refer to file names.
        numbers.update(itertools.islice(self._named(_SPAN, begin, end), 1))
        numbers.update(
            file_name.record for file_name in self._interned if begin <= file_name.record < end
        )
        if any(self._name_of(number) == _REASONS for number in record_numbers):
            frame = shown_id.rpartition("/")[0]
            for other, records in self._records.items():
                if other.rpartition("/")[0] == frame and begin <= records[0] < record_numbers[0]:
                    numbers.update(n for n in records if self._name_of(n) in _EARLIER)
        return sorted(numbers)

    def _named(self, name: bytes, begin: int, end: int) -> Iterator[int]:
        return (number for number in range(begin, end) if self._name_of(number) == name)

    def _parsed(self, numbers: Iterable[int], damages: DamagedLines) -> Iterator[Record]:
        interned: dict[int, str] = {}
        defined = 0
        for begin, end in _runs(numbers):
            while defined < len(self._interned) and self._interned[defined].record < begin:
                interned[self._interned[defined].number] = self._interned[defined].name
                defined += 1
            ids = self._unique_ids.ids[bisect_right(self._bounds, begin) - 1]
            for record in parse_records(self._bytes(begin, end), interned, self._year, damages):
                yield with_id(renamed(moved(record, self._shift_s), ids))


def _runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Sorted numbers as half-open ranges."""
    begin = end = -1
    for number in numbers:
        if number != end:
            if end > 0:
                yield begin, end
            begin = number
        end = number + 1
    if end > 0:
        yield begin, end
