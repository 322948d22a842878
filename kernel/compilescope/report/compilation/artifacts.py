"""The artifacts of one compilation, as plain typed structs: a part of the report.

The rules are the report's: fields are only ever added, with a default. Line numbers count from 1.
Units are in the names (``_ns``, ``_us``, ``_s``, ``_bytes``).
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from ..measurements.timings import KernelTime, LaunchTime
from ..problem import SourceLine, Struct
from ..target import Decision, KernelCheck, KernelConfig
from ..variant import Variant
from .parts import Part, fields_of
from .plans import Baked, Decomposition, Fusion, LayoutChange, Memory, Tiling
from .symbolic_shapes import ShapeDecision, ShapeExpression, ShapeSymbol
from .wrapper_steps import Descriptor, Route, Steps

Direction = Literal["inference", "forward", "backward"]
Language = Literal["python", "cpp", "triton", "extern", "fx", "text"]


class Node(Struct):
    """An FX node."""

    name: str
    """Its name in the graph: ``add_1``."""
    op: str
    """``placeholder``, ``get_attr``, ``call_function``, ``call_method``, ``call_module``,
    ``output``."""
    target: str
    """What it calls or reads: ``aten.add.Tensor``."""
    args: str = ""
    """Its arguments as text."""
    inputs: list[str] = []
    """Names of the nodes that it reads."""
    users: list[str] = []
    """Names of the nodes that read it."""
    shape: list[str] | None = None
    """Sizes as text, since a size may be a symbol (``s0``)."""
    stride: list[str] | None = None
    """Strides as text, in elements."""
    dtype: str | None = None
    """The dtype of its value: ``float32``."""
    device: str | None = None
    """The device of its value: ``cuda:0``."""
    sources: list[SourceLine] = []
    """Innermost frame last, as in a traceback."""
    module: str | None = None
    """The path of the owning ``nn.Module`` (``layers.0.attn``)."""
    module_type: str | None = None
    """The class of that module: ``torch.nn.modules.linear.Linear``."""
    line: int | None = None
    """The line of the node in the graph's text."""
    stack: int | None = None
    """In a file or a message: the index of its ``sources`` in `Graph.stacks`."""
    origins: list[str] = []
    """Names of the ``dynamo`` stage's nodes that it was lowered from, if torch reports them."""


class Graph(Struct):
    """An FX graph at one stage."""

    stage: str
    """One of `STAGES`: ``dynamo``, ``post_grad``."""
    text: str
    """The graph as torch prints it."""
    nodes: list[Node] = []
    """Its nodes, in topological order."""
    absent: dict[str, str] = {}
    """Name of an empty field → why it is empty."""
    stacks: list[list[SourceLine]] = []
    """In a file or a message: the nodes' sources, each once. See `report.saving.packed_graphs`."""
    same_as: tuple[str, str] | None = None
    """In a file: the variant and the stage whose graph of this compilation equals this one; this
    graph is then stored empty."""


class Region(Struct):
    """A range of lines of a generated file with one purpose.

    Regions of a Python and a C++ wrapper that do the same thing carry the same ``key``.
    """

    kind: Literal["kernel", "launch", "alloc", "free", "guard", "return", "entry"]
    start: int
    end: int
    """Inclusive."""
    key: str = ""
    label: str = ""
    kernel: str | None = None
    nodes: list[str] = []
    sources: list[SourceLine] = []


class Code(Struct):
    """What Inductor generated for one graph."""

    direction: Direction = "inference"
    """Whether the graph is for inference, or is the forward or backward of training."""
    python: str | None = None
    """The Python wrapper as Inductor wrote it, kernels included; None if this variant has none."""
    cpp: str | None = None
    """The C++ wrapper: its C++ alone; None if this variant has none."""
    shell: str | None = None
    """The Python module that contains the C++ wrapper, without the C++."""
    path: str | None = None
    """The file that torch wrote it to; None if it wrote none."""
    regions: dict[str, list[Region]] = {}
    """Artifact ("python", "cpp") → its regions, by start line."""
    backward: Code | None = None
    """The code of the backward graph, if there is one."""
    others: list[Code] = []
    """The code of further graphs with the same direction, if torch compiled several under one
    compile id."""
    absent: dict[str, str] = {}
    """Name of an empty field → why it is empty."""
    aot: str | None = None
    """AOTInductor's C++, if the graph was compiled ahead of time."""
    buffers: dict[str, str] = {}
    """Buffer of the wrapper → the post-grad node whose value it holds, for buffers that are written
    only once."""


LaunchBound = Literal["", "launch", "memory", "compute"]


class Launch(Struct):
    """A call of a kernel in a wrapper."""

    artifact: Literal["python", "cpp", "aot"]
    """The wrapper that has the launch."""
    variant: str
    """The name of the variant whose wrapper this is."""
    line: int
    """The first line of the launch in the wrapper."""
    end: int
    """Its last line."""
    key: str
    """The key of its region, as in `Region.key`; equal for the same launch in both wrappers."""
    text: str = ""
    """The launch's first line, without its indent."""
    estimated_bytes: float | None = None
    """Bytes that this launch reads and writes: the sizes of its buffers, each counted once."""
    estimated_operations: float | None = None
    """Arithmetic operations of this launch; a multiply-add counts as two."""
    time: LaunchTime | None = None
    """The measured time, if any."""
    estimated_us: float | None = None
    """A lower bound of the kernel's time on the variant's target, without launch overhead (µs): an
    estimate, never a measurement."""
    estimated_bound: Literal["", "memory", "compute"] = ""
    """What limits the kernel in that estimate: memory bandwidth or arithmetic."""
    estimated_launch_us: float | None = None
    """An estimate of the host's launch overhead on the target (µs)."""
    least_us: float | None = None
    """The longer of these two estimates (µs): the launch's share of a call is at least this."""
    least_bound: LaunchBound = ""
    """What limits the launch in that estimate."""
    estimate: str = ""
    """The estimate in one sentence; empty without an estimate."""


class Kernel(Struct):
    """A generated kernel (C++ or Triton), or a library call (``extern``)."""

    name: str
    """Its name in the wrapper: ``triton_poi_fused_add_0``; for a library call, the operator."""
    language: Language
    """``cpp``, ``triton``, or ``extern`` for a library call."""
    direction: Direction = "inference"
    """The direction of the graph that launches it."""
    source: str = ""
    """Its source; empty for a library call."""
    ops: list[str] = []
    """The ATen operators that it computes: ``aten.add.Tensor``."""
    launches: list[Launch] = []
    """Its launches in the wrappers."""
    nodes: list[str] = []
    """Names of the post-grad nodes that it computes."""
    sources: list[SourceLine] = []
    """Lines of the user's code that it computes. If no node of the compilation has a line (a module
    that torch itself defines), the line of the call."""
    modules: list[str] = []
    """The modules whose operators it computes, with their classes: ``layers.0: Conv2d``."""
    assembly: dict[str, str] = {}
    """Form → text, if the kernel was compiled for a target; the forms are `target.FORMS`."""
    resources: dict[str, float] = {}
    """Per thread: ``registers``, ``spills`` (bytes). Per wave, on AMD: ``scalar_registers``. Per
    block: ``shared_bytes``, ``tensor_columns``, ``warps``. Per multiprocessor:
    ``blocks_per_multiprocessor``. Also pipeline ``stages``, and ``occupancy`` (0 to 1)."""
    absent: dict[str, str] = {}
    """Name of an empty field → why it is empty."""
    grid: str = ""
    """The launch grid (Triton) or the parallel loop's extents (C++), as written in the wrapper."""
    estimated_bytes: float | None = None
    """Bytes that one launch reads and writes: the sizes of its buffers, each counted once."""
    estimated_operations: float | None = None
    """Arithmetic operations of one launch; a multiply-add counts as two."""
    estimated_for: dict[str, int] = {}
    """Symbolic size → its value in the estimates, which is the one that torch compiled with."""
    assembly_lines: dict[str, list[int]] = {}
    """As `KernelConfig.assembly_lines`."""
    limit: str = ""
    """What limits its occupancy: threads, registers, shared memory, tensor memory, blocks."""
    configs: list[KernelConfig] = []
    """Every launch configuration that torch would benchmark on the target."""
    check: KernelCheck | None = None
    """For a target: the comparison of its results with torch's operators."""
    fusion: Fusion | None = None
    """The operators fused into it, and the memory traffic that this saves."""
    tiling: Tiling | None = None
    """How its loops are divided into blocks, vectors and threads."""
    baked: list[Baked] = []
    """The sizes and values that are hard-coded in it."""
    descriptors: list[Descriptor] = []
    """The TMA descriptors that it uses."""
    time: KernelTime | None = None
    """The measured time of its launches in the variant's own wrapper, if any."""


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
    """The time of a warm check of this node and its subtree, measured on a clone of the tree."""
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


class Break(Struct):
    """A graph break."""

    reason: str
    """torch's short description: ``Data-dependent branching``."""
    explanation: str = ""
    """torch's explanation."""
    hints: list[str] = []
    """torch's suggestions."""
    context: str = ""
    """torch's developer context: the operation and its arguments."""
    link: str = ""
    """The address of torch's page about this kind of graph break."""
    where: SourceLine | None = None
    """The line of the user's code with the break."""
    stack: list[SourceLine] = []
    """The call stack at the break, innermost frame last."""
    duration_us: float | None = None
    """The compile time until the break (µs)."""
    resumed: str = ""
    """The compile id of the code after the break."""
    eager: str = ""
    """The code that runs in eager because of it: ``print(…)``, or the whole frame."""


class Failure(Struct):
    """A guard that failed and caused a recompile of the frame."""

    guard: str
    """The guard's expression."""
    source: str = ""
    """The guarded value: ``L['x']``."""
    compilation: str = ""
    """The compile id that the guard belongs to."""
    kind: str = ""
    """What changed: size, stride, rank, dtype, device, dispatch_keys, requires_grad, value, type,
    identity, length, keys, attribute, global, grad_mode, global_state, other."""
    dimension: int | None = None
    """The dimension, if a size or stride changed."""
    old: str = ""
    """The value that the guard expects."""
    new: str = ""
    """The value of the call that recompiled."""
    where: SourceLine | None = None
    """The line of the user's code for which Dynamo added the guard."""


class Advice(Struct):
    """What to change, as code to paste."""

    kind: str
    """mark_dynamic, dynamic, specialize_float, tensor, attribute, limit, …"""
    what: str
    """One sentence: what the change does."""
    code: str = ""
    where: SourceLine | None = None
    """Where to paste it."""


class Recompile(Struct):
    """Why a frame was compiled again."""

    reasons: list[str]
    """torch's messages: for each earlier compilation of the frame, the guard that failed."""
    previous: str = ""
    """The compile id whose guards failed."""
    failures: list[Failure] = []
    """The guards that failed."""
    became_dynamic: list[str] = []
    """The sizes and numbers that are symbolic from here on: ``L['x'].size()[0] → s0``."""
    count: int | None = None
    """How often the frame had been compiled by then, including this time."""
    limit: int | None = None
    """torch's ``recompile_limit`` at the time."""
    advice: list[Advice] = []
    """Changes that avoid the recompile."""


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
    """The object of the work, if torch reports it: a kernel's name, a pass."""


class Choice(Struct):
    """One candidate of an autotuning."""

    name: str
    kind: str = ""
    """extern, triton template, cpp template, config, …"""
    time_us: float | None = None
    chosen: bool = False
    config: dict[str, str] = {}
    """Block sizes, warps, stages, the micro-kernel: as torch names them."""
    why: str = ""
    """Why it lost or was not measured: ``1.8 times the best``, ``out of shared memory``."""


class Autotuning(Struct):
    """A choice that torch made, or would have made, by measuring."""

    operator: str
    kind: Literal["algorithm", "config"] = "algorithm"
    """algorithm: library call or template. config: the launch configuration of one kernel."""
    kernel: str = ""
    """The resulting kernel, as in `Kernel.name`."""
    inputs: list[str] = []
    """``float32[128, 64] cpu``."""
    choices: list[Choice] = []
    duration_s: float | None = None
    skipped: str = ""
    """Why nothing was measured."""


class Crossing(Struct):
    """An operator that generated code calls through Python's dispatcher, which takes the GIL."""

    operator: str
    artifact: Literal["python", "cpp"] = "cpp"
    lines: list[int] = []
    direction: Direction = "inference"
    why: str = ""
    remedy: str = ""


class CacheEvent(Struct):
    """A hit, miss or bypass of one of torch's compile caches."""

    cache: str
    outcome: Literal["hit", "miss", "bypass"]
    key: str = ""
    detail: str = ""


class RawEvent(Struct):
    """A raw record that torch logged and that no other view shows."""

    name: str
    """torch's name for it; ``NAME (2)`` if there are several with separate texts."""
    count: int = 1
    """How many records without a separate text are joined here, one per line."""
    attempt: int = 0
    size_bytes: int = 0
    language: Language = "text"
    text: str = ""


class Compilation(Struct, weakref=True):
    """One Dynamo frame compiled once."""

    id: str
    """torch's compile id: ``0/0``, after a recompile ``0/1``."""
    attempt: int = 0
    """How often Dynamo restarted the analysis of the frame before this attempt."""
    frame: SourceLine | None = None
    """The first line of the compiled function."""
    graphs: dict[str, Graph] = {}
    """Stage → graph; the stages are `STAGES`."""
    code: Code = msgspec.field(default_factory=Code)
    """The generated wrappers."""
    kernels: Annotated[list[Kernel], Part("kernels")] = []
    """The kernels that its wrappers launch."""
    guards: Annotated[
        list[Guard],
        Part("guards", absent="torch logged no guards: the frame was not kept as compiled code."),
    ] = []
    """The guards of the compilation, in the order in which torch checks them."""
    breaks: list[Break] = []
    """The graph breaks of the frame."""
    recompile: Recompile | None = None
    """Why the frame was compiled again; None for its first compilation."""
    phases: Annotated[
        list[Phase], Part("phases", absent="torch logged no times for this compilation.")
    ] = []
    """The phases of the compile time, as a tree."""
    cache: list[CacheEvent] = []
    """The hits, misses and bypasses of torch's compile caches."""
    absent: dict[str, str] = {}
    """Name of an empty field → why it is empty."""
    guard_tree: Annotated[list[GuardManager], Part("guards")] = []
    """Parents before children."""
    autotunings: Annotated[list[Autotuning], Part("autotunings")] = []
    """Candidates that Inductor benchmarked to choose a kernel or a configuration."""
    crossings: Annotated[list[Crossing], Part("crossings")] = []
    """Operators that the generated code calls through Python's dispatcher."""
    warm_phases: Annotated[list[Phase], Part("phases")] = []
    """The phases of the same compilation with warm caches."""
    warm_cache: list[CacheEvent] = []
    """The cache events of the same compilation with warm caches."""
    started_s: float | None = None
    """When it began, in seconds since the epoch."""
    duration_s: float | None = None
    """Its compile time (s)."""
    cell: str | None = None
    """The id of the notebook cell that was running, if a watch recorded it."""
    call: SourceLine | None = None
    """The line with the ``torch.compile`` call that caused it."""
    reduced: str = ""
    """Which parts were dropped to limit memory, and when; empty for a complete compilation."""
    counts: dict[str, int] = {}
    """The numbers of graphs, nodes (in the largest graph), kernels, guards and lines of code before
    it was reduced."""
    torch_id: str = ""
    """torch's own compile id, if ``id`` differs from it: ``torch._dynamo.reset()`` restarts torch's
    numbering, and a cell's compilations are numbered from 0."""
    cell_number: int | None = None
    """The number of the cell's execution: ``In[3]``."""
    cell_file: str = ""
    """Python's file name for the cell, as in `SourceLine.file`."""
    decisions: Annotated[list[Decision], Part("kernels")] = []
    """Choices for which torch would run benchmarks on the target, which is not present."""
    steps: Annotated[list[Steps], Part("steps")] = []
    """The steps of each wrapper."""
    routes: Annotated[list[Route], Part("crossings")] = []
    """How the wrappers call operators that have no generated kernel."""
    memory: Annotated[list[Memory], Part("memory")] = []
    """The memory use of each wrapper during a call."""
    layouts: Annotated[list[LayoutChange], Part("memory")] = []
    """Copies that only change strides, and strides that Inductor chose."""
    decompositions: Annotated[list[Decomposition], Part("decompositions")] = []
    """Operators that were decomposed, and into which."""
    conditions: Annotated[list[Condition], Part("guards")] = []
    """What its guards require, in plain words: the inputs, then values, then groups of guards."""
    symbols: Annotated[list[ShapeSymbol], Part("shapes")] = []
    """The symbolic sizes, with their values and ranges."""
    shape_decisions: Annotated[list[ShapeDecision], Part("shapes")] = []
    """What torch decided about them, in its order: a specialization, a guard, a range."""
    expressions: Annotated[list[ShapeExpression], Part("shapes")] = []
    """Expressions of symbols, operands first. torch logs them only in ``draft_export``."""
    raw: list[RawEvent] = []
    """For a trace: the remaining records that torch logged."""


COMPILATION_PARTS: dict[str, Part] = fields_of(Compilation)
"""Field of a compilation → the part that it belongs to."""

PARTS: dict[str, tuple[str, ...]] = {
    part.name: tuple(field for field, of in COMPILATION_PARTS.items() if of.name == part.name)
    for part in COMPILATION_PARTS.values()
}
"""Part of a compilation → its fields."""

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

STAGES: dict[str, str] = {
    "dynamo": "Dynamo",
    "before_pre_grad": "before pre-grad passes",
    "pre_grad": "after pre-grad passes",
    "joint": "joint",
    "before_joint": "before joint passes",
    "after_joint": "after joint passes",
    "inference": "inference",
    "forward": "forward",
    "backward": "backward",
    "before_post_grad": "before post-grad passes",
    "post_grad": "after post-grad passes",
    "backward_before_post_grad": "backward, before post-grad passes",
    "backward_post_grad": "backward, after post-grad passes",
}
"""Stage → title, in the order in which torch makes them."""

GUARD_TYPES: dict[str, str] = {
    "GLOBAL_STATE": "The code was compiled for these global modes: grad mode, autocast, "
    "determinism, the default dtype, the number of threads.",
    "TORCH_FUNCTION_MODE_STACK": "The code was compiled under these __torch_function__ modes.",
    "DEFAULT_DEVICE": "The code was compiled for this default device.",
    "TENSOR_MATCH": "The code is specialized to this tensor's type, dispatch keys, "
    "dtype, device, requires_grad, and the sizes and strides that are not dynamic.",
    "DIMENSION_DYNAMIC_MARKING_GUARD": "Sizes that are marked as dynamic or static later need a "
    "compilation of their own.",
    "NO_TENSOR_ALIASING": "These tensors were different objects when the code was compiled.",
    "OBJECT_ALIASING": "These were one and the same object when the code was compiled.",
    "STORAGE_OVERLAPPING": "The code was compiled for inputs that overlap in memory in this way.",
    "ID_MATCH": "The code was traced with this object: another one may behave differently.",
    "TYPE_MATCH": "The methods of this type were traced through.",
    "DICT_CONTAINS": "The tracing depended on whether the key is there.",
    "NO_HASATTR": "The tracing depended on the attribute not being there.",
    "LENGTH_CHECK": "The tracing went through all items.",
    "DICT_LENGTH": "The tracing went through all items.",
    "MAPPING_KEYS_MATCH": "The tracing went through all keys, in this order.",
    "TUPLE_ITERATOR_LEN": "The tracing went through all items that were left.",
    "DUAL_LEVEL_MATCH": "The code was compiled at this level of forward-mode differentiation.",
    "EQUALS_MATCH": "This value is a constant in the graph.",
    "NONE_MATCH": "The tracing depended on this being None.",
    "NOT_NONE": "The tracing depended on this not being None.",
    "TRUE_MATCH": "The tracing depended on this being True.",
    "FALSE_MATCH": "The tracing depended on this being False.",
    "LAMBDA_GUARD": "A check that torch makes in Python.",
    "SYMBOLIC_SHAPE_GUARD": "The code is valid only for dynamic sizes that satisfy this relation.",
}
"""Type of a guard → why torch adds one. Types of a newer torch may be missing."""


CONDITIONS_TITLE = "Any change to these makes the call recompile"
"""The heading of a compilation's conditions in every view."""


class Effective(Struct):
    """A setting as requested and its effective value."""

    setting: str
    requested: str
    actual: str
    why: str = ""
    differs: bool = False
    """Whether torch did something other than requested."""
    remedy: str = ""
    """What to change, where something can be done."""
    operators: list[str] = []
    """The operators or fusions concerned."""
    where: SourceLine | None = None
    code: str = ""
    """The remedy as code to paste."""
    trial: Variant | None = None
    """The variant that has the remedy, where a switch brings it."""
