"""Writes a program that compiles one graph of a report alone."""

from __future__ import annotations

import ast
import re
import textwrap
from string import Template

from ..analysis.text.sizes import UnknownSize, size_of
from ..report import Compilation, Graph, Node, Report, VariantReport
from ..report.errors import CompilescopeError
from ..report.references import is_reference, name_of
from ..report.saving.redaction_mark import lacks_constants
from .graph_functions import RANDOM, as_python, forward_of, index_bounds
from .program import Program
from .program_parts import (
    COMPARE,
    EAGER_RAN,
    FAILING_MAIN,
    FILL,
    GRAPH_MAIN,
    LAID_OUT,
    TIME,
    TOP,
    head,
)

_RUNNABLE = "fx_graph_runnable"
_CUDA_DEVICE = re.compile(r"""["']cuda(?::\d+)?["']""")
"""The device of a tensor. torch names its version of CUDA in programs without a GPU, too."""

_FOLDERS = re.compile(
    r"^os\.environ\['(?:TORCH_TRACE|TORCH_LOGS_OUT|TORCHINDUCTOR_CACHE_DIR|TRITON_CACHE_DIR)'\]"
    r" = .*\n",
    re.MULTILINE,
)
"""Lines that set the folders of the traced process. The program would log into them, and they may
not exist on another machine."""


def graph_program(
    report: Report, stage: str, compile_id: str | None, variant: str | None
) -> Program:
    """A program that compiles one graph alone, and compares it with eager.

    It is torch's own ``fx_graph_runnable`` if that is the stage and the report is from a trace. Of
    several graphs, such as a forward and its backward, the second is ``fx_graph_runnable (2)``.

    Raises
    ------
    CompilescopeError
        The graph does not exist, or cannot run as Python.
    """
    compilation = _compilation(report, compile_id, variant)
    what = f"{stage} of {compilation.id}"
    file_name = re.sub(r"[\W_]+", "_", f"{stage}_{compilation.id}") + ".py"
    if re.fullmatch(rf"{_RUNNABLE}(?: \(\d+\))?", stage):
        text = next((event.text for event in compilation.raw if event.name == stage), "")
        if not text:
            raise CompilescopeError(
                f"Compilation {compilation.id!r} has no {stage}.",
                "torch logs it in a trace, and this report is of none that has it.",
                f"It has the graphs {', '.join(map(repr, compilation.graphs))}.",
            )
        check_constants(f"The program {stage} of {compilation.id!r}", text)
        text = _FOLDERS.sub("", text)
        device = "cuda" if _CUDA_DEVICE.search(text) else "cpu"
        return Program(
            what, file_name, text, device, "torch's own program only compiles and runs the graph"
        )
    graph = compilation.graphs.get(stage)
    if graph is None:
        raise CompilescopeError(
            f"Compilation {compilation.id!r} has no graph {stage!r}.",
            remedy=f"It has {', '.join(map(repr, compilation.graphs)) or 'none'}.",
        )
    unchecked = _unchecked(graph.text)
    graph_text, inputs_text = _graph_and_inputs(compilation, stage, graph)
    code = _comparing_code(
        head(report, f"The graph {stage} of compilation {compilation.id} by itself"),
        graph_text,
        inputs_text,
        unchecked=unchecked,
    )
    return Program(
        what=what,
        file_name=file_name,
        code=code,
        unchecked=unchecked,
        device=_device_of(graph),
    )


def _comparing_code(
    docstring: str, graph_text: str, inputs_text: str, *, unchecked: str = "", arguments: str = ""
) -> str:
    """The text of a program that compares a compiled graph with eager, and times both."""
    main = Template(GRAPH_MAIN.strip()).substitute(
        unchecked=repr(unchecked), arguments=arguments, graph_class=class_name(graph_text)
    )
    parts = [
        docstring,
        TOP.strip(),
        graph_text,
        FILL.strip(),
        COMPARE.strip(),
        TIME.strip(),
        LAID_OUT.strip(),
        inputs_text,
        main,
    ]
    return _joined(parts)


def differs(variant: VariantReport) -> bool:
    """Whether a variant compiles and runs, with other results than eager's."""
    return variant.stage != "failed" and not all(error.ok for error in variant.accuracy)


def failing_programs(
    report: Report, stage: str | None, compile_id: str | None, variant: VariantReport
) -> list[Program]:
    """The programs of graphs of which one fails alone as the variant does, likely ones first.

    Each compiles its graph with the variant's settings. Of a variant that failed it is the last
    graph that torch logged before that. Of one whose results differ it may be any: each
    compilation's as Dynamo made it, which goes through all passes, and the backward's.

    Raises
    ------
    CompilescopeError
        There is no graph, none that can run as Python, or the variant's backend is a function.
    """
    if is_reference(variant.requested.backend):
        raise CompilescopeError(
            f"The variant {variant.name!r} cannot be made smaller.",
            f"Its backend {name_of(str(variant.requested.backend))} is a function of the session: "
            "a program of one graph cannot call it.",
            "Name a backend that torch knows: torch.compiler.list_backends().",
        )
    if stage is not None or not differs(variant):
        return [_failing_program(report, stage, compile_id, variant)]
    programs, error = [], None
    for compilation in variant.compilations:
        for failed_stage in ("dynamo", "backward_post_grad"):
            if compile_id in (None, compilation.id) and failed_stage in compilation.graphs:
                try:
                    programs.append(_failing_program(report, failed_stage, compilation.id, variant))
                except CompilescopeError as cannot_run:
                    error = cannot_run
    if not programs and error is not None:
        raise error
    return programs or [_failing_program(report, None, compile_id, variant)]


def _failing_program(
    report: Report, stage: str | None, compile_id: str | None, variant: VariantReport
) -> Program:
    if not any(compilation.graphs for compilation in variant.compilations):
        raise CompilescopeError(
            f"torch logged no graph of the variant {variant.name!r}.",
            "Dynamo failed before it had one: it is the code that fails, and no graph of it."
            if variant.stage == "failed"
            else "There is nothing to make smaller.",
            "The variant's problem names the line of your code: call a part of it alone."
            if variant.stage == "failed"
            else "Inspect a call that torch.compile compiles.",
        )
    if compile_id is None:
        # The failure ended the call: what was compiled before it did not fail.
        having = [compilation.id for compilation in variant.compilations if compilation.graphs]
        compile_id = having[-1] if having else None
    compilation = _compilation(report, compile_id, variant.name)
    stage = stage or next(reversed(compilation.graphs), "")
    graph = compilation.graphs.get(stage)
    if graph is None:
        raise CompilescopeError(
            f"Compilation {compilation.id!r} has no graph {stage!r}.",
            remedy=f"It has {', '.join(map(repr, compilation.graphs)) or 'none'}.",
        )
    graph_text, inputs_text = _graph_and_inputs(compilation, stage, graph)
    return Program(
        what=f"{stage} of {compilation.id}",
        file_name=f"failing_{stage}_{compilation.id.replace('/', '_')}.py",
        code=failing_code(
            report,
            f"The graph {stage} of compilation {compilation.id}",
            variant,
            graph_text,
            inputs_text,
        ),
        device=_device_of(graph),
    )


def failing_code(
    report: Report, what: str, variant: VariantReport, graph_text: str, inputs_text: str
) -> str:
    """The text of a program that compiles a graph which fails as the variant does."""
    if differs(variant):
        does = "compiled, which gives other results than torch's operators"
        return _comparing_code(
            head(report, f"{what} by itself", does),
            graph_text,
            inputs_text,
            unchecked=_unchecked(graph_text),
            arguments=_compile_arguments(variant),
        )
    main = Template(FAILING_MAIN.strip()).substitute(
        arguments=_compile_arguments(variant),
        graph_class=class_name(graph_text),
        eager_ran=EAGER_RAN,
    )
    parts = [
        head(report, f"{what} by itself", "compiled and run, which ends with an exception"),
        TOP.strip(),
        graph_text,
        FILL.strip(),
        LAID_OUT.strip(),
        inputs_text,
        main,
    ]
    return _joined(parts)


def _unchecked(graph_text: str) -> str:
    return "it draws random numbers" if RANDOM.search(graph_text) else ""


def make_inputs_text(inputs: list[str]) -> str:
    """The function that creates a graph's inputs, from the expression of each."""
    listed = textwrap.indent(",\n".join(inputs), "        ")
    return f"def make_inputs():\n    return [\n{listed}\n    ]"


def _compile_arguments(variant: VariantReport) -> str:
    """A variant's settings as further arguments of ``torch.compile``; functions are left out."""
    requested = variant.requested
    options = {name: value for name, value in requested.options.items() if not is_reference(value)}
    if requested.cpp_wrapper:
        options["cpp_wrapper"] = True
    arguments = []
    if requested.backend != "inductor":
        arguments.append(f"backend={requested.backend!r}")
    if requested.dynamic is not None:
        arguments.append(f"dynamic={requested.dynamic}")
    if requested.mode is not None and options:
        # torch.compile takes a mode or options, and not both.
        modes = f"**torch._inductor.list_mode_options({requested.mode!r})"
        arguments.append(f"options={{{modes}, **{options!r}}}")
    elif requested.mode is not None:
        arguments.append(f"mode={requested.mode!r}")
    elif options:
        arguments.append(f"options={options!r}")
    return "".join(f", {argument}" for argument in arguments)


def _joined(parts: list[str]) -> str:
    return "\n\n\n".join(parts) + "\n"


def _device_of(graph: Graph) -> str:
    devices = {node.device or "cpu" for node in graph.nodes}
    return "cuda" if any(device.startswith("cuda") for device in devices) else "cpu"


def _compilation(report: Report, compile_id: str | None, variant: str | None) -> Compilation:
    variants = report.variants if variant is None else [report.variant(variant)]
    ids = [
        compilation.id
        for variant_report in variants
        for compilation in variant_report.compilations
        if compilation.graphs
    ]
    if compile_id is None and not ids:
        raise CompilescopeError(
            "The report has no graph.", remedy="Inspect a call that torch.compile compiles."
        )
    return report.compilation(compile_id if compile_id is not None else ids[0], variant)


def _graph_and_inputs(compilation: Compilation, stage: str, graph: Graph) -> tuple[str, str]:
    """A graph as Python, and the function that creates its inputs.

    Raises
    ------
    CompilescopeError
        It cannot run as Python, or an input is not known.
    """
    check_constants(f"The graph {stage!r} of {compilation.id!r}", graph.text)
    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    forward = forward_of(graph.text)
    if forward is None:
        raise CompilescopeError(
            f"The graph {stage!r} of {compilation.id!r} cannot be run.",
            "Its text is no Python: it contains values that Python cannot write.",
            _another_stage(compilation, stage),
        )
    if any("self." in ast.unparse(statement) for statement in forward.body):
        raise CompilescopeError(
            f"The graph {stage!r} of {compilation.id!r} cannot be run by itself.",
            "It has constants or graphs of its own, whose values are not in the report.",
            _another_stage(compilation, stage),
        )
    nodes = {node.name: node for node in graph.nodes}
    by_parameter = dict(
        zip([argument.arg for argument in forward.args.args[1:]], inputs, strict=False)
    )
    bounds = index_bounds([node.name for node in inputs], nodes)
    symbols = {
        symbol: value
        for kernel in compilation.kernels
        for symbol, value in kernel.estimated_for.items()
    }
    making = []
    for node in by_parameter.values():
        if node.dtype is None or node.shape is None or node.stride is None:
            making.append(_number_of(node, forward, symbols))
            continue
        size, stride = _numbers(node.shape, symbols), _numbers(node.stride, symbols)
        bound = bounds.get(node.name)
        making.append(
            f"laid_out({size}, {stride}, torch.{node.dtype}, {(node.device or 'cpu')!r}, {bound})"
        )
    return as_python(graph.text), make_inputs_text(making)


def _another_stage(compilation: Compilation, stage: str) -> str:
    """The remedy for a stage whose graph cannot be run; empty if it is the only one."""
    others = ", ".join(repr(name) for name in compilation.graphs if name != stage)
    return f"Take another stage: {others}." if others else ""


def check_constants(what: str, code: str) -> None:
    """Raises an error if the report was redacted and the code lacks constants."""
    if lacks_constants(code):
        raise CompilescopeError(
            f"{what} cannot be run.",
            "This report was saved without constants (redacted), which it needs.",
            "Take a report that is not redacted.",
        )


_CLASS = re.compile(r"^class (\w+)\(", re.M)


def class_name(text: str) -> str:
    """The class of a graph's text."""
    match = _CLASS.search(text)
    return match[1] if match else "GraphModule"


def _numbers(sizes: list[str], symbols: dict[str, int]) -> str:
    """Sizes as the text of a tuple, with symbols as the numbers that torch compiled with."""
    values = [_number(size, symbols) for size in sizes]
    return f"({', '.join(map(str, values))}{',' if len(values) == 1 else ''})"


def _number(size: str, symbols: dict[str, int]) -> int:
    """A size with symbols in it as a number."""
    try:
        return size_of(size, symbols, {})
    except UnknownSize:
        raise CompilescopeError(
            f"The size {size} is not known.",
            "The report does not say which number torch compiled with.",
            "Inspect the call with dynamic=False, and take the graph from that report.",
        ) from None


def _number_of(node: Node, forward: ast.FunctionDef, symbols: dict[str, int]) -> str:
    """An input that is a size."""
    for argument in forward.args.args[1:]:
        if argument.arg == node.name and argument.annotation is not None:
            match = re.search(r"Sym\(([^)]*)\)", ast.unparse(argument.annotation))
            if match:
                return str(_number(match[1], symbols))
    raise CompilescopeError(
        f"The input {node.name!r} of the graph cannot be made.",
        "It is neither a tensor whose layout is known nor a size.",
        "Take another stage of the graph.",
    )
