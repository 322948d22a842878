"""Evaluates the guards of a subject's variants for other calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..isolation.code_swap import CodeCopies, CodeSet
from ..isolation.global_state import SavedModes, in_force
from ..report import VariantReport
from ..report.errors import CompilescopeError
from ..report.what_if import WhatIf
from ..torch_api.guards.guard_managers import live_guards
from ..torch_api.trace.entered_functions import entry_functions
from .evaluate_guards import evaluate_guards
from .kept_guards import EvaluableGuards, by_report_id, report_ids


def _lacking(variant: VariantReport) -> str:
    """Which guards of a variant are not known yet, as its compilations say."""
    lacking = (compilation.absent.get("added_guards") for compilation in variant.compilations)
    return next(filter(None, lacking), "")


class VariantGuards:
    """Keeps the guards of one subject's variants.

    Parameters
    ----------
    fn
        The subject, under every ``torch.compile``; ``name`` is what it is called.
    code copies
        Its functions, which run the code that the guards were made for while they are asked.
    """

    def __init__(self, fn: Callable[..., Any], name: str, code_copies: CodeCopies) -> None:
        self._fn = fn
        self._name = name
        self._code_copies = code_copies
        self._modes = SavedModes().now()
        self._askable: dict[str, EvaluableGuards] = {}

    def add(self, variant: str, askable: EvaluableGuards) -> None:
        """Adds a variant's guards in place of earlier ones."""
        self._askable[variant] = askable

    def drop_compiled(self, but: Callable[[CodeSet], bool]) -> None:
        """Frees what Dynamo compiled for variants that are no longer called.

        Parameters
        ----------
        but
            Whether a set of code is still needed.
        """
        for askable in list(self._askable.values()):
            if not but(askable.code_set):
                askable.drop_compiled()

    def has(self, variant: str) -> bool:
        """Whether a variant's guards are kept."""
        return variant in self._askable

    def ask(self, variant: VariantReport, args: Sequence[Any], kwargs: Mapping[str, Any]) -> WhatIf:
        """What a call would meet; torch's modes count as when the subject was inspected.

        Of what the user's own cell compiled, the compilations are asked that Dynamo still keeps.

        Raises
        ------
        CompilescopeError
            The variant has no guards here, or the call does not fit.
        """
        askable = self._askable.get(variant.name)
        compilations = {compilation.id: compilation for compilation in variant.compilations}
        with in_force(self._modes):
            if askable is not None:
                with askable.installed(self._code_copies):
                    guards = list(reversed(askable.guards.values()))
                    answer = evaluate_guards(
                        self._fn, self._name, args, kwargs, guards, compilations
                    )
                if answer.verdict == "reuse":
                    answer.why = " ".join(filter(None, [answer.why, _lacking(variant)]))
                return answer
            codes = [function.__code__ for function in entry_functions(self._fn)]
            live = by_report_id(
                (live_guard for code in codes for live_guard in live_guards(code)),
                report_ids(compilations),
            )
            guards = [live_guard for name, live_guard in live.items() if name in compilations]
            if not guards:
                raise CompilescopeError(
                    f"The guards of {variant.name!r} are not in the kernel.",
                    variant.absent.get("compilations", "Its code was dropped since."),
                    "Ask about a variant that compilescope compiled, or run the cell again.",
                )
            return evaluate_guards(self._fn, self._name, args, kwargs, guards, compilations)
