"""The study of ahead of time: the package built, loaded, checked and timed against the rest."""

from __future__ import annotations

from ..table import Study
from .make_package import make_package


def study_aot(study: Study) -> None:
    """Fills in the variant's package, with its library and the times of its entries."""
    make_package(study, built=True)
