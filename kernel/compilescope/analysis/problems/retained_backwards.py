"""Backwards that overwrite what a call with ``retain_graph`` keeps."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...report import Compilation, Problem


def overwriting(compilations: Sequence[Compilation], retained: Collection[str]) -> list[Problem]:
    """The problem of each backward whose code reuses memory that its call keeps.

    Parameters
    ----------
    retained
        The ids of those compilations whose backward was first called with ``retain_graph`` or
        ``create_graph``.
    """
    return [
        _problem(compilation)
        for compilation in compilations
        if compilation.id in retained and _overwrites(compilation)
    ]


def _overwrites(compilation: Compilation) -> bool:
    """Whether its backward reuses the memory of an input: torch lets it if nothing keeps that."""
    return any(
        buffer.reuses
        in {candidate.name for candidate in memory.buffers if candidate.kind == "input"}
        for memory in compilation.memory
        if memory.direction == "backward"
        for buffer in memory.buffers
        if buffer.reuses
    )


def _problem(compilation: Compilation) -> Problem:
    return Problem(
        severity="error",
        what=f"The backward of {compilation.id} overwrites what retain_graph keeps: the gradients "
        "of its next call are wrong.",
        why=(
            "torch's cache returned the code of an equal backward that was called without "
            "retain_graph. Code that is generated without the cache does not overwrite it."
        ),
        remedy="Set torch._functorch.config.donated_buffer = False before compiling; it costs "
        "memory. Then report it to PyTorch.",
        where=compilation.frame,
    )
