"""A studied variant built once more, as a study wants it."""

from __future__ import annotations

from pathlib import Path

from ..variant import Variant
from .building import Built, build
from .studies import Study


def build_for(study: Study, variant: Variant, folder: Path) -> Built:
    """Builds the study's subject, in an empty cache in ``folder``; its gradients are not kept."""
    return build(
        study.fn,
        study.args,
        study.kwargs,
        name=study.report.name,
        variant=variant,
        wardrobe=study.wardrobe,
        outfit=study.wardrobe.outfit(),
        folder=folder,
        gradients=dict,
    )
