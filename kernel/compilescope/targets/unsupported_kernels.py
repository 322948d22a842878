"""Why a kernel is neither compiled nor checked for a target: only Triton kernels are."""

from __future__ import annotations

from ..report import Kernel

LIBRARY = "A library's kernel: its code is in the library and is not generated."
NOT_TRITON = "It is not a Triton kernel: only those are compiled and checked for a target."


def why_left_out(kernel: Kernel) -> str:
    """Why this kernel is neither compiled nor checked; empty for a Triton kernel."""
    if kernel.language == "triton" and kernel.source:
        return ""
    return LIBRARY if kernel.language == "extern" else NOT_TRITON
