"""The TMA descriptors that Triton kernels use: their shape, their block, and who builds them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from ...report import Compilation, Descriptor, Kernel
from ..text.brackets import closing, split_list
from ..text.cpp_numbers import SUFFIX, without_suffixes
from ..text.triton_source import SIGNATURE
from ..wrapper.launches import codes_of
from ..wrapper.size_checks import size_checks

_CREATORS = frozenset(
    (
        "make_tensor_descriptor",
        "_experimental_make_tensor_descriptor",
        "experimental_device_tensormap_create2d",
        "experimental_device_tensormap_create1d",
    )
)
_HINTS = ("tensor_descriptor", "tensordesc<", "nvTmaDesc", "_tensormap_create")
_CONSTANTS = re.compile(r"'(?:constants|config_args)': \{([^{}]*)\}")
_ITEM = re.compile(r"'(\w+)':\s*('[^']*'|[\w.+-]+)")
_HOST = re.compile(r"tensordesc<(\w+)\[([^\]]*)\]")
_CAPABILITY = re.compile(r"DeviceProperties\(type='(\w+)'.*?cc=('?\w+'?)")
_FIRST = 90
"""The first compute capability with TMA."""

_BY_BLOCK = "Each block builds it in global memory before it uses it."
_IN_LOOP = "It is built in a loop: in each iteration, in each block."
_LOWERED = "This device has no TMA: Triton compiles it to ordinary loads and stores."
_PYTHON = (
    "The Python wrapper wraps the tensor at each call, and Triton's launcher encodes the "
    "descriptor at each launch."
)
_CPP = (
    "The C++ wrapper fills a descriptor on its stack and has the driver encode it at each call, "
    "without Python."
)
_STATIC = "The C++ wrapper keeps the descriptor between calls."


def add_descriptors(compilation: Compilation) -> None:
    """Fills in the descriptors of a compilation's Triton kernels."""
    texts = [text for code in codes_of(compilation) if (text := code.python or code.cpp)]
    for kernel in compilation.kernels:
        if kernel.language == "triton" and any(hint in kernel.source for hint in _HINTS):
            kernel.descriptors = find_descriptors(kernel, texts)


def find_descriptors(kernel: Kernel, wrappers: Sequence[str]) -> list[Descriptor]:
    """The TMA descriptors of one Triton kernel.

    Parameters
    ----------
    kernel
        With its source and its launches.
    wrappers
        The wrappers that may launch it. Arguments on which all launches agree identify the
        kernel's parameters.

    Returns
    -------
    list of Descriptor
        Those that the wrapper passes, then those that the kernel makes itself, in line order. An
        expression is replaced by its value if the source determines it.
    """
    try:
        tree = ast.parse(kernel.source)
    except SyntaxError:
        kernel.absent["descriptors"] = "Its source could not be read as Python."
        return []
    match = SIGNATURE.search(kernel.source)
    signature = {name: kind.strip("'") for name, kind in _ITEM.findall(match[1] if match else "")}
    launches = list(_launched(kernel, wrappers))
    passed = _common_arguments(signature, [arguments for _, _, arguments in launches])
    block_sizes = dict(passed)
    for block in _CONSTANTS.findall(kernel.source):
        block_sizes |= dict(_ITEM.findall(block))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    descriptors = list(_host_descriptors(signature, passed, launches, functions))
    for function in functions:
        descriptors += _Function(function, block_sizes, signature).descriptors()
    why = _LOWERED if _is_without(kernel.source) else ""
    for descriptor in descriptors:
        descriptor.why = " ".join(part for part in (descriptor.why, why) if part)
    return descriptors


Launched = tuple[list[str], int, list[str]]
"""The lines of a wrapper, the number of the launch's line, and what it is given."""


def _launched(kernel: Kernel, wrappers: Sequence[str]) -> Iterator[Launched]:
    for launch in kernel.launches:
        for text in wrappers:
            lines = text.split("\n")
            if len(lines) < launch.end or lines[launch.line - 1].strip() != launch.text:
                continue
            call = "\n".join(lines[launch.line - 1 : launch.end])
            start = call.find("(")
            if start >= 0:
                inside = call[start + 1 : closing(call, start) - 1]
                arguments = [without_suffixes(name.strip()) for name in split_list(inside)]
                yield lines, launch.line, arguments
                break


def _common_arguments(
    signature: Mapping[str, str], calls: Sequence[Sequence[str]]
) -> dict[str, str]:
    """Parameter → the argument that every launch passes for it."""
    names = [name for name, kind in signature.items() if kind != "constexpr"]
    launches = [dict(zip(names, call, strict=False)) for call in calls]
    return {
        name: value
        for name, value in (launches[0].items() if launches else ())
        if all(other.get(name) == value for other in launches)
    }


def _host_descriptors(
    signature: Mapping[str, str],
    passed: Mapping[str, str],
    launches: Sequence[Launched],
    functions: Sequence[ast.FunctionDef],
) -> Iterator[Descriptor]:
    """The descriptors that are arguments of the kernel."""
    for name, kind in signature.items():
        host = _HOST.match(kind)
        if host is None and kind != "nvTmaDesc":
            continue
        descriptor = Descriptor(name=name, built_on="host", built="each call")
        if host:
            descriptor.dtype, descriptor.block = host[1], split_list(host[2])
        descriptor.line = next(
            (function.lineno for function in functions if name in _parameters(function)), None
        )
        if launches and name in passed:
            lines, number, _ = launches[0]
            _complete(descriptor, passed[name], lines[:number])
        yield descriptor


def _complete(descriptor: Descriptor, variable: str, lines: Sequence[str]) -> None:
    """Completes a descriptor from the wrapper's lines above the launch."""
    text = "\n".join(lines)
    name = re.escape(variable)
    # Since torch 2.15 it is cleared where it is declared.
    declared = rf"StableTMADescriptor {name}(?:\{{\}})?;"
    if re.search(declared, text):
        descriptor.shape = re.findall(rf"\b{name}\.global_shape\[\d+\] = (.*?){SUFFIX};", text)
        descriptor.strides = re.findall(rf"\b{name}\.strides\[\d+\] = (.*?){SUFFIX};", text)
        descriptor.why = _CPP
        if re.search(rf"static .*{declared}", text):
            descriptor.built, descriptor.why = "once", _STATIC
        return
    descriptor.why = _PYTHON
    wrapped = re.search(rf"\b{name} = .*TensorDescriptor\.from_tensor\((\w+),", text)
    if wrapped is None:
        return
    tensor = re.escape(wrapped[1])
    allocation = re.search(rf"\b{tensor} = empty_strided\w*\(\(([^()]*)\), \(([^()]*)\)", text)
    if allocation:
        descriptor.shape, descriptor.strides = split_list(allocation[1]), split_list(allocation[2])
        return
    checks = (check for line in lines for check in size_checks(line.strip()))
    size_check = next((check for check in checks if check.tensor == wrapped[1]), None)
    if size_check is not None:
        descriptor.shape, descriptor.strides = size_check.shape, size_check.strides


class _Function:
    """A function of a kernel's source, with what its names stand for."""

    def __init__(
        self,
        function: ast.FunctionDef,
        block_sizes: Mapping[str, str],
        signature: Mapping[str, str],
    ) -> None:
        self.function = function
        self.signature = signature
        self.values: dict[str, ast.expr] = {
            name: value
            for name, text in block_sizes.items()
            if name in _parameters(function) and (value := _expression(text)) is not None
        }
        assigned: dict[str, list[ast.expr | None]] = {}
        for node in ast.walk(function):
            for name, value in _assigned(node):
                assigned.setdefault(name, []).append(value)
        for name, values in assigned.items():
            self.values.pop(name, None)
            if len(values) == 1 and values[0] is not None:
                self.values[name] = values[0]

    def descriptors(self) -> Iterator[Descriptor]:
        """The descriptors that it makes."""
        yield from self._within(self.function, None, looped=False)

    def _within(self, node: ast.AST, name: str | None, *, looped: bool) -> Iterator[Descriptor]:
        if isinstance(node, ast.Call) and _called(node) in _CREATORS:
            yield self._descriptor(node, name, looped=looped)
            return
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
        if isinstance(node, (ast.Attribute, ast.BinOp)):
            name = None  # what is loaded through it is assigned, not the descriptor
        for child in ast.iter_child_nodes(node):
            yield from self._within(
                child, name, looped=looped or isinstance(node, (ast.For, ast.While))
            )

    def _descriptor(self, call: ast.Call, name: str | None, *, looped: bool) -> Descriptor:
        arguments = dict(zip(("base", "shape", "strides", "block_shape"), call.args, strict=False))
        arguments |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        base = self._base(arguments.get("base"))
        kind = self.signature.get(base, "")
        return Descriptor(
            name=name or base,
            shape=self._list(arguments.get("shape")),
            strides=self._list(arguments.get("strides")),
            block=self._list(arguments.get("block_shape")),
            dtype=kind.removeprefix("*") if kind.startswith("*") else "",
            line=call.lineno,
            why=_IN_LOOP if looped else _BY_BLOCK,
        )

    def _base(self, node: ast.expr | None) -> str:
        """The pointer that a descriptor is built on, by the name of the kernel's argument."""
        for _ in range(_MAX_DEPTH):
            if not isinstance(node, ast.Name) or node.id in self.signature:
                break
            node = self.values.get(node.id, node)
        return "" if node is None else ast.unparse(node)

    def _list(self, node: ast.expr | None) -> list[str]:
        if node is None:
            return []
        reduced = self._reduced(node)
        if isinstance(reduced, (ast.List, ast.Tuple)):
            return [ast.unparse(self._reduced(element)) for element in reduced.elts]
        return [ast.unparse(reduced)]

    def _reduced(self, node: ast.expr, depth: int = 0) -> ast.expr:
        """Simplifies an expression: looks up names and resolves conditions that are known."""
        if depth > _MAX_DEPTH:
            return node
        if isinstance(node, ast.Name) and node.id in self.values:
            value = self._reduced(self.values[node.id], depth + 1)
            return value if isinstance(value, (ast.Constant, ast.Name)) else node
        if isinstance(node, ast.IfExp):
            test = self._reduced(node.test, depth + 1)
            if isinstance(test, ast.Constant):
                return self._reduced(node.body if test.value else node.orelse, depth + 1)
        return node


_MAX_DEPTH = 8


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Names that a statement gives a value, and the value where it is one expression."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value
            else:
                yield from (
                    (part.id, None) for part in ast.walk(target) if isinstance(part, ast.Name)
                )
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign)) and isinstance(node.target, ast.Name):
        yield node.target.id, node.value if isinstance(node, ast.AnnAssign) else None
    elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
        yield node.target.id, None


def _parameters(function: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)]


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


def _is_without(source: str) -> bool:
    """Whether the kernel is for a device that has no TMA."""
    match = _CAPABILITY.search(source)
    if match is None:
        return False
    capability = match[2].strip("'")
    return match[1] != "cuda" or (capability.isdigit() and int(capability) < _FIRST)
