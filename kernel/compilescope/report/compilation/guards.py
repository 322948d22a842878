"""The guards of a compilation, and the recompile that one of them caused.

Part of a report; see `compilescope.report` for the rules.
"""

from __future__ import annotations

from typing import Literal

from ..problem import SourceLine, Struct


class GuardManager(Struct):
    """An inner node of the guard tree, which fetches a value for its guards to check."""

    kind: str
    """``RootGuardManager``, ``GuardManager``, ``DictGuardManager``."""
    source: str = ""
    accessor: str = ""
    """How it is fetched from its parent: ``FrameLocalsGuardAccessor('x')``."""
    value_type: str = ""
    parent: int | None = None
    """The index of its parent in `Compilation.guard_tree`; None for a root."""
    cost_ns: float | None = None
    """The time of a warm check of this node and its subtree, measured on a clone of the tree; of
    the root, that of all guards."""
    fails: int | None = None
    """How often a check failed here, counted by torch."""
    shortcut: bool = False
    """torch skips the subtree while none of its dictionaries has changed; a check then costs less
    than the sum of its parts."""


class Guard(Struct):
    """A check that Dynamo makes before it reuses a compilation."""

    expression: str
    """The condition: ``check_tensor(L['x'], …)``, ``L['n'] == 3``."""
    type: str = ""
    """torch's name for the kind of guard, as in `GUARD_TYPES`: ``TENSOR_MATCH``."""
    source: str = ""
    """The guarded value, in Dynamo's notation: ``L['x']``."""
    origin: SourceLine | None = None
    """The line of the user's code for which Dynamo added it."""
    manager: int | None = None
    """The index of its node in `Compilation.guard_tree`."""
    language: Literal["cpp", "python"] = "cpp"
    """The language of the check. A Python check costs about a microsecond and takes the GIL."""
    cost_ns: float | None = None
    """The time of the check alone (ns), measured warm, without fetching the value. If torch checks
    several expressions as one guard, the first one has the cost."""
    hits: int | None = None
    """How often it passed in calls that compilescope made or watched."""
    fails: int | None = None
    """How often it failed in these calls."""
    why: str = ""
    """Why torch added it, if known."""
    failed: bool = False
    """Whether it has failed; for guards that share a counter, whether any of them has."""


class Condition(Struct):
    """What must not change for a compilation to be reused, in plain words."""

    name: str
    """The value as the user writes it (``x``, ``self.training``); for a group, its number of
    guards."""
    requirement: str
    """The required value: ``float32[16, 32]``, ``0.1``."""
    guard: int | None = None
    """The guard's index in `Compilation.guards`; None for a group."""
    failed: bool = False
    """Whether the guard, or one of the group, has failed."""


class Failure(Struct):
    """A guard that failed and caused a recompile of the frame."""

    guard: str
    """The guard's expression."""
    source: str = ""
    """The guarded value: ``L['x']``."""
    compilation: str = ""
    """The compile id that the guard belongs to."""
    kind: str = ""
    """What changed: size, stride, rank, dtype, device, dispatch_keys, requires_grad, value, range,
    type, identity, length, keys, attribute, global, grad_mode, global_state, backend, other."""
    dimension: int | None = None
    """The dimension, if a size or stride changed."""
    old: str = ""
    """The value that the guard expects."""
    new: str = ""
    """The value of the call that recompiled."""
    where: SourceLine | None = None
    """The line of the user's code for which Dynamo added the guard."""


class RecompileCause(Struct):
    """What failed guards of earlier compilations say of one value, as every view shows it."""

    subject: str
    """What was compared: ``x.size(0)``, ``type(k)``, ``len(xs)``; a guard that does not say, whole.
    """
    text: str
    """The subject with both values: ``x.size(0): 4 → 5``."""
    was: str = ""
    """The value that the guards expected: ``4``, ``float``, ``at least 2``; empty if unknown."""
    now: str = ""
    """The value of the call that recompiled; empty if unknown."""
    guard: str = ""
    """The expression of the first of these guards."""
    compilations: list[str] = []
    """The compile ids that the guards belong to."""
    where: SourceLine | None = None
    """The line of the user's code to go to."""


class Advice(Struct):
    """What to change, as code to paste."""

    kind: str
    """mark_dynamic, dynamic, specialize_float, tensor, scalar_argument, constant, limit, …"""
    what: str
    """What the change does, or what to change."""
    code: str = ""
    where: SourceLine | None = None
    """Where to paste it."""


class Recompile(Struct):
    """Why a frame was compiled again."""

    reasons: list[str]
    """torch's messages: for each earlier compilation of the frame, the guard that failed."""
    previous: str = ""
    """The compile id whose guards failed: of several, the one that differs least from the call."""
    failures: list[Failure] = []
    """The guards that failed."""
    causes: list[RecompileCause] = []
    """The failed guards in words, equal ones of several compilations once. Those of the
    compilation that differs least from the call come first."""
    became_dynamic: list[str] = []
    """The sizes and numbers that are symbolic from here on: ``L['x'].size()[0] → s0``."""
    count: int | None = None
    """The number of compilations of the frame so far, including this one."""
    limit: int | None = None
    """torch's ``recompile_limit`` at the time."""
    at_limit: bool = False
    """Whether torch will not compile the frame again."""
    eager_fallback: bool = False
    """Whether torch ran the call in eager because the limit had been reached: no compilation."""
    limit_text: str = ""
    """How often the frame was compiled, and torch's limit, in words; empty if unknown."""
    advice: list[Advice] = []
    """Changes that avoid the recompile."""

    @property
    def cause(self) -> str:
        """The newest cause in one line: ``x.size(0): 4 → 5``; empty if torch gave none."""
        return self.causes[0].text.partition("\n")[0] if self.causes else ""


GUARD_TYPES: dict[str, str] = {
    "GLOBAL_STATE": "The code was compiled for these global modes: grad mode, autocast, "
    "determinism, the default dtype, the number of threads.",
    "TORCH_FUNCTION_MODE_STACK": "The code was compiled under these __torch_function__ modes.",
    "DEFAULT_DEVICE": "The code was compiled for this default device.",
    "TENSOR_MATCH": "The code is specialized to this tensor's type, dispatch keys, "
    "dtype, device, requires_grad, and the sizes and strides that are not dynamic.",
    "DIMENSION_DYNAMIC_MARKING_GUARD": "Sizes that are marked as dynamic or static later need a "
    "separate compilation.",
    "NO_TENSOR_ALIASING": "These tensors were different objects when the code was compiled.",
    "OBJECT_ALIASING": "These were one and the same object when the code was compiled.",
    "STORAGE_OVERLAPPING": "The code was compiled for inputs that overlap in memory in this way.",
    "ID_MATCH": "The code was traced with this object: another one may behave differently.",
    "TYPE_MATCH": "torch traced through the methods of this type.",
    "DICT_CONTAINS": "Tracing depended on whether the key exists.",
    "NO_HASATTR": "Tracing depended on the attribute being absent.",
    "LENGTH_CHECK": "Tracing iterated over all items.",
    "DICT_LENGTH": "Tracing iterated over all items.",
    "MAPPING_KEYS_MATCH": "Tracing iterated over all keys, in this order.",
    "TUPLE_ITERATOR_LEN": "Tracing iterated over all remaining items.",
    "DUAL_LEVEL_MATCH": "The code was compiled at this level of forward-mode differentiation.",
    "EQUALS_MATCH": "This value is a constant in the graph.",
    "NONE_MATCH": "Tracing depended on this being None.",
    "NOT_NONE": "Tracing depended on this not being None.",
    "TRUE_MATCH": "Tracing depended on this being True.",
    "FALSE_MATCH": "Tracing depended on this being False.",
    "LAMBDA_GUARD": "A check that torch makes in Python.",
    "SYMBOLIC_SHAPE_GUARD": "The code is valid only for dynamic sizes that satisfy this relation.",
}
"""Type of a guard → why torch adds one. Types of a newer torch may be missing."""

CONDITIONS_TITLE = "Any change to these makes the call recompile"
"""The heading of a compilation's conditions in every view."""

STACK_VALUE = "a value that was on the stack at the graph break"
"""The display name of ``___stack0``, torch's name for a value without a Python name."""

CONDITION_FAILED = "has failed"
"""The note on a `Condition` whose guard failed."""
