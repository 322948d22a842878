"""An IPython kernel that ``forks.py`` forks: it has imported torch already.

This process stands for it: it passes signals on, and ends as the kernel does.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
from pathlib import Path
from types import FrameType

client = socket.socket(socket.AF_UNIX)
client.connect(os.environ["COMPILESCOPE_FORKS"])
asked = {"argv": sys.argv[1:], "environ": dict(os.environ), "cwd": str(Path.cwd())}
socket.send_fds(client, [json.dumps(asked).encode()], [0, 1, 2])


def pass_on(number: int, _: FrameType | None) -> None:
    # A kernel that has just ended takes no more signals.
    with contextlib.suppress(BrokenPipeError):
        client.sendall(bytes([number]))


for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, pass_on)
status = int(client.recv(64) or -signal.SIGKILL)
# As a shell has it: a signal's number, and 128.
sys.exit(128 - status if status < 0 else status)
