"""Explains exceptions that the subject raises only because the device is missing.

Relies on the names of ``torch._subclasses.fake_tensor``'s exceptions for tensors without data, and
on torch's message for a build without a kernel for the device; the same from 2.11 to 2.15.
"""

from __future__ import annotations

import re

from ...report.problem import Problem

_VALUE = re.compile(r"DataDependentOutputException|DynamicOutputShapeException")
_KERNEL = re.compile(r"DispatchStub: missing kernel for|without ATen_cuda library")
_DRIVER = re.compile(r"AcceleratorError: (?:CUDA|HIP) error|No CUDA GPUs are available")


def of_absence(problem: Problem) -> Problem:
    """The problem unchanged, or one that explains the missing device."""
    if _VALUE.search(problem.what):
        return Problem(
            severity="warning",
            what="The subject reads the value of a tensor, and there is none.",
            why="Tensors have shapes on a GPU that is not there, but no data; so the call ended "
            "here, and what is compiled after it is missing.",
            remedy="Read the value before the call and pass it as an argument, use torch.where in "
            "place of a branch, or keep it in the graph: "
            "torch._dynamo.config.capture_scalar_outputs = True, and "
            "capture_dynamic_output_shape_ops for sizes.",
            where=problem.where,
            detail=problem.detail,
        )
    has_kernel = _DRIVER.search(problem.what)
    if has_kernel or _KERNEL.search(problem.what):
        build = "would run its kernel" if has_kernel else "has no kernel of it for the GPU"
        return Problem(
            severity="warning",
            what="An operator that runs outside of a graph cannot be followed without the device.",
            why=f"torch.compile leaves it to eager, and torch's build here {build}; so the call "
            "ended here, and what is compiled after it is missing.",
            remedy="Inspect what is around it by itself.",
            where=problem.where,
            detail=problem.detail,
        )
    return problem
