"""A package's contents and the comparison of its results, in words: for panel and terminal."""

from __future__ import annotations

from ...report import Package, VariantReport


def add_package_words(package: Package) -> None:
    """Fill `Package.state` and `Package.results`."""
    if package.files:
        package.state = "Library, ready to load" if package.built else "Sources, not built"
    if package.accurate is not None:
        package.results = (
            "same results as eager" if package.accurate else "results differ from eager's"
        )


def complete_package(variant: VariantReport) -> None:
    """Fill in the words of a variant's package from a file of an earlier version."""
    if variant.package is not None and not variant.package.state:
        add_package_words(variant.package)
