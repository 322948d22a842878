"""The version of Triton that each version of torch requires.

A GPU build of torch depends on it, a CPU build does not. `scripts/requirements.py` runs this file
before anything is installed: it imports nothing.
"""

from __future__ import annotations

TRITON = {"2.11": "3.6.0", "2.12": "3.7.1", "2.13": "3.7.1", "2.14": "3.8.0", "2.15": "3.9.0"}


def triton_of(torch: str) -> str:
    """The version of Triton for a version of torch, ``2.13.0+cpu``; empty if unknown."""
    return TRITON.get(".".join(torch.split(".")[:2]), "")
