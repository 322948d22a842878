"""A variant: one setting of the switches of ``torch.compile``.

Plain types; this module imports no torch, so a saved report opens where torch is not installed.
"""

from __future__ import annotations

from typing import Any

import msgspec

from .problem import SourceLine, Struct

CUDA_GRAPH_MODES = ("reduce-overhead", "max-autotune")
"""The modes that record CUDA graphs."""


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """One setting of ``torch.compile``'s switches.

    Parameters
    ----------
    backend
        A name from ``torch.compiler.list_backends()``, a custom backend as torch accepts it, or
        None for plain eager: no ``torch.compile`` at all. (torch's own ``"eager"`` backend still
        runs Dynamo.) A report stores a custom backend as its name: ``<function __main__.mine>``.
    mode
        A name from ``torch._inductor.list_mode_options()``, or None for ``"default"``.
    cpp_wrapper
        Launch the kernels from compiled C++ instead of Python.
    dynamic
        True: symbolic sizes from the first call; False: never; None: after a size changed.
    fullgraph
        A graph break is an error.
    options
        Further Inductor settings, as ``torch.compile(options=...)`` takes them; ``guard_filter_fn``
        for any backend. A report stores functions as their names: ``<function __main__.keep>``.
    target
        The device to generate code for; None is the device of the arguments.

    Examples
    --------
    >>> cs.Variant(cpp_wrapper=True).cpp_wrapper
    True
    """

    backend: str | None = "inductor"
    mode: str | None = None
    cpp_wrapper: bool = False
    dynamic: bool | None = None
    fullgraph: bool = False
    options: dict[str, Any] = {}
    target: str | None = None

    @property
    def uses_inductor(self) -> bool:
        """Whether torch's default backend compiles it: only then there are kernels and wrappers."""
        return self.backend == "inductor"


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """The values that the installed torch allows for each switch, and the executors."""

    backends: list[str] = []
    modes: list[str] = []
    targets: list[str] = []
    titles: dict[str, str] = {}
    """Target → its display name: ``H100 SXM``."""
    groups: dict[str, str] = {}
    """Target → the heading of its group: its vendor, or the kind of target."""
    targets_off: str = ""
    """Why no target can be chosen here; empty if one can."""
    executors: list[str] = []
    """The executors that the user has named, for sweeps and ways to deploy."""


CUDA_GRAPHS = "CUDA graphs"
"""The setting that modes with CUDA graphs request."""


class Effective(Struct):
    """A setting as requested and its effective value."""

    setting: str
    requested: str
    actual: str
    why: str = ""
    differs: bool = False
    """Whether torch did something other than requested."""
    remedy: str = ""
    """What to change, if anything helps."""
    operators: list[str] = []
    """The operators or fusions concerned."""
    where: SourceLine | None = None
    code: str = ""
    """The remedy as code to paste."""
    trial: Variant | None = None
    """The variant that has the remedy, if a switch provides it."""
