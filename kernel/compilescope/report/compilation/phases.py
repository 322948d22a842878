"""The phases of a compile time, and what they add up to.

Part of a report; see `compilescope.report` for the rules.
"""

from __future__ import annotations

from ..problem import Struct

PHASE_KINDS: dict[str, str] = {
    "dynamo": "Dynamo",
    "guards": "guards",
    "aot_autograd": "AOTAutograd",
    "passes": "graph passes",
    "lowering": "lowering",
    "scheduling": "scheduling",
    "code_generation": "code generation",
    "autotuning": "autotuning",
    "triton": "Triton",
    "cpp_build": "C++ build",
    "cache": "caches",
    "load": "loading",
    "other": "other",
}
"""Kind of a phase → title, in the usual order of the phases."""

FIRST_CALL_PARTS: dict[str, str] = {
    "dynamo": PHASE_KINDS["dynamo"],
    "guards": PHASE_KINDS["guards"],
    "aot_autograd": PHASE_KINDS["aot_autograd"],
    "inductor": "Inductor",
    "code_generation": PHASE_KINDS["code_generation"],
    "triton": PHASE_KINDS["triton"],
    "cpp_build": PHASE_KINDS["cpp_build"],
    "load": PHASE_KINDS["load"],
    "other": "rest",
}
"""Part of a first call's time → its title, in the order in which they come. A part with the name of
a kind of phase, except ``other``, is the self time of that kind. inductor: graph passes, lowering,
scheduling and autotuning. other: caches, other phases, and the time outside all phases."""


class Phase(Struct):
    """A span of compile time, with what happened inside it."""

    name: str
    start_us: float
    duration_us: float
    children: list[Phase] = []
    kind: str = ""
    """One of `PHASE_KINDS`."""
    track: int = 0
    """Spans of one track nest; each thread or process has its own track."""
    detail: str = ""
    """The object of the work, if torch reports it: a function, a kernel's name, a pass."""
    self_us: float | None = None
    """The duration without that of the children on the same track, each moment counted once. None
    in a file of an earlier version."""


class KindTime(Struct):
    """How much time the phases of a kind took."""

    kind: str
    """One of `PHASE_KINDS`."""
    self_us: float = 0.0
    """The self times on the thread that the call waits for: over all kinds they add up to the time
    that the phases cover."""
    parallel_us: float = 0.0
    """The self times on other threads and in other processes, at the same time."""
