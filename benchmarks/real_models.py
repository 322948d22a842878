"""How long the sources of real models take, against torch's own capture and code generation.

    python benchmarks/real_models.py [--repeats 1] [--subjects gpt-256 resnet-50] [--layers 2]
    python benchmarks/real_models.py --subjects gpt2 --only forward --clock wall
        --kinds one both calls run --variants python cpp reduce-overhead dynamic
    python benchmarks/real_models.py --subjects gpt2 --only forward --clock wall
        --kinds one both --extension --repeats 5

Each measurement in a process of its own, in turns:

- ``torch``: ``torch.compile``'s own way to the Python wrapper, from the call to the generated code
  of forward and backward; nothing is built.
- ``one`` and ``both``: ``compilescope.inspect(..., run=False)`` with the Python wrapper alone
  (``configure(ahead_mb=0)``: nothing is generated ahead), and with both.
- ``ahead``: as ``one`` by default: the C++ wrapper is generated too, ahead, where that can be.
- ``flip``: what the panel asks once ``cpp_wrapper`` is turned on after ``ahead``, to the C++ code.
  The panel has shown that report before.
- ``dynamic``: what the panel asks once ``dynamic`` is turned on after ``one``, to the code, in this
  process and in the one that captures the graphs, which runs already. ``torch-dynamic``: as
  ``torch``, with ``dynamic=True``.
- with ``--build``, ``calls``: the first calls of ``torch.compile`` with each of the variants,
  built; ``run``: ``compilescope.inspect`` with the same variants, built, compared and timed; and
  ``shown``: the same while a panel shows the report, which has the sources generated first.
  ``run less measurements`` leaves out the calls that are timed, which take as long as they are told
  to, whatever the model, and the compilations with warm caches: torch's first calls have neither.

With ``--extension``, torch's compile workers, which ``%load_ext compilescope`` starts on a machine
with a GPU, are ready when the clock starts, as in a notebook whose first cells took ten seconds.

Before the clock starts every process imports both packages and inspects a tiny function. The
figures are ratios of medians, and seconds of ``flip``: a row's processes ran in the same minutes on
the same machine. The clock is processor time. OpenMP's threads sleep while they wait
(``OMP_WAIT_POLICY``, unless it is set): threads that spin would count as work, the more the busier
the machine is. For models on a GPU (``gpt2``, in half precision) it is the wall clock, on a machine
with nothing else to do: the processes in which torch compiles Triton kernels live on, and the
system counts a process's time when it ends.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest import mock

import psutil
from sources import _empty_cache

SOURCES = ("torch", "one", "both", "ahead", "flip", "torch-dynamic", "dynamic")
BUILDS = ("calls", "run", "shown")
VARIANTS: dict[str, dict[str, Any]] = {
    "python": {},
    "cpp": {"cpp_wrapper": True},
    "reduce-overhead": {"mode": "reduce-overhead"},
    "dynamic": {"dynamic": True},
}
"""Name → the fields of its ``compilescope.Variant``."""
RATIOS = {
    "one/torch": ("one", "torch"),
    "both/one": ("both", "one"),
    "ahead/torch": ("ahead", "torch"),
    "dynamic/torch": ("dynamic", "torch-dynamic"),
    "run/calls": ("run", "calls"),
    "shown/calls": ("shown", "calls"),
}


LESS_MEASUREMENTS = {
    "run less measurements/calls": ("run", "calls"),
    "shown less measurements/calls": ("shown", "calls"),
}


class Taken(NamedTuple):
    """The seconds of a measurement."""

    seconds: float
    measurements: float
    """The part of them in which calls were timed, and variants compiled with warm caches."""


def main() -> None:
    """Measures, and prints a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--subjects", nargs="+", help="gpt-256, gpt-768, resnet-50, llama or gpt2")
    parser.add_argument("--layers", type=int, help="fewer layers than the models have")
    parser.add_argument("--only", choices=("forward", "training"), help="one of the two")
    parser.add_argument(
        "--build", action="store_true", help="also first calls and whole inspections"
    )
    parser.add_argument(
        "--kinds", nargs="+", choices=(*SOURCES, *BUILDS), help="what is measured; by default all"
    )
    parser.add_argument(
        "--variants",
        nargs="+",
        choices=VARIANTS,
        default=["python", "cpp"],
        help="the variants of calls and run",
    )
    parser.add_argument(
        "--extension", action="store_true", help="compile workers run, as after %%load_ext"
    )
    parser.add_argument("--clock", choices=CLOCKS, default="processor")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        subject, step, kind = options.measure
        measure(subject, step, kind, options)
        return
    kinds = options.kinds or (*SOURCES, *(BUILDS if options.build else ()))
    ratios = {name: pair for name, pair in RATIOS.items() if set(pair) <= set(kinds)}
    less_measurements = {
        name: pair for name, pair in LESS_MEASUREMENTS.items() if set(pair) <= set(kinds)
    }
    heads = [*ratios, *less_measurements, *(["flip"] if "flip" in kinds else [])]
    print(" " * 19, " ".join(f"{head:>11}" for head in heads))
    for subject in options.subjects or ["gpt-256", "gpt-768", "resnet-50", "llama"]:
        for step in [options.only] if options.only else ["forward", "training"]:
            taken: dict[str, list[Taken]] = {kind: [] for kind in kinds}
            for repeat in range(options.repeats):
                turn = repeat % len(kinds)
                for kind in kinds[turn:] + kinds[:turn]:
                    latest = _in_a_process(subject, step, kind)
                    taken[kind].append(latest)
                    line = f"{latest.seconds:.2f} s"
                    if latest.measurements:
                        line += f", measurements {latest.measurements:.2f} s of it"
                    print(subject, step, kind, line, file=sys.stderr, flush=True)
            median = {
                kind: statistics.median(first_call.seconds for first_call in first_calls)
                for kind, first_calls in taken.items()
            }
            unmeasured = {
                kind: statistics.median(
                    first_call.seconds - first_call.measurements for first_call in first_calls
                )
                for kind, first_calls in taken.items()
            }
            figures = [median[over] / median[under] for over, under in ratios.values()]
            figures += [
                unmeasured[over] / median[under] for over, under in less_measurements.values()
            ]
            figures += [median["flip"]] if "flip" in kinds else []
            row = " ".join(
                f"{figure:{max(11, len(head))}.2f}"
                for head, figure in zip(heads, figures, strict=True)
            )
            print(f"{subject:10} {step:8} {row}", flush=True)


def measure(subject: str, step: str, kind: str, options: argparse.Namespace) -> None:
    """One measurement, in this process; prints the seconds as JSON, see `Taken`."""
    import compilescope
    import torch
    from compilescope.torch_api.inductor import workers
    from real_subjects import SUBJECTS
    from subjects import tiny

    torch.manual_seed(0)
    if kind in ("one", "dynamic"):
        compilescope.configure(ahead_mb=0)
    begin: dict[str, Callable[..., None]] = {"flip": _show, "dynamic": _show_beside_a_process}
    run: dict[str, Callable[..., None]] = {
        "torch": _torch,
        "torch-dynamic": lambda fn, args: _torch(fn, args, dynamic=True),
        "flip": lambda fn, args: _flip(cpp_wrapper=True),
        "dynamic": lambda fn, args: _flip(dynamic=True),
        "one": lambda fn, args: _inspect(fn, args, ("python",), run=False),
        "both": lambda fn, args: _inspect(fn, args, ("python", "cpp"), run=False),
        "ahead": lambda fn, args: _inspect(fn, args, ("python",), run=False),
        "calls": lambda fn, args: _calls(fn, args, options.variants),
        "run": lambda fn, args: _inspect(fn, args, options.variants, run=True),
        "shown": lambda fn, args: _inspect(fn, args, options.variants, run=True, is_shown=True),
    }
    if options.extension:
        workers.start_early()
    fn, args = SUBJECTS[subject](step == "training", options.layers)
    device = next(arg.device for arg in args)
    if options.extension:
        workers.wait_until_ready()
    with _empty_cache(), device:
        _inspect(*tiny(), ("python", "cpp"), run=False)
    clock = CLOCKS[options.clock]
    with _empty_cache():
        if kind in begin:
            begin[kind](fn, args)
        start = clock()
        with _measurements_counted(clock) as measurements:
            run[kind](fn, args)
        if device.type == "cuda":
            torch.cuda.synchronize()
        print(json.dumps(Taken(clock() - start, sum(measurements))))


@contextmanager
def _measurements_counted(clock: Callable[[], float]) -> Iterator[list[float]]:
    """Collects the seconds in which compilescope measures in the block, see `Taken`."""
    from compilescope.builds import build_and_time, warm_rebuild

    seconds: list[float] = []

    def counted(measure: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            start = clock()
            try:
                return measure(*args, **kwargs)
            finally:
                seconds.append(clock() - start)

        return call

    time_variants = counted(build_and_time.time_variants)
    rebuild = counted(warm_rebuild.rebuild)
    with (
        mock.patch("compilescope.inspection.first_timings.time_variants", time_variants),
        mock.patch("compilescope.builds.warm_rebuild.rebuild", rebuild),
    ):
        yield seconds


def _processor_time() -> float:
    """Of this process and of those that it started: C++ compilers, those that generate code."""
    times = os.times()
    alive = [child.cpu_times() for child in psutil.Process().children()]
    ended = times.children_user + times.children_system
    return times.user + times.system + ended + sum(child.user + child.system for child in alive)


CLOCKS: dict[str, Callable[[], float]] = {"processor": _processor_time, "wall": time.perf_counter}


def _inspect(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    variants: Sequence[str],
    *,
    run: bool,
    is_shown: bool = False,
) -> None:
    import compilescope
    from compilescope.session.session import get_session

    session = get_session()
    session.is_shown = lambda: is_shown
    given = {name: compilescope.Variant(**VARIANTS[name]) for name in variants}
    report = session.inspect(fn, args, variants=given, run=run)
    problems = [problem for variant in report.variants for problem in variant.problems]
    if any(problem.severity == "error" for problem in problems):
        raise SystemExit(str(problems))


def _show(fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Inspects with the Python wrapper, and asks what a panel that shows the report asks."""
    from compilescope.comms import commands, messages
    from compilescope.session.session import get_session

    _inspect(fn, args, ("python",), run=False)
    session = get_session()
    commands.get_report(session, messages.GetReport(subject=list(session.inspections)[-1]))


def _show_beside_a_process(fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """As `_show`, once the process that captures graphs has done so for another subject."""
    from subjects import tiny

    _show(*tiny())
    _flip(dynamic=True)
    _show(fn, args)


def _flip(**change: Any) -> None:
    """Flips a switch for what was inspected last, in a thread, as a subshell is one."""
    with ThreadPoolExecutor(1) as threads:
        threads.submit(_ask_for, change).result()


def _ask_for(change: Mapping[str, Any]) -> None:
    from compilescope.comms import commands, messages
    from compilescope.report.variant import Variant
    from compilescope.session.session import get_session

    session = get_session()
    subject = list(session.inspections)[-1]
    asked = messages.AddVariant(subject=subject, variant=Variant(**change))
    answer = commands.add_variant(session, asked)
    while answer.job is not None:
        if answer.code:
            raise SystemExit("The kernel's main thread is needed.")
        time.sleep(0.05)
        answer = commands.add_variant(session, asked)
    commands.get_report(session, messages.GetReport(subject=subject))
    shown = commands.get_variant(session, messages.GetVariant(subject=subject, variant=answer.name))
    [compilation] = shown.variant.compilations
    commands.get_artifact(
        session,
        messages.GetArtifact(
            subject=subject,
            variant=answer.name,
            compilation=compilation.id,
            artifact="cpp" if "cpp_wrapper" in change else "python",
        ),
    )


def _calls(fn: Callable[..., Any], args: tuple[Any, ...], variants: Sequence[str]) -> None:
    import torch

    for name in variants:
        torch.compiler.reset()
        given = dict(VARIANTS[name])
        if given.pop("cpp_wrapper", False):
            given["options"] = {"cpp_wrapper": True}
        output = torch.compile(fn, **given)(*args)
        if output.requires_grad:
            output.backward()


class _GeneratedError(Exception):
    pass


def _torch(fn: Callable[..., Any], args: tuple[Any, ...], dynamic: bool | None = None) -> None:
    """The first call of ``torch.compile``, which ends before anything is built."""
    from types import SimpleNamespace

    import torch
    from torch._functorch import config as functorch_config
    from torch._inductor import config
    from torch._inductor.graph import GraphLowering

    def generate(graph: Any) -> Any:
        graph.codegen()
        return SimpleNamespace(
            call=_not_built,
            runner=SimpleNamespace(recursively_apply_fns=lambda wrappers: None, partitions=[]),
            __file__=None,
            __name__="generated",
        )

    with (
        mock.patch.object(GraphLowering, "compile_to_module", generate),
        functorch_config.patch(enable_autograd_cache=False, force_non_lazy_backward_lowering=True),
        config.patch(fx_graph_cache=False),
    ):
        try:
            torch.compile(fn, dynamic=dynamic)(*args)
        except _GeneratedError:
            return
    raise SystemExit("torch did not call what it generated")


def _not_built(*_: Any) -> None:
    raise _GeneratedError


def _in_a_process(subject: str, step: str, kind: str) -> Taken:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, __file__, *sys.argv[1:], "--measure", subject, step, kind],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env={"OMP_WAIT_POLICY": "PASSIVE", **os.environ, "TMPDIR": folder},
        )
    return Taken(*json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main()
