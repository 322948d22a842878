"""Reports without their texts, and the texts one at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from ..analysis.figures.intervals import known_interval
from ..readers.search import MOST_HITS
from ..report import (
    STAGES,
    WRAPPERS,
    Changes,
    Code,
    Compilation,
    RawEvent,
    Region,
    Report,
    Sweep,
    TargetReport,
    VariantReport,
    conclude,
)
from ..report.errors import CompilescopeError
from ..report.variant import Variant
from ..reproducers.program import Reproducer
from . import package_files, target_kernels
from .messages import (
    Artifact,
    ArtifactResult,
    ChangedSummary,
    CompilationSummary,
    JobState,
    ReportSummary,
    ReproducerFile,
    SearchHit,
    SearchResult,
    SubjectSummary,
    SweepSummary,
    TargetSummary,
    VariantSummary,
    WatchedCompilation,
    WatchState,
)

if TYPE_CHECKING:  # both load torch, which a trace is read without
    from ..jobs.jobs import Job
    from ..watching.watch import WatchSummary

_LONG_LINE = 300


def subject(report: Report, revision: int) -> SubjectSummary:
    """A report as a row of the list of subjects."""
    problems = len(report.problems) + sum(len(variant.problems) for variant in report.variants)
    return SubjectSummary(
        subject=report.subject,
        revision=revision,
        variants=[variant.name for variant in report.variants],
        problems=problems,
        group=report.rank.group if report.rank is not None else "",
        rank=report.rank.rank if report.rank is not None else None,
        ranks=report.rank.size if report.rank is not None else 0,
    )


def report(
    report: Report,
    revision: int,
    requested: Sequence[str] = (),
    ready: Sequence[Variant] = (),
) -> ReportSummary:
    """A report without its texts, with the variants requested last and those ready in advance."""
    return ReportSummary(
        revision=revision,
        subject=report.subject,
        environment=report.environment,
        variants=[_variant(variant) for variant in report.variants],
        problems=report.problems,
        files=report.files,
        peaks=report.peaks,
        sweep=_sweep(report.sweep) if report.sweep is not None else None,
        rank=report.rank,
        overview=conclude(report),
        trace=report.trace,
        asked=list(requested),
        ready=list(ready),
    )


def job(job: Job) -> JobState:
    """A job as the panel shows it."""
    return JobState(
        id=job.id,
        subject=job.subject,
        state=job.state,
        variant=job.variant,
        step=job.step,
        fraction=job.fraction,
        error=job.error,
        kind=job.work.kind,
        aside=job.aside,
        elapsed_s=job.elapsed_s,
        about_s=None if job.usual is None else job.usual.about_s,
        longest_s=None if job.usual is None else job.usual.longest_s,
    )


def reproducer(reproducer: Reproducer) -> ReproducerFile:
    """A standalone program as the panel offers it."""
    return ReproducerFile(
        filename=reproducer.file_name,
        code=reproducer.code,
        tried=reproducer.tried,
        why=reproducer.why,
        unchecked=reproducer.unchecked,
        output=reproducer.output,
    )


def watch(state: WatchSummary) -> WatchState:
    """The state of the watch, as the panel shows it."""
    watch_state = WatchState(on=state.on)
    for name in state.__struct_fields__:
        if name != "latest":
            setattr(watch_state, name, getattr(state, name))
    watch_state.latest = [
        WatchedCompilation(**msgspec.structs.asdict(sighting)) for sighting in state.latest
    ]
    return watch_state


def artifact(report: Report, variant: str, compilation: str, name: str) -> ArtifactResult:
    """One artifact's text, and what its lines mean.

    Raises
    ------
    CompilescopeError
        The report does not have it; the message says why, where torch or the variant gives a
        reason.
    """
    if package_files.is_name(name):
        return package_files.result(report.variant(variant), name)
    compilation_report = report.compilation(compilation, variant)
    for described, text, regions in _artifacts(compilation_report):
        if described.name == name:
            return ArtifactResult(artifact=described, text=text, regions=regions)
    assembly = target_kernels.result(compilation_report, name)
    if assembly is not None:
        return assembly
    raise CompilescopeError(
        f"The variant {variant!r} has no {_label(name)} of {compilation}.",
        _reason(compilation_report, name),
        "Choose another artifact.",
    )


def search(report: Report, text: str) -> SearchResult:
    """The first lines of a report's texts that hold a text."""
    search_result = SearchResult()
    for variant in report.variants:
        for compilation in variant.compilations:
            for artifact, content, _ in _artifacts(compilation):
                if not text or text not in content:
                    continue
                for number, line in enumerate(content.split("\n"), 1):
                    if text in line:
                        if len(search_result.hits) == MOST_HITS:
                            search_result.is_cut = True
                            return search_result
                        search_result.hits.append(
                            SearchHit(
                                variant=variant.name,
                                compilation=compilation.id,
                                name=artifact.name,
                                line=number,
                                text=line.strip()[:_LONG_LINE],
                            )
                        )
    return search_result


def _variant(variant: VariantReport) -> VariantSummary:
    timing = variant.timing
    return VariantSummary(
        name=variant.name,
        requested=variant.requested,
        stage=variant.stage,
        median_us=timing.median_us if timing else None,
        interval_us=known_interval(timing),
        speedup=timing.speedup if timing else None,
        compile_s=variant.compile_time.total_s if variant.compile_time else None,
        accurate=all(error.ok for error in variant.accuracy) if variant.accuracy else None,
        compilations=[
            compilation(compilation_report) for compilation_report in variant.compilations
        ],
        breaks=len(variant.breaks),
        problems=variant.problems,
        verdict=variant.verdict,
        studied=variant.studied,
        target=_target(variant, variant.target) if variant.target is not None else None,
        filled=filled(variant),
        changed=_changed(variant.changes) if variant.changes is not None else None,
        earlier=variant.earlier,
        recorded=variant.recorded,
    )


def _changed(changes: Changes) -> ChangedSummary:
    return ChangedSummary(
        baseline=changes.baseline, summary=changes.summary, switches=changes.switches
    )


def _target(variant: VariantReport, target: TargetReport) -> TargetSummary:
    kernels = [
        kernel
        for compilation in variant.compilations
        for kernel in compilation.kernels
        if kernel.language == "triton"
    ]
    return TargetSummary(
        name=target.name,
        title=target.device.name,
        arch=target.device.build.arch if target.device.build else "",
        is_here=target.is_here,
        estimate=target.estimate,
        kernels=len(kernels),
        compiled=sum(bool(kernel.assembly) for kernel in kernels),
        checks=dict(Counter(kernel.check.outcome for kernel in kernels if kernel.check)),
    )


def _sweep(sweep: Sweep) -> SweepSummary:
    return SweepSummary(
        id=sweep.id,
        state=sweep.state,
        cells=len(sweep.cells),
        finished=sum(cell.state not in ("waiting", "running") for cell in sweep.cells),
    )


def filled(variant: VariantReport) -> list[str]:
    """The fields of a variant and of its compilations that hold something."""
    fields = {
        field
        for compilation in (variant, *variant.compilations)
        for field in compilation.__struct_fields__
        if (value := getattr(compilation, field))
        and isinstance(value, list | dict | msgspec.Struct)
    }
    return sorted(fields)


def compilation(compilation: Compilation) -> CompilationSummary:
    """A compilation without its texts."""
    frame = compilation.frame
    # Of one that was reduced, how many there were.
    counts = compilation.counts
    return CompilationSummary(
        id=compilation.id,
        frame="" if frame is None else f"{frame.function} ({frame.file}:{frame.line})",
        artifacts=[artifact for artifact, _, _ in _artifacts(compilation)],
        guards=counts.get("guards", len(compilation.guards)),
        breaks=len(compilation.breaks),
        kernels=counts.get("kernels", len(compilation.kernels)),
        recompile=compilation.recompile.reasons if compilation.recompile else [],
        stages=[stage for stage in STAGES if stage in compilation.graphs],
        nodes=counts.get(
            "nodes", max((len(graph.nodes) for graph in compilation.graphs.values()), default=0)
        ),
        started_s=compilation.started_s,
        duration_s=compilation.duration_s,
        cell=compilation.cell,
        call=compilation.call,
        where=frame,
        reduced=compilation.reduced,
        torch_id=compilation.torch_id,
        cell_number=compilation.cell_number,
        caches={event.cache: event.outcome for event in compilation.cache},
    )


def _artifacts(compilation: Compilation) -> Iterator[tuple[Artifact, str, list[Region]]]:
    yield from _code(compilation.code, "", "")
    if compilation.code.backward is not None:
        yield from _code(compilation.code.backward, "backward.", ", backward")
    for stage, title in STAGES.items():
        graph = compilation.graphs.get(stage)
        if graph is not None and graph.text:
            label = f"Graph: {title}"
            yield _describe(f"graph.{stage}", label, "graph", "python", graph.text), graph.text, []
    for kernel in compilation.kernels:
        if kernel.source:
            language = "cpp" if kernel.language == "cpp" else "python"
            name = target_kernels.artifact_of(kernel)
            described = _describe(name, kernel.name, "kernel", language, kernel.source)
            described.forms = target_kernels.forms_of(kernel)
            described.configs = target_kernels.configs_of(kernel)
            yield described, kernel.source, []
    for event in compilation.raw:
        described = _describe(
            f"raw.{event.name}", _raw_label(event), "raw", event.language, event.text
        )
        yield described, event.text, []


def _code(code: Code, prefix: str, suffix: str) -> Iterator[tuple[Artifact, str, list[Region]]]:
    for name, (label, language) in WRAPPERS.items():
        text: str | None = getattr(code, name)
        if text is not None:
            described = _describe(prefix + name, label + suffix, "code", language, text)
            yield described, text, code.regions.get(name, [])


def _describe(name: str, label: str, group: str, language: str, text: str) -> Artifact:
    return Artifact(
        name=name,
        label=label,
        group=group,  # type: ignore[arg-type]  # one of the four that the callers write
        language=language,
        lines=text.count("\n") + (not text.endswith("\n")),
    )


def _raw_label(event: RawEvent) -> str:
    return event.name if event.count == 1 else f"{event.name}: {event.count} records"


def _label(name: str) -> str:
    label, _ = WRAPPERS.get(name.removeprefix("backward."), (name, ""))
    return label


def _reason(compilation: Compilation, name: str) -> str:
    head, _, rest = name.partition(".")
    if head == "graph":
        return compilation.absent.get(rest, "")
    if head == "kernel":
        return target_kernels.reason(compilation, name)
    if head == "backward":
        backward = compilation.code.backward
        if backward is None:
            return compilation.absent.get("backward", "")
        return backward.absent.get(rest, "")
    return compilation.code.absent.get(name, "") or compilation.absent.get("code", "")
