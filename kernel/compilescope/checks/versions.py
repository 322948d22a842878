"""Versions that must be compatible."""

from __future__ import annotations

import platform
import sys
import sysconfig
from collections.abc import Mapping
from importlib import metadata

from .. import extras
from ..report.checkup import Check
from ..torch_api.inductor import toolchain
from .context import CheckContext, CheckFunction, not_needed, ok, problem, python, warning

SUBJECT = "Versions"
_DISTRIBUTION = "jupyterlab-compilescope"


def python_version(context: CheckContext) -> Check:
    """Whether torch.compile works on this Python."""
    why = toolchain.unsupported()
    if why:
        return problem("Python", why, "Use a Python that this torch supports.")
    version = platform.python_version()
    if _is_unoptimized():
        return warning(
            "Python",
            f"{version}: torch.compile works, but Python was built without optimizations, so that "
            "compiling takes about a quarter longer.",
            "Build it with --enable-optimizations --with-lto (pyenv: set PYTHON_CONFIGURE_OPTS), "
            "or use your system's Python.",
        )
    return ok("Python", f"{version}: torch.compile works with it.")


def _is_unoptimized() -> bool:
    """Whether Python was built without profile-guided optimization.

    `configure` leaves it out by default. Linux distributions, which install to ``/usr``, optimize
    without saying so in the configuration.
    """
    options = sysconfig.get_config_var("CONFIG_ARGS")
    if not options or sys.base_prefix == "/usr":
        return False
    return "--enable-optimizations" not in options


def torch_version(context: CheckContext) -> Check:
    """Whether this compilescope was made for this torch."""
    return _asked_for("torch", _DISTRIBUTION, only="torch")


def requirements(context: CheckContext) -> Check:
    """What torch asks for."""
    return _asked_for("torch's requirements", "torch")


def own_requirements(context: CheckContext) -> Check:
    """What compilescope asks for."""
    return _asked_for("compilescope's requirements", _DISTRIBUTION, optional=extras.optional())


def numpy(context: CheckContext) -> Check:
    """Whether torch and NumPy pass arrays to each other."""
    program = "import numpy, torch; print(numpy.__version__, torch.ones(2).numpy().sum())"
    done = python("-c", program, folder=context.place("versions"))
    words = done.output.split()
    if done.ok and words[-1:] == ["2.0"]:
        return ok("NumPy", f"{words[-2]} and torch pass arrays to each other.")
    if "No module named 'numpy'" in done.output:
        return not_needed(
            "NumPy", f"torch and compilescope work without. {extras.missing_text('numpy')}"
        )
    return problem(
        "NumPy",
        f"torch cannot use it: {done.first}",
        "Install the NumPy that this torch was built for.",
        detail=done.output,
    )


def _asked_for(
    name: str, distribution: str, *, only: str = "", optional: Mapping[str, str] | None = None
) -> Check:
    """Whether what a distribution asks for is installed, in a version that it takes.

    Parameters
    ----------
    only
        The one requirement to look at; all if empty.
    optional
        Distributions that it works without, with their modules.
    """
    try:
        from packaging.requirements import Requirement
    except ImportError:
        return not_needed(name, "Not checked: the package `packaging` is not installed.")
    try:
        lines = metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:
        return not_needed(name, f"{distribution} runs from a checkout that is not installed.")
    wrong, missed, right = [], [], []
    for requirement in map(Requirement, lines):
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        if only and requirement.name != only:
            continue
        try:
            version = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            if optional is not None and requirement.name in optional:
                missed.append(extras.missing_text(optional[requirement.name]))
            else:
                wrong.append(f"{requirement} is not installed")
            continue
        if requirement.specifier.contains(version, prereleases=True):
            right.append(f"{requirement.name} {version}")
        else:
            wrong.append(f"{requirement} is required, {version} is installed")
    if wrong:
        return warning(
            name, f"{'; '.join(wrong)}.", f"Install {distribution} again, with its requirements."
        )
    if missed:
        return not_needed(name, " ".join(missed))
    return ok(name, ", ".join(right))


CHECKS: tuple[CheckFunction, ...] = (
    python_version,
    torch_version,
    requirements,
    own_requirements,
    numpy,
)
