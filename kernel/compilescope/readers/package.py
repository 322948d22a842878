"""Reports of ``.pt2`` packages, which are opened but not run."""

from __future__ import annotations

import datetime
from pathlib import Path

from ..analysis.packages.ahead_of_time import compilation_of
from ..analysis.packages.archive import read_packages
from ..report import Report, Subject, VariantReport
from ..report.variant import Variant
from ..version import __version__

NOT_RUN = "A package is opened here, and not run."


def report_of(path: str | Path) -> Report:
    """See `compilescope.open_package`."""
    packages = read_packages(path)
    path = Path(path)
    first = packages[0]
    stamp = datetime.datetime.fromtimestamp(path.stat().st_mtime, datetime.timezone.utc)
    report = Report(
        created=stamp.isoformat(timespec="seconds"),
        subject=Subject(
            id=f"package:{path.name}",
            name=path.name,
            kind="package",
            arguments=first.inputs,
            device=first.device or "cpu",
        ),
    )
    report.environment.compilescope = __version__
    for package in packages:
        name = package.model or path.stem
        report.variants.append(
            VariantReport(
                name=name,
                requested=Variant(cpp_wrapper=True),
                stage="built" if package.built else "sources",
                compilations=[compilation_of(package, name)],
                package=package,
                absent=dict.fromkeys(("timing", "compile_time", "accuracy"), NOT_RUN),
            )
        )
    return report
