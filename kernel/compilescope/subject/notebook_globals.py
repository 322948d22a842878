"""The notebook's namespace, and whether a cell is running."""

from __future__ import annotations

import sys
import threading
from typing import Any


def namespace() -> dict[str, Any]:
    """The notebook's live namespace; outside of IPython that of ``__main__``."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        return dict(shell.user_ns)
    return dict(vars(sys.modules["__main__"]))


def is_cell_running() -> bool:
    """Whether the main thread runs a cell while this thread asks."""
    main = threading.main_thread()
    if threading.current_thread() is main or main.ident is None:
        return False
    frame = sys._current_frames().get(main.ident)
    while frame is not None:
        code = frame.f_code
        if code.co_name == "run_code" and code.co_filename.endswith("interactiveshell.py"):
            return True
        frame = frame.f_back
    return False
