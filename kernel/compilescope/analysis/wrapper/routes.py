"""How generated code calls operators without a generated kernel, and what implements them.

`crossings` finds those that go through Python; this module finds all of them, each with its route.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Literal, NamedTuple

from ...report import Code, Compilation, Kernel, Region, Route, SourceLine, WrapperLanguage
from ...torch_api.operators.operators import TORCH_NAMESPACES, place_of, python_kernel
from .crossings import (
    DISPATCHED,
    NO_BRIDGE,
    NODE,
    REGISTER,
    SIGNATURE,
    SWITCH,
    WRAPPED,
    device_of,
    dispatched_name,
    dispatcher_name,
    wrapped_name,
)
from .launch_pairs import operator
from .launches import codes_of

Via = Literal["library", "shim", "dispatcher", "python", "inlined"]

_LIBRARIES = ("extern_kernels.", "inductor_ops.", "_quantized.")
_ORIGINAL = r"# Original path: (?P<file>.+):(?P<line>\d+)\n(?:#.*\n)*{name} = "
_USERS_OWN = re.compile(r"\bcustom_kernel=True\b")
_ITEM = re.compile(r"(\w+)\.(\w+)(?:\.(\w+))?$")

_INLINED = "The generated code contains the Triton kernel and launches it like generated kernels."
_LIBRARY = (
    "The Python wrapper calls ATen's Python binding, which releases the GIL and acquires it again."
)
_SHIM = "The C++ wrapper calls its function in torch's C shim."
_DISPATCHER = "The C++ wrapper passes boxed arguments to the dispatcher; Python is not involved."
_THROUGH_DISPATCHER = (
    "The C++ wrapper passes its arguments to the dispatcher, which acquires the GIL for the kernel."
)
_TORCH_OPS = "The Python wrapper calls it through torch.ops and the C++ dispatcher."
_REACQUIRES_GIL = (
    "The dispatcher acquires the GIL again for the kernel, which is written in Python."
)


class _OperatorCall(NamedTuple):
    operator: str
    via: Via
    gil: int
    """How often one call of the operator takes the GIL."""
    why: str
    remedy: str = ""


def find_routes(compilation: Compilation) -> list[Route]:
    """How a compilation's wrappers call operators and kernels that torch did not generate.

    Parameters
    ----------
    compilation
        With its wrappers, their regions, and its kernels.

    Returns
    -------
    list of Route
        One for each operator, wrapper and direction, in the order of the first line. The
        implementation of an operator that this process does not know is left open.
    """
    device = device_of(compilation)
    written = functools.cache(lambda operator: python_kernel(operator, device))
    kernels = {(kernel.name, kernel.direction): kernel for kernel in compilation.kernels}
    by_key: dict[tuple[str, str, str, str], Route] = {}
    for code in codes_of(compilation):
        artifact: WrapperLanguage = "cpp" if code.cpp else "python"
        text = code.cpp or code.python
        if not text:
            continue
        lines = text.split("\n")
        for region in code.regions.get(artifact, ()):
            kernel = kernels.get((region.kernel or "", code.direction))
            if region.kind != "launch" or kernel is None:
                continue
            reached = _reached(kernel, region, lines, artifact, written)
            if reached is None:
                continue
            key = (reached.operator, artifact, code.direction, reached.via)
            if key not in by_key:
                by_key[key] = Route(
                    operator=reached.operator,
                    registered=_registered(kernel, reached.operator, written),
                    artifact=artifact,
                    direction=code.direction,
                    via=reached.via,
                    why=reached.why,
                    remedy=reached.remedy,
                    where=_where(kernel, reached.operator, code, device),
                )
            by_key[key].lines.append(_call_line(region, lines, kernel.name))
            by_key[key].gil += reached.gil
    return list(by_key.values())


def _reached(
    kernel: Kernel,
    region: Region,
    lines: list[str],
    artifact: str,
    written: Callable[[str], str | None],
) -> _OperatorCall | None:
    """How one launch calls its operator; None for a generated kernel."""
    if kernel.language == "triton":
        users = _USERS_OWN.search(kernel.source) is not None
        return _OperatorCall(kernel.name, "inlined", 0, _INLINED) if users else None
    if kernel.language != "extern":
        return None
    text = "\n".join(lines[region.start - 1 : region.end])
    return _in_cpp(kernel, text, written) if artifact == "cpp" else _in_python(kernel, written)


def _in_cpp(kernel: Kernel, text: str, written: Callable[[str], str | None]) -> _OperatorCall:
    wrapped = WRAPPED.search(text)
    if wrapped:
        return _OperatorCall(wrapped_name(wrapped), "python", 1, NO_BRIDGE, SIGNATURE)
    dispatched = DISPATCHED.search(text)
    if dispatched:
        operator = dispatched_name(dispatched)
        place = written(operator)
        if place:
            why = f"{_THROUGH_DISPATCHER} It is written in Python: {place}."
            return _OperatorCall(operator, "dispatcher", 1, why, REGISTER)
        return _OperatorCall(operator, "dispatcher", 0, _DISPATCHER)
    return _OperatorCall(_operator(kernel), "shim", 0, _SHIM)


def _in_python(kernel: Kernel, written: Callable[[str], str | None]) -> _OperatorCall:
    operator = _operator(kernel)
    if kernel.name.startswith(_LIBRARIES):
        return _OperatorCall(operator, "library", 1, _LIBRARY)
    place = written(operator)
    if place:
        why = f"{_TORCH_OPS} {_REACQUIRES_GIL} Its kernel is in {place}."
        return _OperatorCall(operator, "python", 2, why, REGISTER)
    return _OperatorCall(operator, "python", 1, _TORCH_OPS, SWITCH)


def _operator(kernel: Kernel) -> str:
    """The operator's name in the dispatcher, as far as the code shows it.

    A library call's ``ops`` also have the views of its arguments, often before the operator.
    """
    node = NODE.match(kernel.name)
    if node is not None:
        return dispatcher_name(*node.groups())
    called = operator(kernel.name)
    candidates = [
        (_similarity(called, operator(f"torch.ops.{op}")), match)
        for op in kernel.ops
        if (match := _ITEM.match(op))
    ]
    similarity, item = max(candidates, key=lambda candidate: candidate[0], default=(_UNLIKE, None))
    return kernel.name if item is None or similarity == _UNLIKE else dispatcher_name(*item.groups())


_UNLIKE = (0, 0)


def _similarity(called: str, name: str) -> tuple[int, int]:
    """How well an operator fits the name of a call; `_UNLIKE` if it does not.

    A call may have the overload (``mul_Tensor``), a namespace (``mkldnn__linear_pointwise``) or a
    variant (``bias_addmm``) in its name.
    """
    if called == name:
        return 2, 0
    if (
        called.startswith(f"{name}_")
        or name.startswith(f"{called}_")
        or called.endswith(f"_{name}")
    ):
        return 1, len(name)
    return _UNLIKE


def _registered(
    kernel: Kernel, operator: str, written: Callable[[str], str | None]
) -> Literal["torch", "cpp", "python", "triton", "unknown"]:
    if kernel.language == "triton":
        return "triton"
    namespace, separator, _ = operator.partition("::")
    if not separator or namespace in TORCH_NAMESPACES:
        return "torch"
    place = written(operator)
    if place is None:
        return "unknown"
    return "python" if place else "cpp"


def _where(kernel: Kernel, operator: str, code: Code, device: str) -> SourceLine | None:
    if kernel.language == "triton":
        pattern = _ORIGINAL.format(name=re.escape(kernel.name))
        match = re.search(pattern, code.python or code.shell or "")
        if match is None:
            return kernel.sources[0] if kernel.sources else None
        return SourceLine(file=match["file"], line=int(match["line"]))
    if operator.partition("::")[0] in TORCH_NAMESPACES:
        return None
    place = place_of(operator, device)
    return None if place is None else SourceLine(file=place[0], line=place[1], function=place[2])


def _call_line(region: Region, lines: list[str], name: str) -> int:
    """The line of the call itself; the lines around it prepare its arguments."""
    numbers = [
        number
        for number in range(region.start, region.end + 1)
        if not lines[number - 1].lstrip().startswith(("#", "//"))
    ]
    for number in numbers:
        line = lines[number - 1]
        if f"{name}(" in line or DISPATCHED.search(line) or WRAPPED.search(line):
            return number
    return numbers[0] if numbers else region.end
