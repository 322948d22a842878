"""Rebuilds a variant with the settings of a study."""

from __future__ import annotations

from pathlib import Path

from ..builds.build import Built, build
from ..report.variant import Variant
from .context import StudyContext


def build_for(
    study: StudyContext,
    variant: Variant,
    folder: Path,
    *,
    gradients: bool = False,
) -> Built:
    """Builds the study's subject, in an empty cache in ``folder``.

    Parameters
    ----------
    gradients
        Whether the gradients of the first call are kept.
    """
    backward = study.snapshot.backward
    return build(
        study.fn,
        study.args,
        study.kwargs,
        name=study.report.name,
        variant=variant,
        code_copies=study.code_copies,
        code_set=study.code_copies.copy(),
        folder=folder,
        backward=backward if gradients else backward.without_gradients(),
    )
