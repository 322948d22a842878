"""Lines about a compilation: its graphs, and what is missing."""

from __future__ import annotations

from collections.abc import Collection

from ...report import STAGES, Compilation
from ..wrapper_pairs import codes


def stages(compilation: Compilation, only: Collection[str] = ()) -> list[str]:
    """Return the stages that a compilation has graphs of, in torch's order.

    Parameters
    ----------
    compilation
        Stages that this version of compilescope does not know come last.
    only
        The stages to return; empty: all of them.
    """
    order = [stage for stage in STAGES if stage in compilation.graphs]
    order += [stage for stage in compilation.graphs if stage not in STAGES]
    return [stage for stage in order if not only or stage in only]


def absent(compilation: Compilation) -> list[str]:
    """Return what torch did not provide for a compilation and its code, with the reasons."""
    missing = dict(compilation.absent)
    for code in codes(compilation):
        missing.update(code.absent)
    return [f"{what}: {why}" for what, why in missing.items()]
