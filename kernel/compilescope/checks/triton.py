"""Triton, which compiles kernels for GPUs."""

from __future__ import annotations

import sys
from importlib import metadata

from ..report.checkup import Check
from ..torch_api.inductor import toolchain
from ..torch_api.kernels.triton_versions import triton_of
from ..torch_api.process.environment import environment
from .context import CheckContext, CheckFunction, not_needed, ok, problem, python, warning

SUBJECT = "Triton"


def installed(context: CheckContext) -> Check:
    """Whether there is one, and which."""
    version = environment().triton
    gpu = toolchain.gpu_backend()
    if version:
        return ok("version", version)
    if gpu:
        none = f"None: torch compiles nothing for {gpu} without it."
        return problem("version", none, _install())
    return not_needed(
        "version", "Not installed, so that no code for targets can be generated either."
    )


def fits(context: CheckContext) -> Check:
    """Whether it is the version that this torch was made for."""
    name = "fits torch"
    torch, version, required, made_for = (
        environment().torch,
        environment().triton,
        _required(),
        _made_for(),
    )
    if not required and version is None:
        return not_needed(name, "This torch does not require Triton.")
    if not required and not made_for:
        return not_needed(
            name,
            f"Not checked: compilescope does not know which Triton torch {torch} was built for.",
        )
    expected = required or made_for
    requirement = (
        f"torch requires {expected}" if required else f"torch {torch} was built for {expected}"
    )
    if version is None:
        return problem(name, f"{requirement}, which is not installed.", _install())
    if not _takes(expected, version):
        return warning(name, f"{requirement}; installed is {version}.", _install())
    return ok(name, f"{requirement}; installed is {version}.")


def _required() -> str:
    """What torch asks for by itself; a build for the CPU asks for none."""
    lines = [line.partition(";")[0].strip() for line in metadata.requires("torch") or []]
    return next((line for line in lines if "triton" in line), "")


def _made_for() -> str:
    version = triton_of(environment().torch)
    return version and f"triton=={version}"


def _install() -> str:
    requirement = _required() or _made_for()
    return (
        f"pip install '{requirement}'"
        if requirement
        else "Install torch with its own requirements."
    )


def _takes(requirement: str, version: str) -> bool:
    """Whether a version is one of those asked for; torch 2.14 on asks for a range."""
    try:
        from packaging.requirements import Requirement
    except ImportError:
        return requirement.partition("==")[2].strip() in ("", version)
    return Requirement(requirement).specifier.contains(version, prereleases=True)


def compiles(context: CheckContext) -> Check:
    """A kernel compiled for a GPU, which needs none: down to machine code."""
    name = "compiles a kernel"
    if not environment().triton:
        return not_needed(name, "Triton is not installed.")
    if sys.platform != "linux":
        return not_needed(name, "Triton compiles on Linux.")
    folder = context.place("triton")
    done = python(
        toolchain.TRITON_PROBE, folder=folder, variables={"TRITON_CACHE_DIR": str(folder / "cache")}
    )
    if not done.ok:
        needed = problem if toolchain.gpu_backend() else warning
        return needed(name, f"It does not: {done.first}", _install(), detail=done.output)
    return ok(name, done.output.splitlines()[-1])


CHECKS: tuple[CheckFunction, ...] = (installed, fits, compiles)
