"""The stage of a variant in words."""

from __future__ import annotations

from ...report import Kernel, VariantReport
from .wording import count

_STAGES = {
    "captured": "graphs captured",
    "sources": "sources only",
    "built": "built and run",
    "failed": "failed",
}


def triton_kernels(variant: VariantReport) -> list[Kernel]:
    """The kernels of a variant that Triton compiles."""
    return [
        kernel
        for compilation in variant.compilations
        for kernel in compilation.kernels
        if kernel.language == "triton"
    ]


def stage_words(variant: VariantReport) -> str:
    """A variant's stage in a few words.

    Eager has nothing to build, and nothing runs on a target, whose kernels may be compiled.
    """
    if variant.requested.backend is None and variant.stage != "failed":
        return "run" if variant.stage == "built" else "not run"
    if variant.target is not None and variant.stage != "failed":
        kernels = triton_kernels(variant)
        compiled = sum(bool(kernel.assembly) for kernel in kernels)
        if compiled:
            of = f"{compiled} of " if compiled < len(kernels) else ""
            return f"{of}{count(len(kernels), 'kernel')} compiled, not run"
    return _STAGES[variant.stage]
