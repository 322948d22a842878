"""IPython's shell, where there is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from IPython.core.getipython import get_ipython

# IPython 8 (Python 3.10) does not type it.
current: Callable[[], Any] = get_ipython
"""The running shell, or None."""


def kernel() -> Any:
    """The kernel that the shell belongs to; None in a terminal and in a script."""
    return getattr(current(), "kernel", None)
