"""Print what `make setup` installs: `constraints/dev.txt`, or the same around another torch.

``python scripts/requirements.py`` or ``python scripts/requirements.py 2.11.0``.
"""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

PINNED = Path(__file__).resolve().parent.parent / "constraints" / "dev.txt"

# By its path: compilescope and what it imports are not installed yet.
KERNEL = Path(__file__).resolve().parent.parent / "kernel" / "compilescope"
triton_of = runpy.run_path(str(KERNEL / "torch_api" / "kernels" / "triton_versions.py"))[
    "triton_of"
]

# Pinned for one torch; pip finds those that another one takes.
TORCHS_OWN = ("torch", "triton", "setuptools")


def requirements(torch: str) -> list[str]:
    """The lines to install; torch as it is pinned if none is named.

    Parameters
    ----------
    torch
        A version, ``2.11.0``, or nothing.
    """
    lines = PINNED.read_text(encoding="utf-8").splitlines()
    if not torch:
        return lines
    if not re.fullmatch(r"\d+\.\d+\.\d+\S*", torch):
        raise SystemExit(f"TORCH={torch} is no version of torch. Give all of it: TORCH=2.11.0")
    unchanged = [line for line in lines if re.split(r"[=<>~ ;]", line)[0] not in TORCHS_OWN]
    triton = triton_of(torch)
    requirement = f"triton=={triton}" if triton else "triton"
    return [*unchanged, f"torch=={torch}", f'{requirement}; platform_system == "Linux"']


if __name__ == "__main__":
    print("\n".join(requirements("".join(sys.argv[1:2]))))
