"""The IPython shell of this process, without importing IPython: a running shell has imported it."""

from __future__ import annotations

import sys
from typing import Any


def current() -> Any:
    """The running shell; None outside of IPython."""
    loaded = sys.modules.get("IPython.core.getipython")
    return loaded.get_ipython() if loaded is not None else None


def kernel() -> Any:
    """The kernel that the shell belongs to; None in a terminal and in a script."""
    return getattr(current(), "kernel", None)


def namespace() -> dict[str, Any]:
    """A copy of the notebook's namespace; outside of IPython of that of ``__main__``."""
    shell = current()
    return dict(shell.user_ns if shell is not None else vars(sys.modules["__main__"]))
