"""Which operators the generated code calls through Python: each call takes the GIL."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator

from ...report import Code, Compilation, Crossing, Direction
from ...torch_api.operators.operators import python_kernel
from .launches import codes_of

DISPATCHED = re.compile(
    r"(?:aoti_torch_call_dispatcher|findSchemaOrThrow)\(\s*\"(?P<name>[^\"]+)\",\s*"
    r"\"(?P<overload>[^\"]*)\""
)
WRAPPED = re.compile(r"PyUnicode_FromString\(\"torch\.ops\.(?P<name>[\w.]+)\"\)")
NODE = re.compile(r"torch\.ops\.(\w+)\.(\w+)(?:\.(\w+))?$")

REGISTER = (
    "Register its kernel in C++ (TORCH_LIBRARY_IMPL), or write it with operators that Inductor "
    "generates code for."
)
NO_BRIDGE = (
    "Its signature has a type that the C++ wrapper cannot pass to the dispatcher, so it is called "
    "as a Python function."
)
SIGNATURE = "Give it a signature of tensors, numbers, devices and optional ones of these."
_PYTHON_WRAPPER = "The Python wrapper calls it as a Python function."
SWITCH = "With cpp_wrapper=True it is called from C++."


def find_crossings(compilation: Compilation) -> list[Crossing]:
    """The operators that a compilation's code calls through Python.

    Parameters
    ----------
    compilation
        A compilation with its wrappers, their regions, and its kernels, which identify library
        calls.

    Notes
    -----
    A call of the C++ wrapper through the dispatcher enters Python if the operator's kernel is
    registered in Python. If this process does not know the operator (a trace of another process),
    that is unknown, and the operator is left out.
    """
    device = device_of(compilation)
    library = {kernel.name for kernel in compilation.kernels if kernel.language == "extern"}
    written = functools.cache(lambda operator: python_kernel(operator, device))
    crossings: list[Crossing] = []
    for code in codes_of(compilation):
        if code.cpp:
            crossings += _grouped(_in_cpp(code.cpp, written), "cpp", code.direction)
        if code.python:
            crossings += _grouped(_in_python(code, library, written), "python", code.direction)
    return crossings


def device_of(compilation: Compilation) -> str:
    """The device type of a compilation's graphs: the first that is not the CPU."""
    devices = {node.device for graph in compilation.graphs.values() for node in graph.nodes}
    kinds = {device.partition(":")[0] for device in devices if device}
    return next(iter(sorted(kinds - {"cpu", "meta"})), "cpu")


def dispatcher_name(namespace: str, name: str, overload: str | None = None) -> str:
    """An operator as the dispatcher names it: ``aten::sort.stable``; ``default`` has no name."""
    return f"{namespace}::{name}" + (f".{overload}" if overload not in (None, "default") else "")


def dispatched_name(match: re.Match[str]) -> str:
    """The operator of a `DISPATCHED`."""
    return match["name"] + (f".{match['overload']}" if match["overload"] else "")


def wrapped_name(match: re.Match[str]) -> str:
    """The operator of a `WRAPPED`."""
    return dispatcher_name(*match["name"].split(".")[:3])


def _grouped(
    calls: Iterator[tuple[str, int, str, str]], artifact: str, direction: Direction
) -> list[Crossing]:
    by_operator: dict[str, Crossing] = {}
    for operator, line, why, remedy in calls:
        if operator not in by_operator:
            by_operator[operator] = Crossing(
                operator=operator,
                artifact="cpp" if artifact == "cpp" else "python",
                direction=direction,
                why=why,
                remedy=remedy,
            )
        by_operator[operator].lines.append(line)
    return list(by_operator.values())


def _in_cpp(text: str, written: Callable[[str], str | None]) -> Iterator[tuple[str, int, str, str]]:
    for match in DISPATCHED.finditer(text):
        name = dispatched_name(match)
        place = written(name)
        if place:
            yield name, _line(text, match.start()), _registered(place), REGISTER
    for match in WRAPPED.finditer(text):
        yield wrapped_name(match), _line(text, match.start()), NO_BRIDGE, SIGNATURE


def _in_python(
    code: Code, library: set[str], written: Callable[[str], str | None]
) -> Iterator[tuple[str, int, str, str]]:
    lines = (code.python or "").split("\n")
    for region in code.regions.get("python", ()):
        if region.kind != "launch" or region.kernel not in library:
            continue
        call = next(
            (
                number
                for number in range(region.start, region.end + 1)
                if not lines[number - 1].lstrip().startswith("#")
            ),
            region.end,
        )
        node = NODE.match(region.kernel)
        place = written(dispatcher_name(*node.groups())) if node else None
        if place:
            yield region.kernel, call, f"{_PYTHON_WRAPPER} {_registered(place)}", REGISTER
        else:
            yield region.kernel, call, _PYTHON_WRAPPER, SWITCH


def _registered(place: str) -> str:
    return f"Its kernel is written in Python: {place}."


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
