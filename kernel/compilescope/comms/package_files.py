"""Ahead-of-time packages in the panel's messages; the texts of their files are artifacts."""

from __future__ import annotations

import msgspec

from ..report import Package, VariantReport
from ..report.errors import CompilescopeError
from .messages import Artifact, ArtifactResult

_PREFIX = "package:"


def is_name(artifact: str) -> bool:
    """Whether the name of an artifact is that of a file in a package."""
    return artifact.startswith(_PREFIX)


def result(variant: VariantReport, name: str) -> ArtifactResult:
    """The text of a file in a variant's package.

    Raises
    ------
    CompilescopeError
        There is none; the message says why, where that is known.
    """
    path = name.removeprefix(_PREFIX)
    package = variant.package or Package()
    for file in package.files:
        if file.path == path and file.text is not None:
            return ArtifactResult(
                artifact=Artifact(
                    name=name,
                    label=path,
                    group="code",
                    language=file.language,
                    lines=file.text.count("\n") + (not file.text.endswith("\n")),
                ),
                text=file.text,
            )
    raise CompilescopeError(
        f"The package of {variant.name!r} has no text {path!r}.",
        package.absent.get(path, ""),
        "Choose another file.",
    )


def without_texts(package: Package) -> Package:
    """A package without its files' texts; each text is replaced by an empty one."""
    return msgspec.structs.replace(
        package,
        files=[
            file if file.text is None else msgspec.structs.replace(file, text="")
            for file in package.files
        ],
    )
