"""The ways to deploy a call, as code."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from ...analysis.graphs.repeated_blocks import compile_each, one_each
from ...analysis.settings.variant_code import code_of
from ...report.measurements.deployment import (
    BLOCKS,
    NESTED,
    PACKAGE,
    WHOLE,
    WRITTEN,
    DeployWay,
)
from ...report.variant import Variant
from ...torch_api.inductor.dynamic_shapes import dynamic_shapes_code

EAGER = "eager"
"""The variant's own settings."""
OTHER_WRAPPERS = {False: "Python wrapper", True: "C++ wrapper"}
REPEATED = "compile_repeated_blocks"
NO_GUARDS = "no guards"
TENSOR_GUARDS = "tensor guards only"
AOT = "aot_compile"
AOTI = "AOTInductor"
_WITHOUT_GRAPHS = {
    "reduce-overhead": "the mode 'default'",
    "max-autotune": "the mode 'max-autotune-no-cudagraphs'",
}
"""The modes with CUDA graphs, each with what it is without them."""
_TUNED = ("max-autotune-no-cudagraphs", "max-autotune")
"""The modes that compile and time several kernels in place of each."""

SLOW = frozenset({*_TUNED, OTHER_WRAPPERS[True], AOTI})
"""What takes longer to compile than the whole call with the Python wrapper."""

_COMPILER = "torch.compiler"
_NO_GRADIENTS = {"torch.no_grad()", "torch.inference_mode()"}
_SHIP_CACHES = """\
artifacts, _ = torch.compiler.save_cache_artifacts()
Path("caches.bin").write_bytes(artifacts)"""
_LOAD_CACHES = """\
torch.compiler.load_cache_artifacts(Path("caches.bin").read_bytes())"""
_FORWARD = """\
def forward(model, *args, **kwargs):
    return model(*args, **kwargs)


"""
_CONSTANT_FLOATS = """\
# Without it, torch fails for a float of the model that has to be a constant, such as a dropout's p.
with torch._dynamo.config.patch(specialize_float=True):"""
_RECOMPILES = "recompiles if a guard fails, and the call waits for it"
_ONE_GRAPH = "one graph for these {}: other calls raise an error"
_STATIC = "shapes, dtypes and strides"
_DYNAMIC = "dtypes, and for sizes in the ranges that torch.export finds"
_OWN_WEIGHTS = (
    "weights and buffers are copied into the package: changes in the model do not reach it, and "
    "changes in it do not reach the model"
)
_BLOCK_RESTRICTIONS = (
    _RECOMPILES,
    "nothing fuses across blocks, and what is around them is not compiled",
    "guards are checked for every block",
)


@dataclass(frozen=True)
class Subject:
    """What the code of the ways depends on."""

    is_module: bool
    device: str
    blocks: str
    """The equal blocks, as code: ``model.layers``; empty where there are none."""
    modes: Sequence[str]
    """The modes of the installed torch."""
    features: frozenset[str]
    """Of ``torch.compiler`` and what it returns, what the installed torch has."""
    blocks_are_torchs: bool = False
    """Whether their class is one of torch's own."""
    blocks_differ: str = ""
    """A value that the blocks guard differently; empty if none is known."""
    has_numbers: bool = False
    """Whether some arguments are numbers, or other values that are not tensors."""
    has_nested_tensors: bool = False
    """Whether tensors are in containers among the arguments."""
    contexts: Sequence[str] = ()
    """torch's modes in which the processes run, as `DeployWay.contexts`."""
    process_settings: Sequence[str] = ()
    """torch's settings in the processes, as `DeployWay.process_settings`."""
    names_repeated: bool = False
    """Whether the model names its repeated blocks, and compiles them by itself."""

    @property
    def name(self) -> str:
        """The variable that holds it in the code."""
        return "model" if self.is_module else "fn"


def ways(variant: Variant, subject: Subject) -> list[DeployWay]:
    """Every way, those that cannot be tried here with the reason.

    They are measured in this order: what is quickly measured and usually asked for comes first,
    what tunes kernels or compiles C++ comes last.
    """
    modes = _modes(variant, subject)
    other_wrapper = _compiled(
        OTHER_WRAPPERS[not variant.cpp_wrapper],
        "the same with the other wrapper",
        msgspec.structs.replace(variant, cpp_wrapper=not variant.cpp_wrapper),
        subject,
    )
    every_way = [
        DeployWay(
            name=EAGER,
            title="as written, without torch.compile",
            code=f"compiled = {subject.name}",
            shipped_why="There is nothing to ship.",
        ),
        _compiled(WHOLE, "the settings of this variant", variant, subject),
        *([other_wrapper] if variant.cpp_wrapper else []),
        _blocks(variant, subject),
        *([_repeated(variant)] if subject.names_repeated else []),
        _nested(variant, subject),
        *(way for way in modes if way.name not in _TUNED),
        _with_guards_filtered(
            variant,
            subject,
            name=NO_GUARDS,
            title="no check before a call",
            filter_fn="skip_all_guards_unsafe",
            ignored="other sizes, types or values",
        ),
        _with_guards_filtered(
            variant,
            subject,
            name=TENSOR_GUARDS,
            title="only tensors are checked before a call",
            filter_fn="keep_tensor_guards_unsafe",
            ignored="other values that are not tensors, or another state of the model",
        ),
        _aot_compile(variant, subject),
        *(way for way in modes if way.name in _TUNED),
        *([] if variant.cpp_wrapper else [other_wrapper]),
        _aot_inductor(variant, subject),
    ]
    for way in every_way:
        way.contexts = list(subject.contexts)
        way.process_settings = list(subject.process_settings)
    return every_way


def _compiled(name: str, title: str, variant: Variant, subject: Subject) -> DeployWay:
    code = code_of(variant, subject.name)
    return _with_caches(DeployWay(name=name, title=title, code=code, restrictions=[_RECOMPILES]))


def _with_caches(way: DeployWay) -> DeployWay:
    """It ships torch's caches, as one file."""
    way.ship_code = _SHIP_CACHES
    way.load_code = f"{_LOAD_CACHES}\n{way.code}"
    return way


def _modes(variant: Variant, subject: Subject) -> list[DeployWay]:
    compiled_ways = []
    for mode in subject.modes:
        if mode in ("default", variant.mode):
            continue
        way = _compiled(mode, f"mode={mode!r}", _with_mode(variant, mode), subject)
        has_graphs = mode in _WITHOUT_GRAPHS
        if has_graphs and subject.device == "cpu":
            way.why = (
                f"On a CPU it is the same as {_WITHOUT_GRAPHS[mode]}, as CUDA graphs need a GPU."
            )
        elif has_graphs:
            way.restrictions.append("results are overwritten by the next call: clone what is kept")
        compiled_ways.append(way)
    return compiled_ways


def _with_mode(variant: Variant, mode: str) -> Variant:
    return msgspec.structs.replace(variant, mode=mode)


def _with_guards_filtered(
    variant: Variant, subject: Subject, *, name: str, title: str, filter_fn: str, ignored: str
) -> DeployWay:
    options = {**variant.options, "guard_filter_fn": f"<function {_COMPILER}.{filter_fn}>"}
    way = _compiled(name, title, msgspec.structs.replace(variant, options=options), subject)
    way.restrictions = [f"a call with {ignored} gives wrong results, without an error"]
    way.safe = False
    if filter_fn not in subject.features:
        way.why = f"This torch has no {_COMPILER}.{filter_fn}."
    return way


def _blocks(variant: Variant, subject: Subject) -> DeployWay:
    code = compile_each(
        subject.blocks, torchs_own=subject.blocks_are_torchs, settings=_settings(variant)
    )
    way = _with_caches(
        DeployWay(
            name=BLOCKS,
            title="the repeated block (at least four of them) compiled once, each block a call",
            code=f"{code}\ncompiled = model",
            restrictions=list(_BLOCK_RESTRICTIONS),
        )
    )
    if subject.blocks_differ:
        way.why = one_each(subject.blocks_differ)
    return _with_blocks(way, subject)


def _repeated(variant: Variant) -> DeployWay:
    """The method of diffusers' models, which compiles every block that their class names."""
    return _with_caches(
        DeployWay(
            name=REPEATED,
            title="the blocks that the model names compiled, each block a call",
            code=f"model.compile_repeated_blocks({_settings(variant)})\ncompiled = model",
            restrictions=list(_BLOCK_RESTRICTIONS),
        )
    )


def _settings(variant: Variant) -> str:
    """The arguments of ``torch.compile`` after the first, as code."""
    arguments = code_of(variant, "").removeprefix("compiled = torch.compile(, ")
    return "" if arguments.startswith("compiled") else arguments.removesuffix(")")


def _nested(variant: Variant, subject: Subject) -> DeployWay:
    way = _with_caches(
        DeployWay(
            name=NESTED,
            title="the whole call, with the repeated block (at least four of them) as a region "
            "that is compiled once",
            code=f"block_class = type({subject.blocks}[0])\n"
            "block_class.forward = torch.compiler.nested_compile_region(block_class.forward)\n"
            f"{code_of(variant, 'model')}",
            restrictions=[
                _RECOMPILES,
                "nothing fuses across blocks",
                "changes the blocks' class: other models with such blocks get the region, too",
            ],
        )
    )
    if subject.has_numbers:
        way.restrictions.append(
            "another number that reaches the blocks may end in an internal error of torch"
        )
    if "nested_compile_region" not in subject.features:
        way.why = "This torch has no torch.compiler.nested_compile_region."
    return _with_blocks(way, subject)


def _with_blocks(way: DeployWay, subject: Subject) -> DeployWay:
    """The way unchanged if there are equal blocks; else with the reason and without code."""
    if not subject.blocks:
        way.why = (
            "The model has no list of at least four modules of one class."
            if subject.is_module
            else "A function has no list of modules: this way is for a model with one."
        )
        way.code = way.ship_code = way.load_code = ""
    return way


def _aot_compile(variant: Variant, subject: Subject) -> DeployWay:
    whole = msgspec.structs.replace(variant, fullgraph=True)
    # A function around the module: torch calls the compiled forward of its own classes, such as
    # Sequential, without the module, and that of others with it.
    target = "forward" if subject.is_module else "fn"
    compiled = code_of(whole, target).replace("compiled = ", "ahead = ", 1)
    example_arguments = "(model, *args)" if subject.is_module else "args"
    bound = "functools.partial(ahead, model)" if subject.is_module else "ahead"
    ahead = f"{compiled}.aot_compile(({example_arguments}, kwargs))"
    # A float among the arguments may be dynamic; those of the model are constant in any case.
    if variant.dynamic and not subject.has_numbers:
        ahead = f"{_CONSTANT_FLOATS}\n{textwrap.indent(ahead, '    ')}"
    way = DeployWay(
        name=AOT,
        title="compiled ahead of the first call, guards included",
        code=f"{_FORWARD if subject.is_module else ''}{ahead}\ncompiled = {bound}",
        ship_code='ahead.save_compiled_function("compiled.bin")',
        load_code='with open("compiled.bin", "rb") as file:\n'
        f"    ahead = torch.compiler.load_compiled_function(file)\ncompiled = {bound}",
        restrictions=[
            "one graph for these arguments: another call fails instead of compiling",
            "a graph break is an error",
        ],
    )
    if AOT not in subject.features or "load_compiled_function" not in subject.features:
        way.why = "This torch has no aot_compile."
    return way


def _aot_inductor(variant: Variant, subject: Subject) -> DeployWay:
    load = (
        "# Without it, other shapes, dtypes and strides give wrong results instead of an error.\n"
        'os.environ["AOTI_RUNTIME_CHECK_INPUTS"] = "1"\n'
        f'compiled = torch._inductor.aoti_load_package("{PACKAGE}")'
    )
    is_dynamic = bool(variant.dynamic)
    shapes = ", dynamic_shapes=shapes" if is_dynamic else ""
    export = (
        f"program = torch.export.export(model, args, kwargs{shapes})\n"
        f'torch._inductor.aoti_compile_and_package(program, package_path="{PACKAGE}")\n'
    )
    if not _NO_GRADIENTS.intersection(subject.contexts):
        export = f"with torch.no_grad():\n{textwrap.indent(export, '    ')}"
    if is_dynamic:
        export = f"{dynamic_shapes_code(nested=subject.has_nested_tensors)}{export}"
    way = DeployWay(
        name=AOTI,
        title=f"exported{' with dynamic sizes' if is_dynamic else ''} and compiled to a library "
        "that needs no Python",
        code=f"{export}{load}",
        ship_code=WRITTEN,
        load_code=load,
        restrictions=[
            _ONE_GRAPH.format(_DYNAMIC if is_dynamic else _STATIC),
            "no gradients",
            _OWN_WEIGHTS,
        ],
    )
    if subject.has_numbers:
        way.safe = False
        way.restrictions.append(
            "numbers in the arguments are compiled in: others give wrong results, without an error"
        )
    if not subject.is_module:
        way.why = "torch.export requires a module, and the subject is not one."
    elif variant.options or variant.mode not in (None, "default"):
        way.title += ", with torch's default settings"
    return way
