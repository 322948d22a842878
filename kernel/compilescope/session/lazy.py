"""Imports the session, and torch with it, on first use."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..report.errors import CompilescopeError

if TYPE_CHECKING:
    from .session import Session


def session() -> Session:
    """The kernel's session.

    Raises
    ------
    CompilescopeError
        torch cannot be imported because its cache folder cannot be created.
    """
    try:
        from .session import get_session
    except OSError as error:
        folder = os.environ.get("TORCHINDUCTOR_CACHE_DIR", "torch's cache folder")
        raise CompilescopeError(
            f"{folder} cannot be used.",
            f"torch makes its cache folder when it is loaded: {error}.",
            "Remove what is in its way, or set TORCHINDUCTOR_CACHE_DIR to a folder, and restart.",
        ) from error
    return get_session()
