"""The texts of the files in ahead-of-time packages."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ...report import Package, VariantReport
from ...report.contents import StoredText
from ..text.lines import line_count

_PREFIX = "package:"


def is_name(artifact: str) -> bool:
    """Whether the name of an artifact is that of a file in a package."""
    return artifact.startswith(_PREFIX)


def path_of(artifact: str) -> str:
    """The path in the package that an artifact's name contains."""
    return artifact.removeprefix(_PREFIX)


def packaged(variant: VariantReport) -> Iterator[StoredText]:
    """The texts of the files in a variant's package."""
    if variant.package is None:
        return
    for index, file in enumerate(variant.package.files):
        if file.text is not None:
            yield StoredText(
                name=_PREFIX + file.path,
                label=file.path,
                group="code",
                language=file.language,
                lines=line_count(file.text),
                text=f"package/files/{index}/text",
                listed=False,
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
