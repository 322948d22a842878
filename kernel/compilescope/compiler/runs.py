"""Variants built, checked against eager and timed side by side."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch

from ..analysis.compile_time import split
from ..measure.numerics import compare
from ..measure.timing import time_calls
from ..problem import Problem
from ..report import OutputError, Timing, VariantReport
from ..torch_api import caches, failures
from ..torch_api.compiling import differing_settings, settings_of
from ..variant import Variant
from .askable import Askable
from .building import Built, build
from .guard_costs import add_guard_costs
from .kept import EAGER, Kept
from .outcome import Outcome, outcome_of
from .progress import Monitor
from .quiet import quiet
from .remarks import remarks
from .state import Snapshot
from .steady import State
from .warming import add_warm

SECONDS_PER_VARIANT = 0.4
"""How long a variant is timed. A second look comes later; this is for the cell's first answer."""


def build_variants(
    kept: Kept,
    variants: Mapping[str, Variant],
    snapshot: Snapshot,
    monitor: Monitor,
    keep: Callable[[str, Askable], None] = lambda name, askable: None,
) -> Iterator[VariantReport]:
    """Builds and checks variants; yields the report of each as it grows.

    The caller keeps ``snapshot``, from which every variant starts, and has ``kept`` open, which has
    the builds afterwards. ``keep`` is given a variant's name and its guards, which may be asked
    when all is done.
    """

    def gradients() -> dict[str, torch.Tensor]:
        return {
            path: tensor.grad
            for path, tensor in snapshot.tensors.items()
            if tensor.is_leaf and tensor.grad is not None
        }

    monitor.step("running eager", variant="eager", fraction=0.0)
    before = _random_state()
    try:
        with quiet():
            reference = outcome_of(kept.fn(*kept.args, **kept.kwargs), gradients)
    except Exception as error:  # noqa: BLE001 - it is every variant's problem
        for name, variant in variants.items():
            yield _failed(name, variant, failures.own(error))
        return
    finally:
        random = _random_state() != before
        snapshot.restore()

    for index, (name, variant) in enumerate(variants.items()):
        if variant.backend is None:
            yield VariantReport(
                name=name, requested=variant, stage="built", absent={"compilations": NOTHING}
            )
            continue
        monitor.step("building", variant=name, fraction=index / (len(variants) + 1))
        make = functools.partial(
            build, kept.fn, kept.args, kept.kwargs, name=name, variant=variant, gradients=gradients
        )
        kept.begin(name)
        try:
            with _folder() as folder:
                outfit = kept.outfit()
                built = make(wardrobe=kept.wardrobe, outfit=outfit, folder=folder)
                snapshot.restore()
                if built.askable is not None:
                    add_guard_costs(built.compilations, built.askable.guards)
                    keep(name, built.askable)
                report = _report(built, variant, reference, random=random)
                if built.problem is None:
                    kept.add(built, variant)
                yield report
                if built.problem is None and variant.backend == "inductor":
                    monitor.step(
                        "compiling again, with warm caches",
                        variant=name,
                        fraction=(index + 0.8) / (len(variants) + 1),
                    )
                    again = kept.wardrobe.outfit()
                    add_warm(report, make(wardrobe=kept.wardrobe, outfit=again, folder=folder))
                    kept.wardrobe.wear(outfit)
                    yield report
        except OSError as error:
            yield _failed(name, variant, failures.explain(error))
        finally:
            snapshot.restore()


def time_variants(
    kept: Kept, names: Sequence[str], snapshot: Snapshot, monitor: Monitor
) -> dict[str, Timing]:
    """Times builds in turns with eager.

    The subject's state is put back before every batch where a call changes some.

    Parameters
    ----------
    names
        Of builds that are kept; the caller has ``kept`` open.

    Returns
    -------
    dict[str, Timing]
        By name; also of ``"eager"``.
    """
    calls = {name: kept.call(name) for name in dict.fromkeys([EAGER, *names])}
    monitor.step("timing", fraction=len(names) / (len(names) + 1))
    state = State(kept, snapshot)
    with quiet():
        timings = time_calls(
            calls,
            budget_s=SECONDS_PER_VARIANT * len(calls),
            before_each=state.before_each,
            cancelled=lambda: monitor.cancelled,
        )
    monitor.check()
    for timing in timings.values():
        timing.keeping, timing.changes = state.keeping, list(state.changes)
    return timings


def _random_state() -> list[bytes]:
    """Where the random generators of every device in use stand."""
    states = [torch.get_rng_state()]
    if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        states += torch.cuda.get_rng_state_all()
    return [state.numpy().tobytes() for state in states]


@contextmanager
def _folder() -> Iterator[Path]:
    """A cache folder for one build. What was loaded from it stays usable after it is gone."""
    folder = caches.new_folder()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _report(built: Built, variant: Variant, reference: Outcome, *, random: bool) -> VariantReport:
    report = VariantReport(
        name=built.name,
        requested=variant,
        stage="built",
        config=differing_settings(settings_of(variant)) if variant.backend == "inductor" else {},
        effective=built.effective,
        compilations=built.compilations,
    )
    if built.problem is not None:
        report.stage = "failed"
        report.problems.append(built.problem)
        return report
    report.compile_time = split(built.compilations, built.first_call_s)
    report.problems += remarks(built.compilations)
    if random and "fallback_random" not in report.config and variant.backend == "inductor":
        report.absent["accuracy"] = RANDOM
    elif built.outcome is not None:
        report.accuracy = _accuracy(reference, built.outcome)
        if not report.accuracy:
            report.absent["accuracy"] = NOTHING_TO_COMPARE
        wrong = [error for error in report.accuracy if not error.ok]
        if wrong:
            report.problems.append(_mismatch(wrong))
    return report


def _accuracy(reference: Outcome, outcome: Outcome) -> list[OutputError]:
    expected = {**reference.outputs, **_named(reference.gradients)}
    actual = {**outcome.outputs, **_named(outcome.gradients)}
    return compare(expected, actual)


def _named(gradients: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {f"{path}.grad": gradient for path, gradient in gradients.items()}


def _mismatch(wrong: Sequence[OutputError]) -> Problem:
    worst = max(wrong, key=lambda error: error.max_abs)
    return Problem(
        severity="error",
        what=f"{len(wrong)} outputs or gradients differ from eager's by more than their tolerance."
        if len(wrong) > 1
        else f"{worst.path} differs from eager's by more than its tolerance.",
        why=f"{worst.path}: off by {worst.max_abs:.3g} (relative {worst.max_rel:.3g}); allowed are "
        f"{worst.tolerance_abs:.3g} + {worst.tolerance_rel:.3g} times the value ({worst.dtype}).",
        remedy="Compare in float64; if it differs there too, report it to PyTorch.",
    )


def _failed(name: str, variant: Variant, problem: Problem) -> VariantReport:
    return VariantReport(name=name, requested=variant, stage="failed", problems=[problem])


NOTHING = "Eager compiles nothing."
NOTHING_TO_COMPARE = (
    "The call returns nothing and leaves no gradient. What it changes in place is not compared."
)

RANDOM = (
    "The subject draws random numbers, and Inductor's code draws others than eager. "
    "With options={'fallback_random': True} both draw the same, and are compared."
)
