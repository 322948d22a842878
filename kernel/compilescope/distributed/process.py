"""The process of one rank: joins the group and inspects the call in step with the others.

All ranks make the same calls in the same order; otherwise one would wait in a collective for ever.
So nothing here has a time limit: measurements take a fixed number of rounds.
"""

from __future__ import annotations

import datetime
import pickle
import statistics
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress

import torch
import torch.distributed as dist

from ..analysis.figures.intervals import median_interval, ratio
from ..analysis.figures.speedups import speedup
from ..analysis.wrapper.collectives import find_collectives
from ..builds.built_variants import EAGER
from ..builds.subject_error import SubjectError, subjects_own
from ..inspection.inspection import Inspection
from ..isolation.object_walk import walk
from ..isolation.own_backward import Backward
from ..processes.child import ChildProcess, serve
from ..progress.progress import Monitor, Progress
from ..report import Report, Timing
from ..report.errors import CompilescopeError
from ..report.problem import Problem
from ..report.subjects.ranks import Rank
from ..report.variant import Variant
from ..subject.pickled_subject import unpack
from ..torch_api.failures import failures
from .collectives import collectives_outside
from .failed_ranks import FAILED_HERE, OTHER_ENDED, failed_report, named
from .rendezvous import store_of
from .votes import LEAVING, PATIENCE_S, OutOfStep, Votes

ROUNDS = 20
WARM_UP = 2


def work(inside: ChildProcess) -> bytes:
    """Inspects the call on this rank; returns the report as JSON."""
    header = inside.header
    variants, packed, build = pickle.loads(inside.task())
    inside.step("joining the group")
    device = _device(header["backend"], header["rank"])
    store = store_of(header)
    patience_s = min(PATIENCE_S, header["timeout_s"] / 4)
    votes = Votes(store, header["rank"], header["size"], patience_s)
    dist.init_process_group(
        header["backend"],
        store=store,
        rank=header["rank"],
        world_size=header["size"],
        timeout=datetime.timedelta(seconds=header["timeout_s"]),
    )
    rank = Rank(
        rank=header["rank"],
        size=header["size"],
        backend=header["backend"],
        device=device,
        group=header["group"],
    )
    inside.step("making the call")
    try:
        call = unpack(packed)
    except CompilescopeError as error:
        return _without_call(failed_report(rank, error.problem), votes, inside)
    except Exception as error:  # noqa: BLE001 - the factory may raise anything
        problem = failures.before_call(error, "The factory")
        return _without_call(failed_report(rank, problem), votes, inside)
    inspection = Inspection(*call)
    report = inspection.report
    report.rank = rank
    wait_s = _inspect(inspection, variants, inside, votes, build=build)
    report.rank.collectives += [
        collective
        for variant in report.variants
        for compilation in variant.compilations
        for collective in find_collectives(compilation, variant.name)
    ]
    subject = report.subject
    subject.id = f"{header['group']}-{header['rank']}"
    _leave(report, votes, wait_s, inside)
    return report.to_json().encode()


def _without_call(report: Report, votes: Votes, inside: ChildProcess) -> bytes:
    """Leaves the others, which may already be in the call, and returns the report as JSON."""
    votes.end(0.0)
    inside.step(LEAVING)
    return report.to_json().encode()


def _device(backend: str, rank: int) -> str:
    """The device of this rank; a GPU becomes the current device."""
    if "nccl" not in backend:
        return "cpu"
    number = rank % max(1, torch.cuda.device_count())
    torch.cuda.set_device(number)
    return f"cuda:{number}"


def _inspect(
    inspection: Inspection,
    variants: Mapping[str, Variant],
    inside: ChildProcess,
    votes: Votes,
    *,
    build: bool,
) -> float | None:
    """Inspects the call; returns how long to wait for the others afterwards (s), None for ever."""

    def report_step(now: Progress) -> None:
        inside.step(f"{now.step}, {now.variant}" if now.variant else now.step)

    reached = walk(inspection.fn, inspection.args, inspection.kwargs).tensors()
    backward = Backward(reached, has_gradients=False)

    def time_calls(
        calls: Mapping[str, Callable[[], object]], restore: Callable[[], None]
    ) -> dict[str, Timing]:
        rank = inspection.report.rank
        with subjects_own():
            for name, call in calls.items():
                if name != EAGER and rank is not None:
                    rank.collectives += collectives_outside(call, name, backward)
                    restore()
            return _in_step(calls, restore)

    monitor = Monitor(report_step)
    try:
        for name, variant in variants.items():
            inspection.sources.capture({name: variant}, monitor)
            inspection.sources.generate({name: variant}, monitor)
            votes.all(inspection.report.variant(name).stage != "failed")
        if build:
            inspection.build(list(variants), monitor, time_calls, votes)
    except OutOfStep as error:
        inspection.report.problems.append(_out_of_step(error, inspection.report))
        return 0.0
    except SubjectError as error:
        inspection.report.problems.append(failures.of_later_call(error.error))
        return votes.patience_s
    except OSError as error:  # such as a full disk
        inspection.report.problems.append(failures.explain(error))
        return votes.patience_s
    except Exception as error:  # noqa: BLE001 - what the report has by now is not lost
        inspection.results.fault(error)
        return votes.patience_s
    return None


def _out_of_step(error: OutOfStep, report: Report) -> Problem:
    if error.ended:
        return Problem(
            severity="error",
            what=OTHER_ENDED,
            why=f"{named(error.ranks)} had ended: the call failed there.",
            remedy="See the problems of that rank.",
        )
    problems = [
        problem
        for variant in report.variants
        if variant.stage == "failed"
        for problem in variant.problems
    ]
    failure = problems[-1] if problems else None
    return Problem(
        severity="error",
        what=FAILED_HERE,
        why=(
            f"{named(error.ranks)} did not come to the end of the call, and may wait in a "
            "collective that this rank does not call."
            + (f" Here the call failed: {failure.what}" if failure is not None else "")
        ),
        remedy=(failure.remedy if failure is not None else "") or "Make the call work here first.",
    )


def _in_step(
    calls: Mapping[str, Callable[[], object]], restore: Callable[[], None]
) -> dict[str, Timing]:
    """Times calls interleaved; all ranks make each call at the same time.

    Parameters
    ----------
    calls
        Name → call; the others are compared with the one named ``eager``.
    restore
        Restores the subject's state; called after every call.
    """
    on_gpu = dist.get_backend() == "nccl"
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(WARM_UP + ROUNDS):
        for name, call in calls.items():
            dist.barrier()
            start = time.perf_counter_ns()
            call()
            if on_gpu:
                torch.cuda.synchronize()
            took_us = (time.perf_counter_ns() - start) / 1000.0
            restore()
            if number >= WARM_UP:
                samples[name].append(took_us)
    timings, turns = {}, uuid.uuid4().hex[:12]
    for name, taken in samples.items():
        timing = Timing(
            turns=turns,
            median_us=statistics.median(taken),
            interval_us=median_interval(taken),
            samples_us=taken,
            warmup_calls=WARM_UP,
            device="cuda" if on_gpu else "cpu",
            threads=torch.get_num_threads(),
        )
        if name != EAGER:
            comparison = ratio(samples[EAGER], taken)
            timing.ratio, timing.ratio_interval = comparison.value, comparison.interval
            timing.differs, timing.speedup = comparison.differs, speedup(comparison, EAGER)
        timings[name] = timing
    return timings


def _leave(report: Report, votes: Votes, wait_s: float | None, inside: ChildProcess) -> None:
    """Leaves the group when all ranks have finished, or after ``wait_s``."""
    missing = votes.end(wait_s)
    if not missing:
        with suppress(RuntimeError):  # the report is complete, and the process ends
            dist.destroy_process_group()
        return
    inside.step(LEAVING)
    if not wait_s:
        return  # it was out of step, which is already reported
    report.problems.append(
        Problem(
            severity="warning",
            what="Not all ranks finished.",
            why=f"{named(missing)} did not, and may wait for this one.",
            remedy="See the other ranks' reports.",
        )
    )


if __name__ == "__main__":
    serve(work)
