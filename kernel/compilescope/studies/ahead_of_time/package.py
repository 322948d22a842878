"""The study of the package: what AOTInductor generates for the subject, its sources alone."""

from __future__ import annotations

from ..table import Study
from .make_package import make_package


def study_package(study: Study) -> None:
    """Fills in the variant's package, not built."""
    make_package(study, built=False)
