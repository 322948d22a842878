"""Run a command while random processes of it stand still for seconds: a machine that stalls.

``python scripts/stalls.py [--seed N] python scripts/steps.py test``

It shows which tests depend on how fast the machine is. Up to four processes stand still at a time,
for up to eight seconds each; the tests take half as long again. To others, a stopped process
looks like one that the system does not schedule.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import subprocess
import sys
import threading
import time

import psutil

SECONDS = (0.3, 1, 3, 8)
AT_ONCE = 4


def main() -> int:
    """The exit status of the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0, help="which processes stand still, and when")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not options.command:
        parser.error("no command")
    draw = random.Random(options.seed)
    process = subprocess.Popen(options.command)
    stopped: dict[int, threading.Thread] = {}
    total_s = 0.0
    while process.poll() is None:
        time.sleep(draw.uniform(0.1, 0.8))
        stopped = {pid: thread for pid, thread in stopped.items() if thread.is_alive()}
        descendants = _descendants(process.pid)
        others = [descendant for descendant in descendants if descendant.pid not in stopped]
        if not others or len(stopped) == AT_ONCE:
            continue
        chosen, seconds = draw.choice(others), draw.choice(SECONDS)
        stopped[chosen.pid] = threading.Thread(target=stop, args=(chosen, seconds))
        stopped[chosen.pid].start()
        total_s += seconds
    for thread in stopped.values():
        thread.join()
    print(f"Processes stood still for {total_s:.0f} s.", file=sys.stderr)
    return process.returncode


def _descendants(pid: int) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).children(recursive=True)
    return []


def stop(process: psutil.Process, seconds: float) -> None:
    """Stop a process for a while. It may have ended by then."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process.suspend()
        try:
            time.sleep(seconds)
        finally:
            process.resume()


if __name__ == "__main__":
    sys.exit(main())
