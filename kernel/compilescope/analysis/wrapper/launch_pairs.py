"""Pairs the launches of one variant's Python wrapper and another's C++ wrapper."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from ...report import Code, Compilation, Direction, Kernel, Launch, Region
from .kernel_bodies import body
from .launches import codes_of
from .steps import find_steps

_SHIM = re.compile(r"aoti_torch_(?:cpu|cuda|xpu|mps|hip|mtia|hpu|privateuse1)_(\w+)")
_OPERATOR = re.compile(
    r"(?:torch\.ops\.\w+|extern_kernels|aten|prims|inductor_ops|_quantized)\.(\w+)(?:\.(\w+))?"
)
_QUALIFIED = re.compile(r"\w+::(\w+)")


def pair(python: Compilation, cpp: Compilation) -> bool:
    """Make the keys of two compilations of one frame agree, and give kernels both wrappers' lines.

    Parameters
    ----------
    python, cpp
        The compilations, one with a Python wrapper and the other with a C++ wrapper; changed in
        place. Nothing happens if either lacks its wrapper.

    Returns
    -------
    bool
        Whether launches have other keys now.

    Notes
    -----
    Equal keys count only if the launches match: the same graph nodes, the same body, or the same
    operator. If a fusion is off under ``cpp_wrapper``, the sequences of launches are aligned
    instead; those without a partner get keys that occur on one side only.
    """
    before = [_keys(compilation) for compilation in (python, cpp)]
    for left, right in _directions(python, cpp):
        python_calls = _launches(left, "python", python.kernels)
        cpp_calls = _launches(right, "cpp", cpp.kernels)
        if not python_calls or not cpp_calls:
            continue
        if not _keys_match(python_calls, cpp_calls):
            _realign(python_calls, cpp_calls, left.direction)
    _exchange(python, cpp)
    is_rekeyed = False
    for compilation, keys in zip((python, cpp), before, strict=True):
        now = _keys(compilation)
        is_rekeyed |= now != keys
        if now == keys and compilation.steps:
            continue
        compilation.steps = find_steps(compilation)
        changed = dict(zip(keys, now, strict=True))
        for memory in compilation.memory:
            memory.keys = [changed.get(key, key) for key in memory.keys]
    return is_rekeyed


class _Call:
    """A launch with the properties that identify it."""

    def __init__(self, region: Region, launch: Launch | None, body: str | None) -> None:
        self.region = region
        self.launch = launch
        self.nodes = frozenset(region.nodes)
        self.operator = operator(region.kernel or "")
        self.body = body
        """The body of a generated kernel."""

    def like(self, other: _Call) -> bool:
        """Whether the two launches do the same, as far as is known."""
        if self.nodes and other.nodes:
            if self.nodes == other.nodes:
                return True
            if not self.nodes & other.nodes:
                return False
        if self.body is not None or other.body is not None:
            return self.body == other.body
        operator_here, operator_there = self.operator, other.operator
        # The wrappers may name an operator with or without its overload: mul and mul_Tensor.
        return (
            operator_here == operator_there
            or operator_here.startswith(f"{operator_there}_")
            or operator_there.startswith(f"{operator_here}_")
        )

    @property
    def signature(self) -> object:
        """A text that is equal for matching calls in nearly all cases."""
        return self.nodes or self.body or self.operator

    def rekey(self, key: str) -> None:
        self.region.key = key
        if self.launch is not None:
            self.launch.key = key


def operator(name: str) -> str:
    """The common name of a library call in both wrappers.

    ``extern_kernels.addmm`` and its C++ shim ``aoti_torch_cpu_addmm_out`` are ``addmm``;
    ``aten.sort.stable`` is ``sort_stable``.
    """
    match = _OPERATOR.match(name)
    if match:
        plain, overload = match.group(1).strip("_"), match.group(2)
        if overload and overload not in ("default", "out"):
            plain = f"{plain}_{overload}"
        return plain.removesuffix("_out")
    match = _SHIM.match(name) or _QUALIFIED.match(name)
    return match.group(1).strip("_").removesuffix("_out") if match else name


def _directions(left: Compilation, right: Compilation) -> list[tuple[Code, Code]]:
    return [
        (left_code, right_code)
        for left_code in codes_of(left)
        for right_code in codes_of(right)
        if _name(left_code) == _name(right_code)
    ]


def _keys(compilation: Compilation) -> list[str]:
    return [
        region.key
        for code in codes_of(compilation)
        for regions in code.regions.values()
        for region in regions
        if region.kind == "launch"
    ]


def _name(code: Code) -> str:
    """The direction with the number of the graph, as in the keys."""
    for regions in code.regions.values():
        for region in regions:
            if region.kind == "launch":
                return region.key.split(":")[1]
    return str(code.direction)


def _launches(code: Code, artifact: str, kernels: Sequence[Kernel]) -> list[_Call]:
    bodies = {
        kernel.name: body(kernel)
        for kernel in kernels
        if kernel.direction == code.direction and kernel.language != "extern"
    }
    by_key = {
        launch.key: launch
        for kernel in kernels
        for launch in kernel.launches
        if launch.artifact == artifact
    }
    return [
        _Call(region, by_key.get(region.key), bodies.get(region.kernel or ""))
        for region in code.regions.get(artifact, ())
        if region.kind == "launch"
    ]


def _keys_match(python_calls: Sequence[_Call], cpp_calls: Sequence[_Call]) -> bool:
    """Whether every key means the same on both sides, and none is missing."""
    partners = {call.region.key: call for call in cpp_calls}
    if partners.keys() != {call.region.key for call in python_calls}:
        return False
    return all(call.like(partners[call.region.key]) for call in python_calls)


def _realign(
    python_calls: Sequence[_Call], cpp_calls: Sequence[_Call], direction: Direction
) -> None:
    """Pair the launches by their meaning, in order."""
    left, right = [call.signature for call in python_calls], [call.signature for call in cpp_calls]
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    paired: dict[int, int] = {}
    for tag, start, end, other, other_end in matcher.get_opcodes():
        rows = list(zip(range(start, end), range(other, other_end), strict=False))
        alike = end - start == other_end - other and all(
            python_calls[i].like(cpp_calls[j]) for i, j in rows
        )
        if tag == "equal" or alike:
            paired.update(rows)
    name = python_calls[0].region.key.split(":")[1] if python_calls else direction
    for index, call in enumerate(python_calls):
        number = f"={index + 1}" if index in paired else f"python={index + 1}"
        call.rekey(f"launch:{name}:{number}")
    partners = {right: left for left, right in paired.items()}
    for index, call in enumerate(cpp_calls):
        partner = partners.get(index)
        number = f"cpp={index + 1}" if partner is None else f"={partner + 1}"
        call.rekey(f"launch:{name}:{number}")


def _exchange(python: Compilation, cpp: Compilation) -> None:
    """Add to each kernel the other wrapper's launches with the same keys."""
    for compilation, counterpart in ((python, cpp), (cpp, python)):
        foreign = {
            launch.key: launch
            for kernel in counterpart.kernels
            for launch in kernel.launches
            if launch.artifact == ("cpp" if counterpart is cpp else "python")
        }
        artifact = "python" if compilation is python else "cpp"
        for kernel in compilation.kernels:
            own_launches = [launch for launch in kernel.launches if launch.artifact == artifact]
            partners = [foreign[launch.key] for launch in own_launches if launch.key in foreign]
            kernel.launches = own_launches + partners
