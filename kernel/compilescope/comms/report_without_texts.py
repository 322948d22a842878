"""Reports without their texts, and the texts one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..analysis.contents import package_files, texts
from ..analysis.contents.compiled import compiled
from ..analysis.contents.summaries import sweep_summary, variant_summary
from ..analysis.figures.time_words import time_words
from ..analysis.problems.problem_list import problems_of
from ..analysis.wrapper.default_sides import default_sides
from ..readers.search import MAX_HITS
from ..report import Compilation, Report, VariantReport, conclude
from ..report.contents import StoredText
from ..report.errors import CompilescopeError
from ..report.variant import Variant
from ..reproducers.program import Reproducer
from .messages import (
    ArtifactResult,
    JobState,
    ReportSummary,
    ReproducerFile,
    SearchHit,
    SearchResult,
    SubjectSummary,
)

if TYPE_CHECKING:  # it loads torch, which a trace is read without
    from ..jobs.jobs import Job

_MAX_LINE = 300


def subject(report: Report, revision: int) -> SubjectSummary:
    """A report as a row of the list of subjects."""
    return SubjectSummary(
        subject=report.subject,
        revision=revision,
        variants=[variant.name for variant in report.variants],
        problems=len(problems_of(report)),
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
        variants=[variant_summary(report, variant) for variant in report.variants],
        problems=report.problems,
        listed_problems=problems_of(report),
        files=report.files,
        peaks=report.peaks,
        sweep=sweep_summary(report.sweep) if report.sweep is not None else None,
        rank=report.rank,
        overview=conclude(report),
        trace=report.trace,
        asked=list(requested),
        ready=list(ready),
        sides=default_sides(report.variants, requested),
    )


def job(job: Job) -> JobState:
    """A job as the panel shows it.

    One that may leave the main thread delays the user's cells until it does.
    """
    delays_cells = job.may_leave and not job.aside and job.state == "running"
    return JobState(
        id=job.id,
        subject=job.subject,
        state=job.state,
        variant=job.variant,
        step=f"{job.step}; cells wait" if job.step and delays_cells else job.step,
        fraction=job.fraction,
        error=job.error,
        kind=job.work.kind,
        aside=job.aside,
        needs_main_thread=job.needs_main_thread,
        elapsed_s=job.elapsed_s,
        time_words=time_words(job.usual),
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
        outcome=f"{reproducer.outcome[0].upper()}{reproducer.outcome[1:]}.",
    )


def artifact(report: Report, variant: str, compilation: str, name: str) -> ArtifactResult:
    """One artifact's text, and what its lines mean.

    Raises
    ------
    CompilescopeError
        The report does not have it; the message says why, where torch or the variant gives a
        reason.
    """
    if package_files.is_name(name):
        holder = report.variant(variant)
        stored = texts.find(package_files.packaged(holder), name)
        if stored is not None:
            return _result(holder, stored)
        path = package_files.path_of(name)
        raise CompilescopeError(
            f"The package of {variant!r} has no text {path!r}.",
            holder.package.absent.get(path, "") if holder.package is not None else "",
            "Choose another file.",
        )
    complete = report.compilation(compilation, variant)
    listed = list(texts.listed(complete))
    stored = texts.find(listed, name) or texts.find(compiled(complete, name), name)
    if stored is None:
        raise CompilescopeError(
            f"The variant {variant!r} has no {texts.label(name)} of {compilation}.",
            texts.reason(complete, name),
            "Choose another artifact." if listed else "",
        )
    return _result(complete, stored)


def search(report: Report, text: str) -> SearchResult:
    """The first lines of a report's texts that hold a text."""
    search_result = SearchResult()
    for variant in report.variants:
        for compilation in variant.compilations:
            for stored in texts.listed(compilation):
                content = texts.text_at(compilation, stored.text)
                if not text or text not in content:
                    continue
                for number, line in enumerate(content.split("\n"), 1):
                    if text in line:
                        if len(search_result.hits) == MAX_HITS:
                            search_result.is_cut = True
                            return search_result
                        search_result.hits.append(
                            SearchHit(
                                variant=variant.name,
                                compilation=compilation.id,
                                name=stored.name,
                                line=number,
                                text=line.strip()[:_MAX_LINE],
                            )
                        )
    return search_result


def _result(holder: Compilation | VariantReport, stored: StoredText) -> ArtifactResult:
    return ArtifactResult(
        artifact=stored.artifact(),
        text=texts.text_at(holder, stored.text),
        regions=texts.text_at(holder, stored.regions) if stored.regions else [],
        lines=texts.text_at(holder, stored.text_lines) if stored.text_lines else [],
        source=texts.text_at(holder, stored.source) if stored.source else "",
    )
