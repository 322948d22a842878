"""The study of steps: what each step of a variant's wrapper costs the host."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import torch

from ..analysis.wrapper.launches import artifact_of, codes_of
from ..analysis.wrapper.split import split
from ..builds.build import Built
from ..builds.comparison.call_result import outcome_of
from ..isolation.muted_output import quiet
from ..measure.garbage_collection import gc_disabled
from ..measure.steps import StepTimes, step_times, take_rounds
from ..report import Compilation, Step, Steps, WrapperLanguage, sum_kinds
from ..torch_api.dynamo.compiled_graphs import KeptGraph
from ..torch_api.inductor.wrappers.marked_wrappers import (
    MarkedWrapper,
    marked_cpp,
    marked_python,
    marking,
)
from ..torch_api.process import caches
from ..torch_api.process.devices import waiting_for
from .builds import build_for
from .context import StudyContext
from .step_marks import MarkedText, marked

SECONDS = 2.0
"""About how long calls of all graphs are timed."""
_WARM = 3
_TOLERANCE = 0.1

NOT_BUILT = "The variant could not be rebuilt with clock reads in its wrapper. {}"
CUDA_GRAPHS = "A CUDA graph is replayed instead of the wrapper: its steps do not run."
NOT_RUN = "The measured call did not run this graph."
NOT_MARKED = "Clock reads cannot be inserted into this wrapper."
OTHER_STEPS = "The instrumented build has different steps than the code shown."
NOT_REACHED = "{} of the {} steps were not executed: a branch that was not taken."
STEPS_DISAGREE = (
    "The steps add up to {sum:.1f} µs, but the uninstrumented call takes {whole:.1f} µs. The cost "
    "of each clock read, {mark:.0f} ns, is subtracted; its effect on neighboring steps is not. "
    "A loop's steps count once."
)
HOW: dict[WrapperLanguage, str] = {
    "python": "The clock is read before each step, in a copy of the wrapper; the median of "
    "{rounds} calls, less {mark:.0f} ns for reading the clock.",
    "cpp": "The clock is read before each step, in a wrapper that was built to do so; the median "
    "of {rounds} calls, less {mark:.0f} ns for reading the clock.",
}
ON_CPU = "A kernel on a CPU runs within its launch."
ON_GPU = "On a GPU, a launch only enqueues the kernel; the kernel's own time is not included."
INTO_CPP = "Includes the call from Python into C++: the inputs become handles."
OUT_OF_CPP = "Includes the return to Python: handles become tensors."


def study_steps(study: StudyContext) -> None:
    """Fills the times of the steps of a built variant."""
    report, variant = study.report, study.report.requested
    folder = caches.new_folder()
    study.monitor.step("building with clock reads", variant=report.name, fraction=0.1)
    try:
        study.snapshot.restore()
        with caches.only(folder), marking(_cpp_text):
            built = build_for(study, variant, folder)
            if built.problem is not None:
                report.absent["steps"] = NOT_BUILT.format(built.problem.what)
                return
            study.snapshot.restore()
            graphs = built.layers.graphs
            with quiet():
                runs = _runs_of(study, built, graphs)
                _measure(study, built, graphs, runs)
        report.absent.pop("steps", None)
    finally:
        study.snapshot.restore()
        shutil.rmtree(folder, ignore_errors=True)


class Run(msgspec.Struct, kw_only=True):
    """What a graph was given when it ran."""

    inputs: list[Any]
    grad: bool


def _cpp_text(text: str) -> str | None:
    marked_text = marked(text, "cpp")
    return marked_text.text if marked_text is not None else None


def _runs_of(study: StudyContext, built: Built, graphs: Sequence[KeptGraph]) -> dict[int, Run]:
    """Place of a graph → its inputs in a call, and in the backward of the call."""
    runs: dict[int, Run] = {}

    backward = study.snapshot.backward.without_gradients()

    def call() -> None:
        outcome_of(built.call(*study.args, **study.kwargs), backward)

    for _ in range(_WARM):
        study.monitor.check()
        call()
    with _watched(graphs, runs):
        call()
    return runs


@contextlib.contextmanager
def _watched(graphs: Sequence[KeptGraph], runs: dict[int, Run]) -> Iterator[None]:
    """Records the first inputs of each graph's wrapper in the block."""
    real = [(graph, graph.inner) for graph in graphs]

    def noting(place: int, inner: Any) -> Any:
        def run(inputs: list[Any]) -> Any:
            runs.setdefault(place, Run(inputs=list(inputs), grad=torch.is_grad_enabled()))
            return inner(inputs)

        return run

    for place, (graph, inner) in enumerate(real):
        graph.inner = noting(place, inner)
    try:
        yield
    finally:
        for graph, inner in real:
            graph.inner = inner


def _measure(
    study: StudyContext, built: Built, graphs: Sequence[KeptGraph], runs: dict[int, Run]
) -> None:
    """Times the graphs that ran, and fills in the report's steps."""
    report = study.report
    artifact = artifact_of(report.compilations[0]) if report.compilations else "python"
    places = _places(built.compilations, graphs, artifact)
    untimed: dict[tuple[str, str, int], Steps] = {
        (compilation.id, steps.direction, number): steps
        for compilation in report.compilations
        for number, steps in _numbered(compilation, artifact)
    }
    budget = SECONDS / max(len(runs), 1)
    for place, graph in enumerate(graphs):
        steps = untimed.pop(places.get(place, ("", "", 0)), None)
        if steps is None:
            continue
        study.monitor.step(
            "timing steps", variant=report.name, fraction=0.5 + 0.5 * place / len(graphs)
        )
        run = runs.get(place)
        if run is None or graph.cudagraphs:
            _leave(steps, CUDA_GRAPHS if graph.cudagraphs else NOT_RUN)
            continue
        marked_wrapper = _marked_of(graph, artifact)
        if marked_wrapper is None:
            _leave(steps, NOT_MARKED)
            continue
        marked_text, wrapper = marked_wrapper
        if _step_kinds(marked_text.steps) != _step_kinds(steps.steps):
            _leave(steps, OTHER_STEPS)
            continue
        _fill(steps, _times(study, graph, run, marked_text, wrapper, budget), _is_on_gpu(graph))
    for steps in untimed.values():
        _leave(steps, NOT_RUN)


def _leave(steps: Steps, why: str) -> None:
    """Records why there are no times, and removes those of an earlier build."""
    for step in steps.steps:
        step.us, step.interval_us, step.how = None, None, ""
    steps.kinds = sum_kinds(steps.steps)
    steps.whole_us, steps.sum_us, steps.agrees, steps.why = None, None, True, why


def _marked_of(
    graph: KeptGraph, artifact: WrapperLanguage
) -> tuple[MarkedText, MarkedWrapper] | None:
    """A graph's wrapper that can note its steps."""
    source = str(graph.graph.source_code)
    cuts = split(source).cuts
    text = cuts[0].text.strip("\n") + "\n" if cuts else source
    marked_text = marked(text, artifact)
    if marked_text is None:
        return None
    count = len(marked_text.slots)
    if artifact == "python":
        wrapper = marked_python(graph.inner, marked_text.text, count)
    else:
        wrapper = marked_cpp(graph.inner, count)
    return (marked_text, wrapper) if wrapper is not None else None


def _times(
    study: StudyContext,
    graph: KeptGraph,
    run: Run,
    marked_text: MarkedText,
    wrapper: MarkedWrapper,
    budget_s: float,
) -> StepTimes:
    inputs = run.inputs
    before = waiting_for(graph.graph.device_idxs or ()) if _is_on_gpu(graph) else _nothing
    with torch.set_grad_enabled(run.grad), gc_disabled():
        rounds = take_rounds(
            lambda: wrapper.noting(list(inputs)),
            lambda: wrapper.plain(list(inputs)),
            wrapper.read,
            before=before,
            budget_s=budget_s,
            check=study.monitor.check,
        )
    return step_times(rounds, marked_text.slots)


def _fill(steps: Steps, times: StepTimes, on_gpu: bool) -> None:
    how = HOW[steps.artifact].format(rounds=times.rounds, mark=times.mark_ns)
    last = max(times.steps, default=0)
    for place, step in enumerate(steps.steps):
        figure = times.steps.get(place)
        step.us, step.interval_us = (figure.us, figure.interval) if figure else (None, None)
        step.how = " ".join([how, *_remarks(steps.artifact, step, place == last, on_gpu)])
    steps.kinds = sum_kinds(steps.steps)
    steps.whole_us = times.whole.us
    steps.sum_us = sum(step_figure.us for step_figure in times.steps.values())
    steps.agrees = abs(steps.sum_us - times.whole.us) <= _TOLERANCE * times.whole.us
    missed = len(steps.steps) - len(times.steps)
    why = []
    if not steps.agrees:
        why.append(
            STEPS_DISAGREE.format(sum=steps.sum_us, whole=times.whole.us, mark=times.mark_ns)
        )
    if missed:
        why.append(NOT_REACHED.format(missed, len(steps.steps)))
    steps.why = " ".join(why)


def _remarks(artifact: WrapperLanguage, step: Step, is_last: bool, on_gpu: bool) -> list[str]:
    result = []
    if step.kind == "launch":
        result.append(ON_GPU if on_gpu else ON_CPU)
    if artifact == "cpp" and step.kind == "entry":
        result.append(INTO_CPP)
    if artifact == "cpp" and is_last:
        result.append(OUT_OF_CPP)
    return result


def _places(
    built: Sequence[Compilation], graphs: Sequence[KeptGraph], artifact: WrapperLanguage
) -> dict[int, tuple[str, str, int]]:
    """Place of a graph → its compilation's id, its direction and its number in that direction.

    Equal frames have the same code: they are distinguished by their order.
    """
    unmatched: list[tuple[str, tuple[str, str, int]]] = []
    for compilation in built:
        seen: dict[str, int] = {}
        for code in codes_of(compilation):
            text = getattr(code, artifact)
            if text is not None:
                number = seen[code.direction] = seen.get(code.direction, 0) + 1
                unmatched.append((text, (compilation.id, code.direction, number)))
    places: dict[int, tuple[str, str, int]] = {}
    for place, graph in enumerate(graphs):
        parts = split(str(graph.graph.source_code))
        text = parts.python if artifact == "python" else parts.cpp
        index = next((i for i, (known_text, _) in enumerate(unmatched) if known_text == text), None)
        if index is not None:
            places[place] = unmatched.pop(index)[1]
    return places


def _numbered(compilation: Compilation, artifact: WrapperLanguage) -> Iterator[tuple[int, Steps]]:
    """A compilation's steps with the number of their graph in its direction."""
    seen: dict[str, int] = {}
    for steps in compilation.steps:
        if steps.artifact == artifact:
            number = seen[steps.direction] = seen.get(steps.direction, 0) + 1
            yield number, steps


def _step_kinds(steps: Sequence[Step]) -> list[tuple[str, str]]:
    """The kinds of the steps, without their text: torch 2.11 may rename an array of sizes."""
    return [(step.kind, step.label) for step in steps]


def _is_on_gpu(graph: KeptGraph) -> bool:
    return "cuda" in (graph.graph.device_types or ())


def _nothing() -> None:
    """Comes before a call on a CPU."""
