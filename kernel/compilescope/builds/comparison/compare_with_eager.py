"""Compares a variant's results with eager's: outputs, gradients, in-place changes."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ...isolation.muted_output import quiet
from ...isolation.saved_tensors import free_bytes
from ...isolation.user_state import Snapshot
from ...measure.numerics import IncomparableError, as_tensor, compare
from ...measure.rounding_errors import (
    ExactValues,
    accept_rounding_errors,
    compare_with_exact_values,
    why_unreliable,
)
from ...report import OutputError
from ...report.measurements.accuracy import SEVERAL, SINGLE, UNLIKE
from ...report.problem import GENERATOR, Problem, in_short
from ...report.references import is_reference
from ...report.variant import Variant
from ...torch_api.operators.double_precision import WIDER, with_double_precision
from ...torch_api.operators.other_rounding import with_other_rounding
from ...torch_api.operators.tensors import memory_of, plain
from ..aot_compiled import is_aot_compiled
from ..eager_call import in_eager
from ..subject_error import CALL_ERRORS, subjects_own
from .call_result import Outcome, outcome_of, with_changes
from .rank_agreement import ALONE, RankAgreement


class Reference:
    """The reference that variants are compared with: eager's outcome, and the same in float64.

    Parameters
    ----------
    fn, args, kwargs
        The subject's call.
    snapshot
        Its current state; restored after each call.
    agreement
        The ranks that decide together whether the call is repeated.
    backward
        Whether the backward of the outputs is part of the call.

    Attributes
    ----------
    outcome
        Eager's.
    random
        Whether the call draws random numbers from torch's own generators.
    why
        Why there is no reference in double precision, after an attempt.

    Raises
    ------
    SubjectError
        The call, or its backward, raised an exception.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        snapshot: Snapshot,
        agreement: RankAgreement = ALONE,
        *,
        backward: bool = True,
    ) -> None:
        self._call: Callable[[], Any] = lambda: fn(*args, **kwargs)
        self._snapshot = snapshot
        self._backward = snapshot.backward if backward else None
        self._agreement = agreement
        self._tried = False
        self._exact_values: ExactValues | None = None
        self._otherwise: dict[int, Mapping[str, Any]] = {}
        self._unlike: str | None = None
        self.why = ""
        self.unrepeatable = ""
        """Why the latest `compare` compared nothing; empty if it did."""
        self.outcome: Outcome
        self.random: bool
        try:
            if agreement is ALONE:
                in_eager(self._make_first_call, snapshot)
            else:  # all ranks call the subject equally often
                with snapshot.inner.direct():
                    self._make_first_call()
            with quiet():
                self.outcome = with_changes(self.outcome, snapshot)
        finally:
            snapshot.restore()

    def _make_first_call(self) -> None:
        before = _random_state()
        with quiet():
            with subjects_own():
                output = self._call()
            self.outcome = outcome_of(output, self._backward, subjects_own=subjects_own)
            self.random = not _same(_random_state(), before)

    def exact_values(self) -> ExactValues | None:
        """The values in float64, computed on first use. If None, `why` gives the reason."""
        if not self._tried:
            self._tried = True
            self._exact_values = self._computed()
        return self._exact_values

    def name(self, name: str) -> None:
        """Sets the name of the reference, as the report shows it."""
        if self._exact_values is not None:
            self._exact_values = self._exact_values._replace(name=name)

    def compare(self, outcome: Outcome, *, closely: bool = False) -> list[OutputError]:
        """Compares a variant's outcome with eager's.

        If a result exceeds its tolerance, both are also compared with eager in double precision:
        the error may be eager's. Results still out of tolerance are compared with eager runs that
        round differently: rounding alone may explain the error.

        Parameters
        ----------
        closely
            Whether to compare in double precision in any case.
        """
        self.unrepeatable = ""
        try:
            return self._compared(outcome, closely=closely)
        except IncomparableError as error:
            self.unrepeatable = f"{error}. Nothing is compared."
            return []
        except (torch.OutOfMemoryError, MemoryError):
            if self._agreement is not ALONE:  # other ranks may wait for a vote of this one
                raise
            self.unrepeatable = NO_MEMORY
            return []

    def _compared(self, outcome: Outcome, *, closely: bool) -> list[OutputError]:
        expected, actual = self._comparable(outcome)
        output_errors = compare(expected, actual)
        off = closely or any(not error.ok for error in output_errors)
        if not self._agreement.any(off):
            return output_errors
        wrong = any(not error.ok for error in output_errors)
        if self._agreement.any(wrong):
            unlike = self._second_call()
            if not self._agreement.all(not unlike):
                self.unrepeatable = unlike or UNREPEATABLE_ELSEWHERE
                return []
        exact_values = self.exact_values()
        if exact_values is not None:
            output_errors = compare_with_exact_values(expected, actual, exact_values)
        for seed in range(_ROUNDINGS):
            if not self._agreement.any(any(not error.ok for error in output_errors)):
                break
            accept_rounding_errors(output_errors, expected, actual, self._rounded_otherwise(seed))
        return output_errors

    def _comparable(self, outcome: Outcome) -> tuple[dict[str, Any], dict[str, Any]]:
        """Eager's values and those of another call, without those that only one of them has."""
        expected, actual = self.outcome.values(), outcome.values()
        # A call may write the same bits as before, which is no change.
        for path in self.outcome.changes.keys() ^ outcome.changes.keys():
            before = self._snapshot.before(path)
            if before is not None:
                expected.setdefault(path, before)
                actual.setdefault(path, before)
        left_out = self.consumed(outcome)
        if self.outcome.unchecked or outcome.unchecked:
            left_out += [*self.outcome.changes, *outcome.changes]
        if self.outcome.is_used_up != outcome.is_used_up:
            # Only one of them has run the outputs' backward twice.
            gradients = {**self.outcome.gradients, **outcome.gradients}
            left_out += [f"{path}.grad" for path in gradients]
        for path in left_out:
            expected.pop(path, None)
            actual.pop(path, None)
        return expected, actual

    def agrees(self, outcome: Outcome) -> bool | None:
        """Whether a variant's outcome agrees with eager's; None if that is not known."""
        output_errors = self.compare(outcome)
        if not all(error.ok for error in output_errors):
            return False
        return None if self.not_compared(outcome) else True

    def not_compared(self, outcome: Outcome) -> str:
        """Why `compare` left out results; empty if it compared all."""
        return self.unrepeatable or (GENERATOR if self.consumed(outcome) else "")

    def consumed(self, outcome: Outcome) -> list[str]:
        """The outputs that are generators in eager, and that the variant has computed."""
        outputs = outcome.outputs
        return [
            path
            for path, value in self.outcome.outputs.items()
            if isinstance(value, types.GeneratorType)
            and not isinstance(outputs.get(path), types.GeneratorType)
        ]

    def _second_call(self) -> str:
        """How a second call in eager differs from the first; empty if it does not.

        It may round differently: some CUDA kernels add in an order that changes from call to call.
        """
        if self._unlike is None:
            try:
                with quiet():
                    with self._snapshot.inner.direct():
                        outcome = outcome_of(self._call(), self._backward)
                    outcome = with_changes(outcome, self._snapshot)
            except CALL_ERRORS as error:
                self._unlike = SECOND_CALL_RAISED.format(in_short(error))
            else:
                errors = compare(*self._comparable(outcome), kernels=_ROUNDED_SUMS)
                self._unlike = "" if all(error.ok for error in errors) else UNREPEATABLE
            finally:
                self._snapshot.restore()
        return self._unlike

    def _rounded_otherwise(self, seed: int) -> Mapping[str, Any]:
        """Eager's values when each operator rounds differently; empty if a part of it cannot."""
        if seed not in self._otherwise:
            values: Mapping[str, Any] = {}
            try:
                with quiet(), self._snapshot.inner.direct(), with_other_rounding(seed) as mode:
                    outcome = outcome_of(self._call(), self._backward)
                    outcome = with_changes(outcome, self._snapshot)
                values = {} if mode.skipped else outcome.values()
            except CALL_ERRORS:  # the result stays out of tolerance
                values = {}
            finally:
                self._snapshot.restore()
            self._otherwise[seed] = values
        return self._otherwise[seed]

    def _computed(self) -> ExactValues | None:
        self.why = _no_room(self._snapshot)
        if self._agreement.any(bool(self.why)):
            self.why = self.why or NO_ROOM_ELSEWHERE
            return None
        snapshot, outcome = self._snapshot, None
        try:
            with quiet(), snapshot.inner.direct(), with_double_precision() as mode:
                outcome = outcome_of(self._call(), self._backward, mode.value_of)
                outcome = with_changes(outcome, snapshot, mode.value_of)
        except CALL_ERRORS as error:  # then there is no reference
            self.why = f"Eager did not run in float64: {in_short(error)}."
        finally:
            snapshot.restore()
        self._agreement.all(outcome is not None)
        if outcome is None:
            return None
        if mode.skipped:
            self.why = SKIPPED.format(", ".join(sorted(mode.skipped)))
            return None
        lone_operators = f"; by themselves: {', '.join(sorted(mode.alone))}" if mode.alone else ""
        values = {
            path: tensor
            for path, value in outcome.values().items()
            if isinstance(tensor := as_tensor(value, torch.float64), torch.Tensor)
            # What NumPy computed is as narrow as before.
            and tensor.dtype in (torch.float64, torch.complex128)
        }
        exact_values = ExactValues(values, f"eager in float64{lone_operators}")
        floats = {k: v for k, v in self.outcome.outputs.items() if _is_float(v)}
        self.why = why_unreliable(floats or self.outcome.values(), exact_values)
        return None if self.why else exact_values


def mismatch(wrong: Sequence[OutputError], variant: Variant) -> Problem:
    """The problem of a variant some of whose results are not ok."""
    remedy = _REPORT
    if is_reference(variant.backend):
        remedy = "Compare what your backend returns for a graph with what the graph returns."
    elif is_aot_compiled(variant):
        remedy = _INSPECT_FUNCTION
    elif not variant.uses_inductor:
        remedy = (
            "Compare it with the backend 'inductor'; if that is right, report it to the authors "
            f"of {variant.backend!r}."
        )
    worst = _worst(wrong)
    if worst.is_unlike:
        return Problem(
            severity="error",
            what=f"{worst.path} {UNLIKE}",
            why="A tolerance applies only to finite numbers of the same shape and dtype.",
            remedy=remedy,
        )
    return Problem(
        severity="error",
        what=f"{len(wrong)} {SEVERAL}" if len(wrong) > 1 else f"{worst.path} {SINGLE}",
        why=worst_difference(wrong),
        remedy=remedy,
    )


def worst_difference(wrong: Sequence[OutputError]) -> str:
    """The worst of some results that are not ok, and by how much it is off, in sentences."""
    worst = _worst(wrong)
    if worst.is_unlike:
        return f"{worst.path} {UNLIKE}"
    why = (
        f"{worst.path}: off by {worst.max_abs:.3g} (relative {worst.max_rel:.3g}); allowed are "
        f"{worst.tolerance_abs:.3g} + {worst.tolerance_rel:.3g} times the value ({worst.dtype})."
    )
    if worst.reference_abs is not None and worst.eager_reference_abs is not None:
        why += (
            f" From the result in float64 it is off by {worst.reference_abs:.3g}, eager by "
            f"{worst.eager_reference_abs:.3g}."
        )
    if worst.other_rounding_abs is not None:
        why += f" Rounding alone changes eager's result by up to {worst.other_rounding_abs:.3g}."
    return why


def _worst(wrong: Sequence[OutputError]) -> OutputError:
    return max(wrong, key=lambda error: (error.is_not_finite, error.max_abs))


def _random_state() -> list[torch.Tensor]:
    """The states of the random generators of every device in use."""
    states = [torch.get_rng_state()]
    if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        states += torch.cuda.get_rng_state_all()
    return states


def _same(now: Sequence[torch.Tensor], before: Sequence[torch.Tensor]) -> bool:
    # The call may be the first to start CUDA: then there are more generators than before.
    return len(now) == len(before) and all(map(torch.equal, now, before))


def _no_room(snapshot: Snapshot) -> str:
    """Why there is not enough memory for the subject in double precision; empty if there is."""
    needed: dict[torch.device, int] = {}
    storages: set[int] = set()
    for tensor in snapshot.tensors.values():
        if tensor.layout != torch.strided or tensor.is_meta or tensor.dtype not in WIDER:
            continue
        with plain():
            storage, size = memory_of(tensor)
        if storage not in storages:
            storages.add(storage)
            size = size // tensor.itemsize * WIDER[tensor.dtype].itemsize
            needed[tensor.device] = needed.get(tensor.device, 0) + size
    for device, size in needed.items():
        free = free_bytes(device)
        if size > free / 2:
            return (
                f"In float64 the subject's tensors would take {size / 2**30:.1f} GiB on {device}: "
                f"more than half of the {free / 2**30:.1f} GiB that are free."
            )
    return ""


def _is_float(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype in WIDER


UNREPEATABLE = (
    "Two calls in eager, from the same state, give different results: the call reads a clock, an "
    "iterator, a file or memory that nothing has written. Nothing is compared."
)
SECOND_CALL_RAISED = (
    "A second call in eager, from the same state, raised {}; the first did not. Nothing is "
    "compared."
)
UNREPEATABLE_ELSEWHERE = (
    "On another rank, a second call in eager does not repeat the first. Nothing is compared."
)
_ROUNDINGS = 8
"""The most runs of eager with other rounding: in a single one, a value seldom crosses zero."""
_ROUNDED_SUMS = 1024
"""A second call may differ as much as after so many kernels: by 32 times the tolerance."""
NO_MEMORY = "Comparing in float64 needs more memory than is free. Nothing is compared."
SKIPPED = "Operators that call functions did not run in float64: {}."
NO_ROOM_ELSEWHERE = "Another rank has too little memory for the subject's tensors in float64."
_INSPECT_FUNCTION = (
    "Inspect the function that aot_compile compiled: the accuracy study of its variant finds the "
    "first kernel whose result is wrong."
)
TO_PYTORCH = "Report it to PyTorch."
_REPORT = (
    "Run the accuracy study: it finds the first kernel whose result is wrong. Then report "
    "it to PyTorch."
)
