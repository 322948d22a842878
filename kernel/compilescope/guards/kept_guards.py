"""Guards of a variant, kept to evaluate them for other calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

import msgspec

from ..isolation.code_swap import CodeCopies, CodeSet
from ..report import Compilation
from ..torch_api.guards.guard_managers import KeptGuards, forget_compiled
from ..torch_api.guards.size_guard_lines import SizeGuards


class EvaluableGuards(msgspec.Struct, kw_only=True):
    """The guards that Dynamo made for a variant.

    Guards compare code objects by identity, and the functions ran copies of their code when Dynamo
    made the guards. So they run these copies while the guards are evaluated. What Dynamo compiled
    for the copies is dropped, to free memory.
    """

    guards: dict[str, KeptGuards] = {}
    """Compile id as in the report → its guards, in the order in which they were made."""
    code_set: CodeSet

    @contextmanager
    def installed(self, code_copies: CodeCopies) -> Iterator[None]:
        """Has the functions run the code that the guards belong to."""
        with code_copies.guarded():
            code_copies.install(self.code_set)
            yield

    def with_sizes(self, sizes: Mapping[str, SizeGuards]) -> EvaluableGuards:
        """The same with the guards that a variant's code generation adds, by compile id."""
        return msgspec.structs.replace(
            self,
            guards={
                name: msgspec.structs.replace(guards, sizes=sizes.get(name))
                for name, guards in self.guards.items()
            },
        )

    def drop_compiled(self) -> None:
        """Drops what Dynamo compiled for the code, once it is no longer called."""
        forget_compiled(self.code_set)


def report_ids(compilations: Mapping[str, Compilation]) -> dict[str, str]:
    """Torch's compile ids → the report's, of compilations by the report's id."""
    return {
        compilation.torch_id: name
        for name, compilation in compilations.items()
        if compilation.torch_id
    }


def by_report_id(
    all_guards: Iterable[KeptGuards], numbers: Mapping[str, str]
) -> dict[str, KeptGuards]:
    """Guards by the ids that the report has.

    Parameters
    ----------
    all_guards
        As they were made; of a frame that was compiled in several attempts the last one counts.
    numbers
        Torch's ids → the report's; see `capture.renumber`.
    """
    result = {}
    for guards in all_guards:
        guards.compile_id = numbers.get(guards.compile_id, guards.compile_id)
        result[guards.compile_id] = guards
    return result
