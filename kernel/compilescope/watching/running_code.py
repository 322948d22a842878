"""Records the compilations of the user's own code, which runs unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from ..analysis.assemble import assemble
from ..capture.live import loaded_files, recording
from ..capture.records import Record
from ..capture.renumber import numbers, renumber
from ..report import Compilation, Node
from ..torch_api.trace.graphs import collecting


class RecordedCompilations(msgspec.Struct, kw_only=True):
    """The recorded compilations; filled while the block runs."""

    records: list[Record] = []
    nodes: dict[str, list[Node]] = {}

    def compilations(self, name: str) -> list[Compilation]:
        """The recorded compilations, as those of a variant of this name."""
        assembled = assemble(
            renumber(self.records), variant=name, nodes=self.nodes, files=loaded_files()
        )
        counted = {new: old for old, new in numbers(self.records).items()}
        for compilation in assembled:
            if counted.get(compilation.id, compilation.id) != compilation.id:
                compilation.torch_id = counted[compilation.id]
        return assembled


@contextmanager
def watching() -> Iterator[RecordedCompilations]:
    """Records the compilations of the code in the block. Changes nothing about them."""
    watched = RecordedCompilations()
    with recording(watched.records, shared=True), collecting(watched.nodes):
        yield watched
