"""A Jupyter kernel that is forked from a process with Inductor, and its own processes from it.

`launch` is for the tests' process, and `main` is the program of the new one. Such a kernel spends
as little as the tests' own process on compiling and timing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from compilescope.processes import runner
from ipykernel.kernelapp import IPKernelApp
from jupyter_client.provisioning import local_provisioner

from . import forks

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.kernel.forked_kernel import main
sys.path.remove({str(ROOT)!r})
main(sys.argv[1:])
"""


@contextmanager
def forked_kernels() -> Iterator[None]:
    """In the block Jupyter forks the kernels that it starts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_provisioner, "launch_kernel", launch)
        yield


def launch(command: list[str], *, env: dict[str, str], cwd: str | None = None, **_: Any) -> Any:
    """Starts a kernel, as `jupyter_client.launcher.launch_kernel` does."""
    arguments = command[command.index("ipykernel_launcher") + 1 :]
    process = runner.subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdout=subprocess.DEVNULL,
        # It ends with this process.
        env={**env, "JPY_PARENT_PID": str(os.getpid())},
        cwd=cwd,
    )
    # Jupyter signals the group of processes: wait until the kernel has one of its own.
    while process.poll() is None and os.getpgid(process.pid) != process.pid:
        time.sleep(0.001)
    return process


def main(arguments: list[str]) -> None:
    """Runs the kernel, beside a fork of this process from which its processes are forked."""
    forks.run_beside_fork(lambda: IPKernelApp.launch_instance(argv=arguments))
