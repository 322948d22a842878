"""The study of ahead of time: the package built, loaded, checked and timed against the rest."""

from __future__ import annotations

from .packaging import make_package
from .studies import Study


def study_aot(study: Study) -> None:
    """Fills in the variant's package, with its library and the times of its entries."""
    make_package(study, built=True)
