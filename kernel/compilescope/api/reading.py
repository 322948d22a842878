"""Reads files: saved reports, and traces and packages of other processes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .compiled_callers import not_in_compiled_code

if TYPE_CHECKING:
    from ..report import Report


@not_in_compiled_code
def load(path: str | Path) -> Report:
    """Reads a report that `Report.save` wrote, as JSON or as a page.

    Parameters
    ----------
    path
        The file: ``run.compilescope.json``, ``run.html``.

    Returns
    -------
    Report
        The report. Loading and viewing it needs neither torch nor the call. `measure` and `study`
        need both.

    Raises
    ------
    CompilescopeError
        The file does not exist or cannot be read, is not a report, is damaged, or was written by a
        newer compilescope.

    Examples
    --------
    >>> path = report.save(folder / "run.compilescope.json")
    >>> cs.load(path).subject.name
    'fn'
    """
    from ..report.saving import storage

    return storage.load(path)


@not_in_compiled_code
def read_trace(path: str | Path) -> Report:
    """Reads the structured trace that torch wrote in another process.

    Parameters
    ----------
    path
        A log that torch wrote to the folder in ``TORCH_TRACE``, plain or compressed (``.log``,
        ``.log.gz``, ``.log.zst``). Or the folder: each log in it, one per rank, becomes a variant.
        Or the address of either (``s3://…``), if fsspec is installed.

    Returns
    -------
    Report
        Its ``problems`` list what could not be read.

    Raises
    ------
    CompilescopeError
        The file does not exist, the folder has no trace, or the address cannot be read.

    Examples
    --------
    >>> cs.read_trace(trace).subject.kind
    'trace'
    """
    from ..readers.remote import located
    from ..readers.trace import report_of

    with located(path) as local:
        return report_of(local)


@not_in_compiled_code
def open_package(path: str | Path) -> Report:
    """Reads a package that AOTInductor compiled.

    The file is read as an archive: nothing in it is loaded, unpickled or run.

    Parameters
    ----------
    path
        A ``.pt2`` file that ``torch._inductor.aoti_compile_and_package`` wrote, with a compiled
        library or only its sources.

    Returns
    -------
    Report
        Each model of the package is a variant: its code, kernels, files, constants and metadata.

    Raises
    ------
    CompilescopeError
        The file does not exist, is not a package, or is damaged.

    Examples
    --------
    >>> report = cs.open_package("model.pt2")                 # doctest: +SKIP
    """
    from ..readers.package import report_of

    return report_of(path)
