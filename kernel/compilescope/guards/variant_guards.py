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


def _unknown_guards(variant: VariantReport) -> str:
    """Which guards of a variant are not known yet, in the words of its compilations."""
    reasons = (compilation.absent.get("added_guards") for compilation in variant.compilations)
    return next(filter(None, reasons), "")


class VariantGuards:
    """Keeps the guards of one subject's variants.

    Parameters
    ----------
    fn
        The subject, under every ``torch.compile``; ``name`` is what it is called.
    code_copies
        Its functions. While guards are evaluated, they run the code that the guards belong to.
    """

    def __init__(self, fn: Callable[..., Any], name: str, code_copies: CodeCopies) -> None:
        self._fn = fn
        self._name = name
        self._code_copies = code_copies
        self._modes = SavedModes().now()
        self._evaluable_guards: dict[str, EvaluableGuards] = {}

    def add(self, variant: str, evaluable_guards: EvaluableGuards) -> None:
        """Adds a variant's guards in place of earlier ones."""
        self._evaluable_guards[variant] = evaluable_guards

    def drop_compiled(self, but: Callable[[CodeSet], bool]) -> None:
        """Frees what Dynamo compiled for variants that are no longer called.

        Parameters
        ----------
        but
            Whether a set of code is still needed.
        """
        for evaluable_guards in list(self._evaluable_guards.values()):
            if not but(evaluable_guards.code_set):
                evaluable_guards.drop_compiled()

    def has(self, variant: str) -> bool:
        """Whether a variant's guards are kept."""
        return variant in self._evaluable_guards

    def what_if(
        self, variant: VariantReport, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> WhatIf:
        """Whether a call would reuse a compilation, in the modes of torch of the inspection.

        For code that the user's own cell compiled, the compilations that Dynamo still keeps count.

        Raises
        ------
        CompilescopeError
            The variant has no guards here, or the call does not fit.
        """
        evaluable_guards = self._evaluable_guards.get(variant.name)
        compilations = {compilation.id: compilation for compilation in variant.compilations}
        with in_force(self._modes):
            if evaluable_guards is not None:
                with evaluable_guards.installed(self._code_copies):
                    guards = list(reversed(evaluable_guards.guards.values()))
                    answer = evaluate_guards(
                        self._fn, self._name, args, kwargs, guards, compilations
                    )
                if answer.verdict == "reuse":
                    answer.why = " ".join(filter(None, [answer.why, _unknown_guards(variant)]))
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
