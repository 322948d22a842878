"""Reads a ``.pt2`` package without loading, unpickling or running anything in it.

It is a zip file. Compiled code is under ``data/aotinductor/<model>/``; the rest belongs to all
models of the package.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, Literal

from ...report import Package, PackageFile
from ...report.errors import CompilescopeError
from ...report.saving.path_checks import given_path, reading
from . import cpp
from .package_words import add_package_words

MAX_FILES = 5_000
"""The most files listed; a model with separate weights has one file for each."""
TEXT_BYTES = 8_000_000
"""The largest text that is read."""
TEXTS_BYTES = 64_000_000
"""The limit for all texts of a package together."""

_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError)
"""The errors of zipfile for bytes that are not an archive or a damaged one: offsets outside the
file, names that cannot be decoded, unknown compression methods."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""torch's compression methods."""
_COMPILED = ("data", "aotinductor")
_SHARED = ""
"""Marks a file that belongs to no model."""

Kind = Literal["source", "kernel", "library", "constants", "metadata", "build", "other"]

_ENDINGS: dict[str, tuple[Kind, str]] = {
    "_compile_flags.json": ("build", "json"),
    "_linker_flags.json": ("build", "json"),
    "_serialized_weights.bin": ("constants", ""),
    ".weights.o": ("constants", ""),
    "CMakeLists.txt": ("build", "cmake"),
    ".cpp": ("source", "cpp"),
    ".cu": ("source", "cpp"),
    ".h": ("source", "cpp"),
    ".py": ("source", "python"),
    ".cubin": ("kernel", ""),
    ".hsaco": ("kernel", ""),
    ".spv": ("kernel", ""),
    ".fatbin": ("kernel", ""),
    ".ptx": ("kernel", "ptx"),
    ".so": ("library", ""),
    ".dylib": ("library", ""),
    ".pyd": ("library", ""),
    ".dll": ("library", ""),
    ".o": ("library", ""),
    ".a": ("library", ""),
    ".ld": ("build", "text"),
    ".sh": ("build", "text"),
    ".json": ("metadata", "json"),
    "archive_format": ("metadata", "text"),
    "archive_version": ("metadata", "text"),
    "byteorder": ("metadata", "text"),
    ".data/version": ("metadata", "text"),
    ".data/serialization_id": ("metadata", "text"),
}
"""The ending of a file's path → its meaning, and the language of its text (empty: no text)."""
_CONSTANTS = ("data/weights/", "data/constants/", "xl_model_weights/")

NOT_READ = "{what} of {bytes:,} bytes: texts are read up to {most:,}."
MORE_FILES = "The package has {count:,} files; the first {most:,} are listed."


def read_packages(path: str | Path) -> list[Package]:
    """The models in a package; one without code if nothing in it was compiled.

    Raises
    ------
    CompilescopeError
        The file does not exist, cannot be read, is not a package, or is damaged.
    """
    path = given_path(path, "a package")
    with reading(path, "a package"):
        is_file = path.is_file()
    if not is_file:
        raise CompilescopeError(
            f"There is no package at {str(path)!r}.",
            remedy="Give the file that torch._inductor.aoti_compile_and_package wrote: "
            "'model.pt2'.",
        )
    try:
        with reading(path, "a package"):
            opened = path.open("rb")
        with opened as file, zipfile.ZipFile(file) as archive:
            return _read(archive, path)
    except CompilescopeError:
        raise
    except _DAMAGED as error:
        raise CompilescopeError(
            f"{path.name} is not a package, or it is damaged.",
            f"A .pt2 package is a zip file: {error}.",
            "Compile the model again.",
        ) from error


def _read(archive: zipfile.ZipFile, path: Path) -> list[Package]:
    listed = [zip_info for zip_info in archive.infolist() if not zip_info.is_dir()]
    root = _root([zip_info.filename for zip_info in listed])
    shared = Package(path=path.name, bytes=path.stat().st_size)
    if len(listed) > MAX_FILES:
        shared.absent["files"] = MORE_FILES.format(count=len(listed), most=MAX_FILES)
    by_model: dict[str, Package] = {}
    left = TEXTS_BYTES
    for info in listed[:MAX_FILES]:
        name = info.filename.removeprefix(root)
        file = describe(name, info.file_size)
        model = _model(name)
        package = by_model.setdefault(model, Package(model=model)) if model else shared
        if file.language:
            if info.file_size > min(TEXT_BYTES, left):
                package.absent[name] = NOT_READ.format(
                    what="A text", bytes=info.file_size, most=min(TEXT_BYTES, left)
                )
            else:
                if info.compress_type not in _METHODS:
                    raise zipfile.BadZipFile(
                        f"{name} is compressed in a way that torch does not use"
                    )
                with archive.open(info) as stream:
                    file.text = _text(stream, info.file_size)
                left -= info.file_size
        file.language = file.language or "text"
        package.files.append(file)
    if not by_model:
        shared.model = ""
        shared.absent["code"] = "It has no compiled model: the folder data/aotinductor is missing."
        _fill(shared, shared.files)
        return [shared]
    for package in by_model.values():
        package.path, package.bytes = shared.path, shared.bytes
        package.absent = {**shared.absent, **package.absent}
        _fill(package, [*package.files, *shared.files])
    return list(by_model.values())


def describe(name: str, size: int) -> PackageFile:
    """Describes a file by its path; the language is empty if it has no text."""
    kind: Kind = "other"
    language = ""
    if name.startswith(_CONSTANTS) and not name.endswith(".json"):
        kind = "constants"
    else:
        for ending, meaning in _ENDINGS.items():
            if name.endswith(ending):
                kind, language = meaning
                break
    return PackageFile(path=name, bytes=size, kind=kind, language=language)


def code_of(package: Package) -> str | None:
    """The wrapper followed by the kernels; None if the package has no C++."""
    sources = sources_of(package)
    return "\n".join(file.text or "" for file in sources) if sources else None


def sources_of(package: Package) -> list[PackageFile]:
    """The C++ files that `code_of` consists of, the wrapper first."""
    sources = [
        file
        for file in package.files
        if file.kind == "source" and file.language == "cpp" and file.text is not None
    ]
    return sorted(sources, key=lambda file: "::run_impl(" not in (file.text or ""))


def _fill(package: Package, files: Sequence[PackageFile]) -> None:
    """Fills in the model's data from the files."""
    package.files = list(files)
    package.metadata = _metadata(files)
    code = code_of(package)
    package.device = package.metadata.get("AOTI_DEVICE_KEY", "")
    package.built = any(
        file.kind == "library" and not file.path.endswith((".o", ".a")) for file in files
    )
    add_package_words(package)
    if code is None:
        package.absent.setdefault("code", "The package holds no C++.")
        return
    package.constants = cpp.constants(code)
    package.inputs = cpp.inputs(code)
    package.outputs = cpp.outputs(code)
    package.dynamic = cpp.dynamic(code)
    package.build = list(dict.fromkeys(cpp.build(code)))
    package.device = package.device or cpp.device([code])


def _metadata(files: Iterable[PackageFile]) -> dict[str, str]:
    metadata: dict[str, str] = {}
    for file in files:
        if file.kind != "metadata" or file.text is None:
            continue
        if file.path.endswith("_metadata.json"):
            try:
                read = json.loads(file.text)
            except (ValueError, RecursionError):
                continue  # the file is listed with its text
            if isinstance(read, dict):
                metadata |= {str(key): str(value) for key, value in read.items()}
        elif file.language == "text":
            metadata[PurePosixPath(file.path).name] = file.text.strip()[:200]
    return metadata


def _text(stream: IO[bytes], size: int) -> str:
    # The sizes in the directory may be wrong.
    return stream.read(size).decode("utf-8", errors="replace")


def _root(names: Sequence[str]) -> str:
    """The folder that all files are in, which is named after the file that torch wrote."""
    tops = {name.partition("/")[0] for name in names}
    if len(tops) == 1 and all("/" in name for name in names):
        return f"{tops.pop()}/"
    return ""


def _model(name: str) -> str:
    """The model that a file belongs to; `_SHARED` if none."""
    parts = PurePosixPath(name).parts
    return parts[2] if parts[:2] == _COMPILED and len(parts) > 3 else _SHARED
