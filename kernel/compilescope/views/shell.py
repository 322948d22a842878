"""IPython's shell, if there is one."""

from __future__ import annotations

import sys
from typing import Any


def current() -> Any:
    """The running shell, or None. A running shell has imported IPython; this does not import it."""
    loaded = sys.modules.get("IPython.core.getipython")
    return loaded.get_ipython() if loaded is not None else None


def kernel() -> Any:
    """The kernel that the shell belongs to; None in a terminal and in a script."""
    return getattr(current(), "kernel", None)
