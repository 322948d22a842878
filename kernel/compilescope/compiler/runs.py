"""Variants built, checked against eager and timed side by side."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from ..analysis.compile_time import split
from ..measure.numerics import compare
from ..measure.timing import time_calls
from ..problem import Problem
from ..report import OutputError, VariantReport
from ..torch_api import caches, failures, workers
from ..torch_api.compiling import ISOLATES, differing_settings, settings_of
from ..torch_api.dynamo import isolated
from ..variant import Variant
from .askable import Askable
from .building import Built, build
from .guard_costs import add_guard_costs
from .outcome import Outcome, outcome_of
from .progress import Monitor
from .quiet import quiet
from .remarks import remarks
from .state import Snapshot
from .wardrobe import Wardrobe
from .warming import add_warm

SECONDS_PER_VARIANT = 0.4
"""How long a variant is timed. A second look comes later; this is for the cell's first answer."""


def run_variants(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    variants: Mapping[str, Variant],
    wardrobe: Wardrobe,
    snapshot: Snapshot,
    monitor: Monitor,
    keep: Callable[[str, Askable], None] = lambda name, askable: None,
) -> Iterator[VariantReport]:
    """Yields a report for each variant once it is built, and again once all are timed.

    The caller keeps ``snapshot``: every variant starts from it. ``keep`` is given a variant's name
    and its guards, which may be asked when all is done.
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
            reference = outcome_of(fn(*args, **kwargs), gradients)
    except Exception as error:  # noqa: BLE001 - it is every variant's problem
        for name, variant in variants.items():
            yield _failed(name, variant, failures.own(error))
        return
    finally:
        random = _random_state() != before
        snapshot.restore()

    reports: dict[str, VariantReport] = {}
    calls: dict[str, Callable[[], object]] = {"eager": lambda: fn(*args, **kwargs)}
    outfits = {}
    shared = wardrobe.outfit() if ISOLATES else None
    with wardrobe.guarded(), isolated(), workers.borrowed():
        for index, (name, variant) in enumerate(variants.items()):
            if variant.backend is None:
                reports[name] = VariantReport(name=name, requested=variant, stage="built")
                continue
            monitor.step("building", variant=name, fraction=index / (len(variants) + 1))
            make = functools.partial(
                build, fn, args, kwargs, name=name, variant=variant, gradients=gradients
            )
            try:
                with _folder() as folder:
                    outfit = shared or wardrobe.outfit()
                    built = make(wardrobe=wardrobe, outfit=outfit, folder=folder)
                    snapshot.restore()
                    if built.askable is not None:
                        add_guard_costs(built.compilations, built.askable.guards)
                        keep(name, built.askable)
                    reports[name] = _report(built, variant, reference, random=random)
                    if built.problem is None:
                        calls[name] = _bound(built.call, args, kwargs)
                        outfits[name] = built.outfit
                    yield reports[name]
                    if built.problem is None and variant.backend == "inductor":
                        monitor.step(
                            "compiling again, with warm caches",
                            variant=name,
                            fraction=(index + 0.8) / (len(variants) + 1),
                        )
                        again = wardrobe.outfit()
                        add_warm(
                            reports[name], make(wardrobe=wardrobe, outfit=again, folder=folder)
                        )
                        wardrobe.wear(outfit)
                        yield reports[name]
            except OSError as error:
                yield _failed(name, variant, failures.explain(error))
            finally:
                snapshot.restore()

        monitor.step("timing", fraction=len(variants) / (len(variants) + 1))

        def dress(name: str) -> None:
            if name in outfits:
                wardrobe.wear(outfits[name])

        with quiet():
            timings = time_calls(
                calls,
                budget_s=SECONDS_PER_VARIANT * len(calls),
                before_each=None if ISOLATES else dress,
                cancelled=lambda: monitor.cancelled,
            )
        monitor.check()
        for name, report in reports.items():
            if name in calls or report.requested.backend is None:
                report.timing = timings[name if name in timings else "eager"]
                yield report
        if all(variant.backend is not None for variant in variants.values()):
            # What the others are compared to is there to be seen.
            yield VariantReport(
                name="eager",
                requested=Variant(backend=None),
                stage="built",
                timing=timings["eager"],
                absent={"compilations": "Eager compiles nothing."},
            )


def _bound(
    call: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Callable[[], object]:
    return lambda: call(*args, **kwargs)


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


NOTHING_TO_COMPARE = (
    "The call returns nothing and leaves no gradient. What it changes in place is not compared."
)

RANDOM = (
    "The subject draws random numbers, and Inductor's code draws others than eager. "
    "With options={'fallback_random': True} both draw the same, and are compared."
)
