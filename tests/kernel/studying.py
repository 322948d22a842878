"""Studies made of variants without an inspection around them, or of variants not built before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import compilescope as cs
from compilescope.isolation.code_swap import CodeCopies
from compilescope.isolation.user_state import preserved
from compilescope.progress.progress import Monitor
from compilescope.report import Report, VariantReport
from compilescope.studies.context import HERE, StudyContext, StudyProcesses
from compilescope.studies.options import Selected
from compilescope.studies.run import run_here
from compilescope.studies.table import STUDIES
from compilescope.subject.functions import functions_of
from compilescope.torch_api.dynamo.process_state import isolated
from compilescope.torch_api.inductor import workers


def unbuilt(
    fn: Callable[..., Any],
    args: Sequence[Any],
    variants: Sequence[str] | Mapping[str, cs.Variant] = ("python", "cpp"),
) -> Report:
    """A report of sources that says that they are built, for studies that build them themselves."""
    report = cs.inspect(fn, args, variants=variants, run=False)
    for variant in report.variants:
        variant.stage = "built"
    return report


def study(
    name: str,
    fn: Callable[..., Any],
    args: Sequence[Any],
    report: VariantReport,
    monitor: Monitor | None = None,
    changed: Callable[[], None] = lambda: None,
    options: Selected | None = None,
    processes: StudyProcesses = HERE,
) -> None:
    """Makes one study of a variant, in the isolation that an inspection gives it."""
    with preserved(fn, args) as snapshot:
        code_copies = CodeCopies(functions_of(fn, args, {}))
        with code_copies.guarded(), isolated(), workers.temporary():
            run_here(
                STUDIES[name],
                StudyContext(
                    fn=fn,
                    args=args,
                    kwargs={},
                    report=report,
                    peaks=[],
                    code_copies=code_copies,
                    snapshot=snapshot,
                    monitor=monitor or Monitor(),
                    changed=changed,
                    options=options or {},
                    processes=processes,
                ),
            )
