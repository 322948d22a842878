"""The process that minifies a failing graph."""

from __future__ import annotations

import contextlib
import io
import runpy
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from ..processes.child import ChildProcess, serve
from ..processes.folders import temporary
from .same_failure import DIFFERS, failure_of
from .trial_process import lacks_device, take_caches

COMMAND = "from compilescope.reproducers.minify_process import main; main()"
"""The code that the process runs."""


class Minified(msgspec.Struct):
    """How far a graph could be made smaller."""

    failure: str = ""
    """What fails and why, without what varies from graph to graph; empty if nothing does."""
    why_not: str = ""
    """Why the graph cannot be made smaller at all."""
    remedy: str = ""
    """What helps against ``why_not``; empty if another stage may."""
    graph: str = ""
    """The smaller graph as a Python class; empty if there is none."""
    inputs: list[str] = []
    """The expression of each of its inputs."""
    operators_before: int = 0
    operators: int = 0
    attempts: int = 0
    is_complete: bool = True
    """Whether torch's minifier came to an end within the time."""


def main() -> None:
    """Makes the graph of the program passed to the process smaller; returns `Minified` as JSON."""
    serve(lambda inside: msgspec.json.encode(_work(inside)))


def _work(inside: ChildProcess) -> Minified:
    take_caches(inside)
    if why := lacks_device(inside):
        return Minified(why_not=why, remedy="Make it smaller on a machine with a GPU.")
    with temporary("minify") as folder:
        path = folder / inside.header["name"]
        path.write_bytes(inside.task())
        # The program and torch's minifier print.
        with contextlib.redirect_stdout(io.StringIO()):
            return _minified(inside, runpy.run_path(str(path)))


def _minified(inside: ChildProcess, program: dict[str, Any]) -> Minified:
    import torch

    from ..torch_api.failures import minifier

    deadline = time.monotonic() + inside.header["seconds"]
    module = program[inside.header["graph_class"]]()
    inputs: list[Any] = program["make_inputs"]()

    def eager_error(graph: Any, values: Sequence[Any]) -> Exception | None:
        try:
            with torch.no_grad():
                graph(*map(minifier.fresh, values))
        except Exception as error:  # noqa: BLE001 - an operator's own
            return error
        return None

    def failure(graph: Any, values: Sequence[Any]) -> str:
        torch.compiler.reset()
        try:
            # Not the graph itself: if a call raises, torch.fx runs code to explain that, and Dynamo
            # would compile it, too.
            function = program["compiled"](graph.forward)
            with torch.no_grad():
                if not inside.header["compares"]:
                    function(*map(minifier.fresh, values))
                elif not program["agree"](graph, function, lambda: [*map(minifier.fresh, values)]):
                    return DIFFERS
        except Exception as error:  # noqa: BLE001 - torch's, or what a part of the graph raises
            return "" if eager_error(graph, values) else failure_of(error)
        return ""

    if error := eager_error(module, inputs):
        return Minified(why_not=f"Its operators do not run in a new process: {_line(error)}.")
    if inside.header["compares"] and program["why_unchecked"]:
        return Minified(why_not=f"It cannot be compared: {program['why_unchecked']}.")
    result = Minified(failure=failure(module, inputs))
    if not result.failure:
        return result
    # As torch's operators the graph can become smaller than as the calls in its text. The calls are
    # needed if the backend fails at one of them.
    for as_graph in (minifier.as_operators, minifier.as_written):
        result.why_not = "Traced once more, its operators compile, or fail otherwise."
        try:
            with torch.no_grad():
                graph = as_graph(module, inputs)
        except Exception as error:  # noqa: BLE001 - what torch cannot trace
            result.why_not = f"torch cannot trace its operators: {_line(error)}."
            continue
        if failure(graph, inputs) == result.failure:
            result.why_not = ""
            break
    if result.why_not:
        return result
    result.operators_before = result.operators = minifier.operators_in(graph)

    def fails(smaller: Any, values: Sequence[Any]) -> bool:
        if time.monotonic() > deadline:
            raise minifier.OutOfTime
        result.attempts += 1
        inside.step(f"attempt {result.attempts}, {minifier.operators_in(smaller)} operators")
        return failure(smaller, values) == result.failure

    with torch.no_grad():
        smallest, values, result.is_complete = minifier.minify(graph, inputs, fails)
    result.graph = minifier.text_of(smallest)
    if not result.graph:
        result.why_not = "What is left of it has constants or graphs of its own."
        return result
    result.inputs = [_expression(value) for value in values]
    result.operators = minifier.operators_in(smallest)
    return result


def _expression(value: Any) -> str:
    """An input as the program creates it."""
    import torch

    if not isinstance(value, torch.Tensor):
        return repr(value)
    is_integer = not (value.dtype.is_floating_point or value.dtype.is_complex)
    # Indices keep the range that they had.
    has_bound = is_integer and value.dtype != torch.bool and value.numel() > 0
    bound = int(value.max()) + 1 if has_bound else None
    layout = f"{tuple(value.shape)}, {value.stride()}, {value.dtype}, {str(value.device)!r}"
    return f"laid_out({layout}, {bound})"


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}".rstrip(".: ")
