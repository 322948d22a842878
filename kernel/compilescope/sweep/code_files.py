"""Where code comes from: from an installed package, which a version identifies, or the user's."""

from __future__ import annotations

import functools
import hashlib
import importlib.machinery
import importlib.metadata
import importlib.util
import inspect
import platform
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .code_names import imported_packages

_LIBRARIES = ("site-packages", "dist-packages", sysconfig.get_path("stdlib"))
_MANY_FILES = 2000
_CODE_FILES = {".py", *importlib.machinery.EXTENSION_SUFFIXES}


class UnknownFilesError(Exception):
    """A package's files are not found, or are too many."""


def is_library(value: Callable[..., Any] | types.ModuleType) -> bool:
    """Whether its code is an installed package's or Python's, which a version identifies."""
    if isinstance(value, types.ModuleType):
        return is_library_module(value.__name__)
    if isinstance(value, types.FunctionType):
        # A decorator gives its function the name and the module of the decorated one.
        return _is_in_library(value.__code__.co_filename)
    if module_name(value) == "__main__":
        return False
    try:
        return _is_in_library(inspect.getfile(value))
    except (TypeError, OSError):
        return is_library_module(module_name(value))


def module_name(value: object) -> str:
    """The module in which it is defined; empty if it has none."""
    return str(getattr(value, "__module__", None) or "")


def version(name: str) -> str:
    """What identifies the code of an installed package: its version, or the time of its file."""
    top = name.partition(".")[0]
    return _version(top) if top else ""


@functools.cache
def _version(top: str) -> str:
    if top in sys.stdlib_module_names:
        return platform.python_version()
    try:
        return importlib.metadata.version(top)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        pass
    try:
        return str(Path(_spec(top).origin or "").stat().st_mtime_ns)
    except (UnknownFilesError, OSError):
        return ""


def package_code(name: str) -> str:
    """A text for a module that code imports when it runs, and for what that module imports.

    Raises
    ------
    UnknownFilesError
        Its files are not found, or are too many.
    """
    pending, texts = [name.partition(".")[0]], dict[str, str]()
    while pending:
        top = pending.pop()
        if top in texts:
            continue
        if is_library_module(top):
            texts[top] = version(top)
            continue
        digest = hashlib.sha256()
        for file in _files(_spec(top)):
            content = file.read_bytes()
            digest.update(f"{file.name} {len(content)} ".encode() + content)
            if file.suffix == ".py":
                pending += _imports(content)
        texts[top] = digest.hexdigest()
        if len(texts) > _MANY_FILES:
            raise UnknownFilesError(name)
    return str(sorted(texts.items()))


def extension_file(name: str) -> str:
    """What identifies a module in C that is not an installed package's: its file's content."""
    file = getattr(sys.modules.get(name), "__file__", None)
    if not file:
        raise UnknownFilesError(name)
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def _imports(content: bytes) -> list[str]:
    try:
        code = compile(content, "", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return []
    return sorted(imported_packages(code, ""))


def is_library_module(name: str) -> bool:
    """Whether a module is in an installed package, or Python's."""
    top = name.partition(".")[0]
    modules = [sys.modules[part] for part in (name, top) if part in sys.modules]
    files = [file for module in modules if (file := getattr(module, "__file__", None))]
    if files:
        return any(map(_is_in_library, files))
    try:
        origin = _spec(top).origin or ""
    except UnknownFilesError:
        return False
    return origin in ("built-in", "frozen") or _is_in_library(origin)


def _is_in_library(file: str) -> bool:
    return file.startswith("<frozen") or any(folder in file for folder in _LIBRARIES)


def _spec(top: str) -> importlib.machinery.ModuleSpec:
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError, AttributeError):
        spec = None
    if spec is None:
        raise UnknownFilesError(top)
    return spec


def _files(spec: importlib.machinery.ModuleSpec) -> Iterator[Path]:
    folders = list(spec.submodule_search_locations or ())
    if not folders:
        if not spec.origin or not Path(spec.origin).is_file():
            raise UnknownFilesError(spec.name)
        yield Path(spec.origin)
        return
    number = 0
    for folder in folders:
        for file in sorted(Path(folder).rglob("*")):
            number += 1
            if number > _MANY_FILES:
                raise UnknownFilesError(spec.name)
            if any(file.name.endswith(ending) for ending in _CODE_FILES) and file.is_file():
                yield file
