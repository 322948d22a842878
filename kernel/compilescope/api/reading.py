"""Reads what other processes wrote: traces and packages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..report import Report


def read_trace(path: str | Path) -> Report:
    """Reads a report from torch's structured trace of another process.

    Parameters
    ----------
    path
        A file that torch wrote because ``TORCH_TRACE`` was set, plain or compressed with gzip. Or
        the folder that ``TORCH_TRACE`` named: each ``.log`` in it, such as that of a rank, becomes
        a variant. Or an address of either (``s3://…``), if fsspec is installed.

    Returns
    -------
    Report
        Its problems say what could not be read.

    Raises
    ------
    CompilescopeError
        There is no such file, or no trace in the folder.

    Examples
    --------
    >>> cs.read_trace(trace).subject.kind
    'trace'
    """
    from ..readers.remote import located
    from ..readers.trace import report_of

    with located(path) as local:
        return report_of(local)


def open_package(path: str | Path) -> Report:
    """Reads the contents of a package that AOTInductor compiled.

    The file is read as an archive: nothing in it is loaded, unpickled or run.

    Parameters
    ----------
    path
        A ``.pt2`` file that ``torch._inductor.aoti_compile_and_package`` wrote, built or of sources
        alone.

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
