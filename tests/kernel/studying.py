"""A study made of a variant without an inspection around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from compilescope.isolation.code_swap import CodeCopies
from compilescope.isolation.user_state import preserved
from compilescope.progress.progress import Monitor
from compilescope.report import VariantReport
from compilescope.studies.context import StudyContext
from compilescope.studies.run import run_here
from compilescope.studies.table import STUDIES
from compilescope.subject.functions import functions_of
from compilescope.torch_api.dynamo.process_state import isolated
from compilescope.torch_api.inductor import workers


def study(
    name: str,
    fn: Callable[..., Any],
    args: Sequence[Any],
    report: VariantReport,
    monitor: Monitor | None = None,
    changed: Callable[[], None] = lambda: None,
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
                ),
            )
