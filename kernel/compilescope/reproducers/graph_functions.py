"""Parses a graph's text as Python, and extracts the statements that compute some nodes."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ..report import Graph, Node
from ..report.saving.redaction_mark import lacks_constants

RANDOM = re.compile(
    r"\b(inductor_random|inductor_randint|inductor_lookup_seed\w*|inductor_seeds?|rand\w*|normal\w*|"
    r"bernoulli\w*|multinomial|\w*dropout\w*|exponential\w*|uniform\w*|poisson)[.(]"
)
"""A call in a graph's text that draws random numbers."""


@dataclass
class Reference:
    """A kernel's computation as a function of torch's operators."""

    code: str = ""
    """The source of a function ``reference`` of its inputs; empty if there is none."""
    inputs: dict[str, str] | None = None
    """Its parameters, which are nodes → the variable that holds each node."""
    outputs: dict[str, str] | None = None
    """Variable → the node that it holds after the launch."""
    why: str = ""
    """Why it is missing, or missing for some results."""


def as_python(text: str) -> str:
    """A graph's text with a valid class name: torch sometimes writes ``<lambda>``."""
    return text.strip().replace("class <lambda>(", "class GraphModule(", 1)


def forward_of(text: str) -> ast.FunctionDef | None:
    """The function of a graph's text; None if it is not valid Python."""
    try:
        tree = ast.parse(as_python(text))
    except SyntaxError:
        return None
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            for statement in node.body:
                if isinstance(statement, ast.FunctionDef) and statement.name == "forward":
                    return statement
    return None


WITHOUT_BIAS = "_without_bias"
"""The suffix of the name of a convolution's result to which another kernel adds the bias."""


def reference_of(
    graph: Graph | None,
    inputs: Mapping[str, str],
    outputs: Mapping[str, str],
    without_bias: Mapping[str, Node] = MappingProxyType({}),
) -> Reference:
    """The operators that lead from the nodes that a kernel reads to those that it writes.

    Parameters
    ----------
    graph
        The graph that the wrapper was generated from.
    inputs
        Node → the variable that holds it before the launch.
    outputs
        Variable → the node that it holds afterwards.
    without_bias
        Variable → the convolution that it holds before the launch, without its bias.
    """
    if not outputs:
        return Reference(why="torch does not say which nodes its results are")
    forward = forward_of(graph.text) if graph is not None else None
    if graph is not None and forward is None and lacks_constants(graph.text):
        return Reference(why="the report was saved without the graph's constants (redacted)")
    if forward is None:
        return Reference(why="the graph that it was generated from cannot be run as Python")
    values = _values(forward)
    inputs = dict(inputs)
    for variable, node in without_bias.items():
        bias = bias_of(node)
        inputs.pop(node.name, None)
        inputs[f"{node.name}{WITHOUT_BIAS}"] = variable
        trailing = ", 1" * (len(node.shape or []) - 2)
        added = f"{node.name}{WITHOUT_BIAS} + {bias}.reshape(-1{trailing})"
        values[node.name] = ast.parse(added, mode="eval").body
    used: set[str] = set()
    path_nodes: set[str] = set()
    followed: dict[str, str] = {}
    why = ""
    dtypes = {node.name: node.dtype for node in graph.nodes} if graph is not None else {}
    for variable, output in outputs.items():
        unspecified = _why_unspecified(output, values, dtypes.get(output))
        if unspecified:
            why = unspecified
            continue
        path: set[str] = set()
        used_inputs: set[str] = set()
        missing = _follow(output, values, inputs, path, used_inputs)
        if missing and inputs.get(output, variable) != variable:
            # The kernel copies a value that it reads, into another layout.
            path, used_inputs, missing = set(), {output}, ""
        if missing:
            why = _why_not_followed(output, missing)
            continue
        followed[variable] = output
        path_nodes |= path
        used |= used_inputs
    if not followed:
        return Reference(why=why)
    lines = [
        f"    {name} = {ast.unparse(value)}" for name, value in values.items() if name in path_nodes
    ]
    results = ", ".join(f"{variable!r}: {output}" for variable, output in followed.items())
    parameters = [name for name in inputs if name in used]
    code = "\n".join(
        [f"def reference({', '.join(parameters)}):", *lines, f"    return {{{results}}}"]
    )
    return Reference(code, {name: inputs[name] for name in parameters}, followed, why)


def bias_of(node: Node) -> str:
    """The node that a convolution adds to its result; empty if there is none."""
    arguments = _arguments(node)
    is_convolution = "aten.convolution." in node.target and len(arguments) > 2
    return arguments[2].id if is_convolution and isinstance(arguments[2], ast.Name) else ""


def _values(forward: ast.FunctionDef) -> dict[str, ast.expr]:
    """Node → the expression that computes it, in order."""
    values: dict[str, ast.expr] = {}
    for statement in forward.body:
        if isinstance(statement, ast.AnnAssign) and statement.value is not None:
            target: ast.expr = statement.target
            value = statement.value
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
        else:
            continue
        # ``x = None`` frees a value.
        is_freed = isinstance(value, ast.Constant) and value.value is None
        if isinstance(target, ast.Name) and not is_freed:
            values[target.id] = value
    return values


def _follow(
    node: str,
    values: Mapping[str, ast.expr],
    inputs: Mapping[str, str],
    path: set[str],
    used: set[str],
) -> str:
    """Adds the nodes that a node needs to ``path``; returns the first unavailable one, or empty."""
    pending = [node]
    while pending:
        name = pending.pop()
        if name in path:
            continue
        if name in inputs and name != node:
            used.add(name)
            continue
        value = values.get(name)
        if value is None:
            return name
        text = ast.unparse(value)
        names = [part.id for part in ast.walk(value) if isinstance(part, ast.Name)]
        if "self" in names:
            return text
        if RANDOM.search(text):
            return _RANDOM_NUMBERS
        path.add(name)
        pending += [
            used_name
            for used_name in names
            if used_name in values or used_name in inputs or _is_node(used_name)
        ]
    return ""


_RANDOM_NUMBERS = "random numbers"


def _why_not_followed(output: str, missing: str) -> str:
    """Why a result has no reference.

    Parameters
    ----------
    missing
        What `_follow` returns.
    """
    if missing == _RANDOM_NUMBERS:
        return f"{output} depends on random numbers, which differ in each run"
    if "self." in missing:
        return f"{output} depends on a constant, {missing}, whose values are not in the report"
    return (
        f"{output} is computed from {missing}, and torch does not say which argument of the kernel "
        f"holds {missing}"
    )


def _why_unspecified(output: str, values: Mapping[str, ast.expr], dtype: str | None) -> str:
    """Why one of the several results of an operator may differ in each run; empty if it may not."""
    value = values.get(output)
    if not isinstance(value, ast.Subscript) or not isinstance(value.value, ast.Name):
        return ""
    call = values.get(value.value.id)
    if not isinstance(call, ast.Call):
        return ""
    operator = ast.unparse(call.func)
    if dtype == "uint8":
        return f"{output} is memory that the operator keeps for its backward"
    if "attention" not in operator:
        return ""
    probabilities = [
        argument.value
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, float)
    ]
    if any(probabilities):
        return _why_not_followed(output, _RANDOM_NUMBERS)
    if "backward" in operator:
        return (
            f"{output} is computed from values that the forward of the attention keeps, for which "
            "random numbers are no substitute"
        )
    if isinstance(value.slice, ast.Constant) and value.slice.value == 0:
        return ""
    return f"{output} is a value that the attention keeps for its backward"


def _is_node(name: str) -> bool:
    """Whether a name may belong to a node, not to a module or a constant."""
    return name not in ("torch", "device", "inf", "nan", "math", "operator", "fx_pytree", "slice")


def index_bounds(names: Sequence[str], nodes: Mapping[str, Node]) -> dict[str, int]:
    """Integer node → the size of the dimension that it indexes, for nodes that are indices."""
    bounds: dict[str, int] = {}
    for name in names:
        pending, seen = [name], {name}
        while pending:
            current = pending.pop()
            for user in nodes[current].users if current in nodes else ():
                node = nodes.get(user)
                if node is None:
                    continue
                bound = _bound(node, current, nodes)
                if bound is not None:
                    bounds[name] = min(bound, bounds.get(name, bound))
                elif user not in seen and (node.dtype or "").startswith(("int", "uint")):
                    seen.add(user)
                    pending.append(user)
    return bounds


def _bound(user: Node, name: str, nodes: Mapping[str, Node]) -> int | None:
    """The size that a node indexes in another node that takes it as an index."""
    args = _arguments(user)
    if not args:
        return None
    operator = user.target.rpartition("aten.")[2]
    indexed = args[0].id if isinstance(args[0], ast.Name) else ""
    sizes = _sizes(nodes.get(indexed))
    if "max_pool" in operator and "offsets_to_indices" in operator and _is(args[0], name):
        # Positions in the window, stored as one-byte integers.
        return math.prod(
            constant.value
            for constant in ast.walk(args[1])
            if isinstance(constant, ast.Constant) and isinstance(constant.value, int)
        )
    if operator.startswith("embedding.") and sizes and _is(args[1], name):
        return sizes[0]
    if operator.startswith(("index.", "index_put", "_unsafe_index")) and len(args) > 1:
        elements = args[1].elts if isinstance(args[1], (ast.List, ast.Tuple)) else []
        for dimension, element in enumerate(elements):
            if _is(element, name) and dimension < len(sizes):
                return sizes[dimension]
    by_dimension = operator.startswith(("gather.", "scatter", "index_select.", "index_add"))
    if by_dimension and len(args) > 2 and _is(args[2], name) and sizes:
        dimension = ast.literal_eval(args[1])
        return sizes[dimension] if isinstance(dimension, int) else None
    return None


def _arguments(node: Node) -> list[ast.expr]:
    """A node's positional arguments; empty if they are not valid Python."""
    try:
        call = ast.parse(f"f({node.args})", mode="eval").body
    except SyntaxError:
        return []
    return call.args if isinstance(call, ast.Call) else []


def _sizes(node: Node | None) -> list[int]:
    shape = node.shape or [] if node is not None else []
    return [int(size) for size in shape] if all(size.isdigit() for size in shape) else []


def _is(argument: ast.expr, name: str) -> bool:
    return isinstance(argument, ast.Name) and argument.id == name
