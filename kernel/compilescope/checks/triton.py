"""Triton, which compiles kernels for GPUs."""

from __future__ import annotations

import sys
from importlib import metadata

from ..checkup import Check
from ..torch_api import toolchain
from ..torch_api.environment import environment
from .ground import Ground, Look, not_needed, ok, problem, python, warning

SUBJECT = "Triton"
_INSTALL = "Install the Triton that torch asks for: pip install torch with its own requirements."


def installed(ground: Ground) -> Check:
    """Whether there is one, and which."""
    version = environment().triton
    gpu = toolchain.gpu_backend()
    if version:
        return ok("version", version)
    if gpu:
        return problem("version", f"None: torch compiles nothing for {gpu} without it.", _INSTALL)
    return not_needed("version", "None. Without it there is no code for targets either.")


def fits(ground: Ground) -> Check:
    """Whether it is the version that this torch was made for."""
    name = "fits torch"
    asked = [line for line in metadata.requires("torch") or [] if "triton" in line.split(";")[0]]
    version = environment().triton
    if not asked:
        return not_needed(name, "This torch asks for none.")
    wanted = asked[0].partition(";")[0].strip()
    if version is None:
        return problem(name, f"torch asks for {wanted}; there is none.", _INSTALL)
    if not _takes(wanted, version):
        return warning(name, f"torch asks for {wanted}; there is {version}.", _INSTALL)
    return ok(name, f"torch asks for {wanted}, and {version} is there.")


def _takes(wanted: str, version: str) -> bool:
    """Whether a version is one of those asked for; torch 2.14 on asks for a range."""
    try:
        from packaging.requirements import Requirement
    except ImportError:
        return wanted.partition("==")[2].strip() in ("", version)
    return Requirement(wanted).specifier.contains(version, prereleases=True)


def compiles(ground: Ground) -> Check:
    """A kernel compiled for a GPU, which needs none: down to machine code."""
    name = "compiles a kernel"
    if not environment().triton:
        return not_needed(name, "There is no Triton.")
    if sys.platform != "linux":
        return not_needed(name, "Triton compiles on Linux.")
    folder = ground.place("triton")
    done = python(
        toolchain.TRITON_PROBE, folder=folder, variables={"TRITON_CACHE_DIR": str(folder / "cache")}
    )
    if not done.ok:
        needed = problem if toolchain.gpu_backend() else warning
        return needed(name, f"It does not: {done.first}", _INSTALL, detail=done.output)
    return ok(name, done.output.splitlines()[-1])


CHECKS: tuple[Look, ...] = (installed, fits, compiles)
