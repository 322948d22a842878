"""The version of compilescope."""

from __future__ import annotations

import os
import sys

_PREFIX, _SUFFIX = "jupyterlab_compilescope-", ".dist-info"


def _installed() -> str | None:
    """The version in the name of the installed distribution's folder.

    `importlib.metadata` reads the same, and takes longer to import than a small trace to read.
    """
    for place in sys.path:
        try:
            names = os.listdir(place or ".")  # noqa: PTH208 - no other import for it
        except OSError:
            continue
        for name in names:
            if name.startswith(_PREFIX) and name.endswith(_SUFFIX):
                return name[len(_PREFIX) : -len(_SUFFIX)]
    return None


def _version() -> str:
    installed = _installed()
    if installed is not None:
        return installed
    from importlib import metadata

    try:
        return metadata.version("jupyterlab-compilescope")
    except metadata.PackageNotFoundError:  # run from a checkout that is not installed
        return "0+unknown"


__version__ = _version()
