"""Writes a program that runs one kernel of a report alone."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Mapping, Sequence
from string import Template

from ..analysis.wrapper.launches import codes_of, nodes_of
from ..report import Code, Compilation, Graph, Kernel, Launch, Node, Report
from ..report.errors import CompilescopeError
from .graph_functions import Reference, bias_of, index_bounds, reference_of
from .graph_program import check_constants
from .program import Program
from .program_parts import COMPARE, FILL, KERNEL_MAIN, TIME, TOP, head
from .wrapper_slice import LaunchSlice, slice_launch

_STAGES = {"inference": "post_grad", "forward": "post_grad", "backward": "backward_post_grad"}


def kernel_program(
    report: Report, name: str, compile_id: str | None, variant: str | None
) -> Program:
    """A program that runs one kernel alone.

    Raises
    ------
    CompilescopeError
        The kernel does not exist, or the report lacks what it needs.
    """
    compilation, kernel = _kernel(report, name, compile_id, variant)
    launch, code, nodes = _python_launch(report, compilation, kernel)
    assert code.python is not None, "_python_launch gives code with a Python wrapper"
    what = f"The kernel {kernel.name!r}"
    if not _is_python(code.python):
        check_constants(what, code.python)
    sliced = slice_launch(code.python, launch.line, lambda name: _dtype_of(name, code, nodes))
    check_constants(what, "\n".join([*sliced.kernels, *sliced.memory, sliced.launch]))
    graph = compilation.graphs.get(_STAGES[code.direction])
    reference = _reference(kernel, launch, code, graph, sliced)
    device = _device(sliced, kernel)
    return Program(
        what=kernel.name,
        file_name=f"{re.sub(r'[^A-Za-z0-9]+', '_', kernel.name).strip('_')[:60]}.py",
        code=_kernel_text(report, compilation, kernel, sliced, reference, nodes),
        device=device,
        unchecked=reference.why,
    )


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _dtype_of(name: str, code: Code, nodes: Mapping[str, Node]) -> str:
    """The type and the device of a buffer, as arguments."""
    node = nodes.get(code.buffers.get(name, ""))
    if node is None or node.dtype is None:
        return ""
    return f"dtype=torch.{node.dtype}, device={node.device or 'cpu'!r}"


def _kernel(
    report: Report, name: str, compile_id: str | None, variant: str | None
) -> tuple[Compilation, Kernel]:
    names: list[str] = []
    for variant_report in report.variants if variant is None else [report.variant(variant)]:
        for compilation in variant_report.compilations:
            if compile_id not in (None, compilation.id):
                continue
            for kernel in compilation.kernels:
                if kernel.name == name:
                    return compilation, kernel
                names.append(kernel.name)
    listed = ", ".join(map(repr, dict.fromkeys(names))) or "none"
    raise CompilescopeError(f"The report has no kernel {name!r}.", remedy=f"It has {listed}.")


def _python_launch(
    report: Report, compilation: Compilation, kernel: Kernel
) -> tuple[Launch, Code, dict[str, Node]]:
    """A kernel's launch in a Python wrapper of the report, with that wrapper's code."""
    for launch in kernel.launches:
        if launch.artifact != "python":
            continue
        owner = report.compilation(compilation.id, launch.variant)
        for code in codes_of(owner):
            if code.direction == kernel.direction and _has(code, launch):
                nodes = nodes_of(owner).get(code.direction, {})
                return launch, code, nodes
    raise CompilescopeError(
        f"No Python wrapper of the report launches {kernel.name!r}.",
        "A kernel is reproduced from the Python wrapper, which has its arguments as Python.",
        "Inspect with the Python wrapper too: variants=('python', 'cpp').",
    )


def _has(code: Code, launch: Launch) -> bool:
    if code.python is None:
        return False
    lines = code.python.split("\n")
    return launch.line <= len(lines) and launch.text in lines[launch.line - 1]


def _reference(
    kernel: Kernel, launch: Launch, code: Code, graph: Graph | None, sliced: LaunchSlice
) -> Reference:
    reads, writes = _directions(kernel, sliced)
    inputs: dict[str, str] = {}
    for variable in reads:
        holder = sliced.held.get(variable, "")
        node = holder if holder in sliced.examples else code.buffers.get(holder, "")
        if node:
            inputs.setdefault(node, variable)
    outputs = {variable: code.buffers[variable] for variable in writes if variable in code.buffers}
    _add_only_input(inputs, reads, outputs, graph, sliced)
    without_bias = _without_bias(inputs, code, graph, sliced)
    reference = reference_of(graph, inputs, outputs, without_bias)
    lacking = [variable for variable in writes if variable not in (reference.outputs or {})]
    if reference.code and lacking and not reference.why:
        reference.why = f"torch does not say which node {lacking[0]} is"
    return reference


def _without_bias(
    inputs: Mapping[str, str], code: Code, graph: Graph | None, sliced: LaunchSlice
) -> dict[str, Node]:
    """Variable → the convolution whose result it holds before its bias is added.

    On a GPU a library's convolution is called without the bias, which a generated kernel adds.
    """
    convolutions = {}
    for node in graph.nodes if graph is not None else []:
        variable = inputs.get(node.name, "")
        holder = sliced.held.get(variable, "")
        called = rf"\b{re.escape(holder)} = extern_kernels\.convolution\(.*\bbias=None"
        if holder and bias_of(node) and re.search(called, code.python or ""):
            convolutions[variable] = node
    return convolutions


def _add_only_input(
    inputs: dict[str, str],
    reads: Sequence[str],
    outputs: Mapping[str, str],
    graph: Graph | None,
    sliced: LaunchSlice,
) -> None:
    """Adds an input whose node torch does not record, if only one node is possible.

    That is the case if a single variable and a single node of the same shape are left, and no view
    of the node has this shape, too: the variable may hold a copy of the view.
    """
    taken = {sliced.held[variable] for variable in inputs.values()}
    left = [
        variable
        for variable in reads
        if variable in sliced.held and sliced.held[variable] not in taken
    ]
    nodes = {node.name: node for node in graph.nodes} if graph is not None else {}
    lacking: dict[str, set[str]] = {}
    for output in outputs.values():
        for used in _operands(output, nodes):
            *views, name = _views(used, nodes)
            if name not in inputs and nodes[name].shape is not None:
                lacking.setdefault(name, set()).update(views)
    if len(left) == len(lacking) == 1:
        [(name, views_of_it)] = lacking.items()
        size = sliced.sizes.get(left[0])
        may_be_view = any(nodes[view].shape == size for view in views_of_it)
        if size == nodes[name].shape and not may_be_view:
            inputs[name] = left[0]


def _operands(name: str, nodes: Mapping[str, Node]) -> Sequence[str]:
    """What a node is computed from; for one of several results, what all are computed from."""
    used = nodes[name].inputs if name in nodes else []
    if len(used) == 1 and used[0] in nodes and nodes[used[0]].shape is None:
        return nodes[used[0]].inputs
    return used


def _views(name: str, nodes: Mapping[str, Node]) -> list[str]:
    """A node, what it is a view of, and so on to the node that has the memory."""
    names = [name]
    while name in nodes and nodes[name].inputs and _VIEW.search(nodes[name].target):
        name = nodes[name].inputs[0]
        names.append(name)
    return names


_VIEW = re.compile(
    r"aten\.(permute|view|reshape|t|transpose|unsqueeze|squeeze|expand|slice|select|as_strided)\."
)


def _directions(kernel: Kernel, sliced: LaunchSlice) -> tuple[list[str], list[str]]:
    """The variables that a launch reads and those that it writes, by its parameters' names."""
    if kernel.language == "extern":
        reads = [variable for variable in sliced.variables if variable not in sliced.outs]
        return reads, sliced.outs
    parameters = _parameters(kernel)
    reads, writes = [], []
    for parameter, variable in zip(parameters, sliced.arguments, strict=False):
        if not variable:
            continue
        if parameter.startswith(("in_ptr", "in_out_ptr", "arg_", "ks", "in_desc")):
            reads.append(variable)
        if parameter.startswith(("out_ptr", "in_out_ptr", "out_desc")):
            writes.append(variable)
    return reads, writes


_CPP_HEAD = re.compile(r'extern "C"\s+(?:__declspec\(dllexport\)\s+)?void\s+\w+\(([^)]*)\)', re.S)
_TRITON_HEAD = re.compile(r"^def \w+\(([^)]*)\)", re.M | re.S)


def _parameters(kernel: Kernel) -> list[str]:
    """The names of a kernel's parameters."""
    head = _CPP_HEAD.search(kernel.source)
    if head is not None:
        return [
            parameter.split()[-1].lstrip("*&")
            for parameter in head[1].split(",")
            if parameter.strip()
        ]
    head = _TRITON_HEAD.search(kernel.source)
    return [parameter.split(":")[0].strip() for parameter in head[1].split(",")] if head else []


def _device(sliced: LaunchSlice, kernel: Kernel) -> str:
    text = "\n".join(sliced.memory)
    on_gpu = kernel.language == "triton" or "cuda" in text
    return "cuda" if on_gpu else "cpu"


def _kernel_text(
    report: Report,
    compilation: Compilation,
    kernel: Kernel,
    sliced: LaunchSlice,
    reference: Reference,
    nodes: dict[str, Node],
) -> str:
    held = {variable: node for node, variable in (reference.inputs or {}).items()}
    for variable in sliced.variables:
        holder = sliced.held.get(variable, "")
        if holder in sliced.examples and holder in nodes:
            held.setdefault(variable, holder)
    bounds = index_bounds(list(held.values()), nodes)
    highs = {variable: bounds[node] for variable, node in held.items() if node in bounds}
    variables = ", ".join(sliced.variables)
    parts = [
        head(report, f"The kernel {kernel.name} of compilation {compilation.id} by itself"),
        "\n".join(sliced.header),
        TOP.strip(),
        "\n\n".join(sliced.kernels),
        "async_compile.wait(globals())" if sliced.kernels else "",
        'def make_arguments():\n    """The launch\'s arguments, laid out as in the wrapper."""\n'
        + textwrap.indent("\n".join([*sliced.memory, f"return [{variables}]"]), "    "),
        f"def launch({variables}):\n" + textwrap.indent(sliced.launch, "    "),
    ]
    if reference.code:
        parts.append(reference.code)
    parts += [FILL.strip(), COMPARE.strip(), TIME.strip()]
    parts.append(
        Template(KERNEL_MAIN.strip()).substitute(
            variables=repr(sliced.variables),
            outputs=repr([out for out in sliced.outs if out not in sliced.variables]),
            highs=repr(highs),
            inputs=repr(reference.inputs or {}),
            shapes=repr(_shapes(reference, nodes)),
            reference="globals().get('reference')",
            unchecked=repr(reference.why),
            name=repr(kernel.name),
        )
    )
    return "\n\n\n".join(part for part in parts if part) + "\n"


def _shapes(reference: Reference, nodes: dict[str, Node]) -> dict[str, tuple[int, ...]]:
    shapes = {}
    for name in reference.inputs or {}:
        shape = nodes[name].shape if name in nodes else None
        if shape is not None and all(size.isdigit() for size in shape):
            shapes[name] = tuple(int(size) for size in shape)
    return shapes
