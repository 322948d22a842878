"""A workaround for ipykernel 7.0 to 7.3, which may lose a request while it sends a reply.

In these versions the shell channel's thread reads requests through a stream, but writes replies
directly to the stream's socket. The write consumes the signal that tells the stream of a new
request. A request that arrives at that moment is not read, nor is what follows it on its
connection: the cell stays at ``[*]`` while the kernel is idle. A panel sends requests when a cell
ends, which is when the cell's reply goes out.

ipykernel 7.4 writes through the stream (its pull request 1529); this module does the same. It
relies on ``SubshellManager._shell_socket``, which only those versions have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from IPython.core.getipython import get_ipython


def write_through_stream() -> Callable[[], None]:
    """Makes the kernel send its replies through the stream, if it does not do so already.

    Returns
    -------
    Callable
        Puts back what was there.
    """
    # IPython 8 (Python 3.10) does not type it.
    shell = get_ipython()  # type: ignore[no-untyped-call,unused-ignore]
    kernel: Any = getattr(shell, "kernel", None)
    manager: Any = getattr(getattr(kernel, "shell_channel_thread", None), "manager", None)
    if not hasattr(manager, "_shell_socket"):
        return lambda: None
    before = manager._shell_socket

    def put_back() -> None:
        manager._shell_socket = before

    manager._shell_socket = kernel.shell_stream
    return put_back
