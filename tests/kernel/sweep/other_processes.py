"""What a program prints in new processes, in which Python hashes text differently."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[3]
SEEDS = ("1", "2")


def printed(program: str) -> set[str]:
    """The different outputs of a program, which can import the tests; ``{seed}`` is its seed."""
    start = f"import sys; sys.path.insert(0, {str(_ROOT)!r})\n"
    return {
        subprocess.run(
            [sys.executable, "-c", start + program.replace("{seed}", seed)],
            env={"PYTHONHASHSEED": seed, "PATH": "", "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in SEEDS
    }
