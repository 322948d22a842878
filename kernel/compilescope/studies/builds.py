"""A studied variant built once more, as a study wants it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..builds.build import Built, build
from ..report.variant import Variant
from .context import StudyContext


def build_for(
    study: StudyContext,
    variant: Variant,
    folder: Path,
    *,
    gradients: Callable[[], Mapping[str, Any]] = dict,
) -> Built:
    """Builds the study's subject, in an empty cache in ``folder``.

    Parameters
    ----------
    gradients
        As `build` takes it; without it no gradient is kept.
    """
    return build(
        study.fn,
        study.args,
        study.kwargs,
        name=study.report.name,
        variant=variant,
        code_copies=study.code_copies,
        code_set=study.code_copies.copy(),
        folder=folder,
        gradients=gradients,
    )
