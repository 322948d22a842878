"""Finds equal blocks in a graph, which could be compiled once instead of repeatedly."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from typing import NamedTuple

from ...report import Compilation, Graph, Node, Subject

_MIN_BLOCKS = 4
"""Fewer equal blocks are not worth a change."""
_MIN_OPERATIONS = 4
"""Smaller blocks, such as single layers, are too little work for a separate call."""
_INDEX = re.compile(r"(?:^|\.)(\d+)(?=\.|$)")
_PLAIN = ("EQUALS_MATCH", "CONSTANT_MATCH", "TRUE_MATCH", "FALSE_MATCH", "NONE_MATCH")
"""torch's guards that compare a value with a constant."""
_FLOAT = re.compile(r" == -?(?:\d+\.|\d+e|inf|nan)")
_ITEM = re.compile(r"\._modules\['(\w+)'\]")
_ROOT = re.compile(r"^[LG]\['(\w+)'\]")
_STAGES = ("dynamo", "pre_grad")
_OWNED = ("module", "method")
"""The kinds of subjects whose first parameter is the module itself, mostly called ``self``."""


class Blocks(NamedTuple):
    """Equal blocks of a model."""

    path: str
    """Their path: ``transformer.h``."""
    type: str
    """Their class's name; empty if no node has it."""
    number: int
    share: float
    """Their share of the graph's nodes."""
    torchs_own: bool
    """Whether their class is one of torch's own."""
    mixed: bool = False
    """Whether the list holds modules of other classes too: a Sequential with a stem and a head."""
    differs: str = ""
    """A value that the blocks guard differently, ``attention.layer_idx``: torch compiles each."""


def repeated_blocks(compilation: Compilation) -> Blocks | None:
    """The largest run of equal blocks in a compilation's graph; None if there is none.

    Blocks are modules in one list with the same operators in the same order, on tensors of the same
    sizes and dtypes: torch compiles others again.
    """
    graph = _graph(compilation)
    if graph is None:
        return None
    nodes = [node for node in graph.nodes if node.op not in ("placeholder", "output", "get_attr")]
    by_path: dict[str, dict[int, list[Node]]] = {}
    for node in nodes:
        for match in _INDEX.finditer(node.module or ""):
            path = (node.module or "")[: match.start(1)].rstrip(".")
            by_path.setdefault(path, {}).setdefault(int(match[1]), []).append(node)
    best: Blocks | None = None
    indices: list[int] = []
    for path, blocks in by_path.items():
        alike: dict[tuple[tuple[object, ...], ...], list[int]] = {}
        for index, block_nodes in blocks.items():
            does = tuple(
                (
                    block_node.target,
                    _position_in_block(block_node, path, index),
                    block_node.dtype,
                    tuple(block_node.shape or ()),
                )
                for block_node in block_nodes
            )
            alike.setdefault(does, []).append(index)
        same = max(alike.values(), key=len)
        block_nodes = [node for index in same for node in blocks[index]]
        share = len(block_nodes) / len(nodes)
        is_large = len(block_nodes) >= _MIN_OPERATIONS * len(same)
        if len(same) >= _MIN_BLOCKS and is_large and (best is None or share > best.share):
            kind = _type(block_nodes, path, same[0])
            name = kind.rpartition(".")[2]
            classes = {_type(block_nodes, path, index) for index, block_nodes in blocks.items()}
            mixed = bool(classes - {kind, ""})
            best = Blocks(path, name, len(same), share, is_torchs_own(kind), mixed)
            indices = same
    if best is None:
        return None
    return best._replace(differs=differing_value(compilation, best.path, indices))


def differing_value(compilation: Compilation, path: str, indices: Collection[int] = ()) -> str:
    """A plain value that the guards of blocks compare with different constants; empty if none.

    Floats do not count: they become symbols in the second compilation, which fits all blocks.

    Parameters
    ----------
    compilation
        Of the whole model.
    path
        The blocks' list: ``layers``, or with the variable that holds the model first.
    indices
        The blocks to compare; all of them if empty.
    """
    values: dict[str, str] = {}
    for guard in compilation.guards:
        if guard.type not in _PLAIN or not guard.expression.startswith(guard.source):
            continue
        name = _ITEM.sub(r".\1", guard.source)
        within = _block_value(name.partition("]")[2].lstrip("."), path) or _block_value(
            _ROOT.sub(r"\1", name), path
        )
        if within is None or (indices and within[0] not in indices):
            continue
        value = guard.expression.removeprefix(guard.source)
        if _FLOAT.search(value):
            continue
        if values.setdefault(within[1], value) != value:
            return within[1]
    return ""


def _block_value(name: str, path: str) -> tuple[int, str] | None:
    """The index of a block and the value's path in it: 3 and ``a.l`` for ``layers.3.a.l``."""
    if path and not name.startswith(f"{path}."):
        return None
    index, _, rest = name[len(path) :].lstrip(".").partition(".")
    return (int(index), rest) if index.isdecimal() and rest else None


def one_each(differs: str) -> str:
    """Why blocks that guard a value differently do not share one compilation."""
    return (
        f"The blocks differ in {differs}, which guards compare: torch compiles each of them, and "
        "runs those beyond its recompile limit in eager."
    )


def is_torchs_own(module_type: str) -> bool:
    """Whether a class with this full name is one of torch's own modules."""
    return module_type.startswith("torch.nn.")


def compile_each(path: str, *, torchs_own: bool, only: str = "", settings: str = "") -> str:
    """Code that compiles each block of a list, all of them with one compilation.

    torch compiles nothing where ``module.compile()`` enters the forward of one of its own classes,
    such as Sequential or TransformerEncoderLayer, as seen in 2.11 and 2.13; it compiles the forward
    itself.

    Parameters
    ----------
    path
        The list of modules, as code: ``model.layers``.
    torchs_own
        Whether the blocks' class is one of torch's own.
    only
        The blocks' class, where the list holds other modules too.
    settings
        Arguments of ``torch.compile`` after the first, as code.

    Examples
    --------
    >>> print(compile_each("model.layers", torchs_own=False, settings="dynamic=True"))
    for block in model.layers:
        block.compile(dynamic=True)
    >>> print(compile_each("model", torchs_own=False, only="Bottleneck"))
    for block in model:
        if isinstance(block, Bottleneck):
            block.compile()
    >>> print(compile_each("model.layers", torchs_own=True))
    for block in model.layers:
        block.forward = torch.compile(block.forward)
    """
    if torchs_own:
        arguments = ", ".join(filter(None, ["block.forward", settings]))
        body = f"block.forward = torch.compile({arguments})"
    else:
        body = f"block.compile({settings})"
    if only:
        body = f"if isinstance(block, {only}):\n        {body}"
    return f"for block in {path}:\n    {body}"


def written_path(path: str, compilation: Compilation, subject: Subject) -> str:
    """The path of a module as the caller of the subject writes it: ``model.transformer.h``.

    A path starts at the called module, whatever name its method has for it, or otherwise at the
    variable that holds the module.
    """
    first, _, rest = path.partition(".")
    arguments = {line.partition(":")[0] for line in subject.arguments}
    if subject.kind not in _OWNED or first in arguments or _has_input(compilation, f"G_{first}"):
        return path or _model(subject)
    # Dynamo names a value after its variable, ``L['s']``; paths leave out only ``self``.
    inside = rest if _has_input(compilation, f"L_{first}") else path
    return ".".join(filter(None, [_model(subject), inside]))


def _model(subject: Subject) -> str:
    """The module's name in the line of the call; ``model`` if unknown."""
    try:
        (statement,) = ast.parse(subject.call.code.strip() if subject.call else "").body
    except (SyntaxError, ValueError):
        return _USUAL
    call = getattr(statement, "value", None)
    if not isinstance(call, ast.Call):
        return _USUAL
    called: ast.expr = call.func
    # ``cs.inspect(model, (x,))`` is the line of a script: it names what is called first.
    if call.args and ast.unparse(called).rpartition(".")[2] == "inspect":
        called = call.args[0]
    if subject.kind == "method" and isinstance(called, ast.Attribute):
        called = called.value
    named = ast.unparse(called)
    return named if _DOTTED.fullmatch(named) else _USUAL


_USUAL = "model"
_DOTTED = re.compile(r"\w+(\.\w+)*")


def _has_input(compilation: Compilation, variable: str) -> bool:
    """Whether the graph reads parameters of a module that the variable holds."""
    graph = _graph(compilation)
    return graph is not None and any(
        node.op == "placeholder" and node.target.startswith(f"{variable}_modules_")
        for node in graph.nodes
    )


def _graph(compilation: Compilation) -> Graph | None:
    return next(
        (compilation.graphs[stage] for stage in _STAGES if stage in compilation.graphs), None
    )


def _position_in_block(node: Node, path: str, index: int) -> str:
    """The position of a node in its block, equal in all blocks."""
    prefix = f"{path}.{index}" if path else str(index)
    return (node.module or "").removeprefix(prefix)


def _type(nodes: list[Node], path: str, index: int) -> str:
    whole = f"{path}.{index}" if path else str(index)
    kinds = (node.module_type for node in nodes if node.module == whole and node.module_type)
    return next(kinds, "")
