"""A study made of a variant without an inspection around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from compilescope.compiler.callees import functions_of
from compilescope.compiler.progress import Monitor
from compilescope.compiler.state import preserved
from compilescope.compiler.studies import STUDIES, Study
from compilescope.compiler.wardrobe import Wardrobe
from compilescope.report import VariantReport
from compilescope.torch_api import workers
from compilescope.torch_api.dynamo import isolated


def study(
    name: str,
    fn: Callable[..., Any],
    args: Sequence[Any],
    report: VariantReport,
    monitor: Monitor | None = None,
) -> None:
    """Makes one study of a variant, in the isolation that an inspection gives it."""
    with preserved(fn, args) as snapshot:
        wardrobe = Wardrobe(functions_of(fn, args, {}))
        with wardrobe.guarded(), isolated(), workers.borrowed():
            STUDIES[name](
                Study(
                    fn=fn,
                    args=args,
                    kwargs={},
                    report=report,
                    peaks=[],
                    wardrobe=wardrobe,
                    snapshot=snapshot,
                    monitor=monitor or Monitor(),
                )
            )
