"""The Python wrapper of one variant and the C++ wrapper of another: which launch is which."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from ..report import Code, Compilation, Direction, Kernel, Launch, Region
from .bodies import body

_SHIM = re.compile(r"aoti_torch_(?:cpu|cuda|xpu|mps|hip|mtia|hpu|privateuse1)_(\w+)")
_OPERATOR = re.compile(
    r"(?:torch\.ops\.\w+|extern_kernels|aten|prims|inductor_ops|_quantized)\.(\w+)"
)
_QUALIFIED = re.compile(r"\w+::(\w+)")


def pair(python: Compilation, cpp: Compilation) -> None:
    """Make the keys of two compilations of one frame agree, and give kernels both wrappers' lines.

    Parameters
    ----------
    python, cpp
        The compilations; changed in place. The one holds a Python wrapper, the other a C++ wrapper.
        Nothing happens where one of them holds none.

    Notes
    -----
    Equal keys are believed only where the launches are alike: the same graph nodes, the same body,
    or the same operator. Where a fusion is off under ``cpp_wrapper`` the sequences of launches are
    aligned instead; those without a partner get keys that occur on one side only.
    """
    for left, right in _directions(python.code, cpp.code):
        ours = _launches(left, "python", python.kernels)
        theirs = _launches(right, "cpp", cpp.kernels)
        if not ours or not theirs:
            continue
        if not _agree(ours, theirs):
            _realign(ours, theirs, left.direction)
    _exchange(python, cpp)


class _Call:
    """A launch with what it can be recognised by."""

    def __init__(self, region: Region, launch: Launch | None, kernel: Kernel | None) -> None:
        self.region = region
        self.launch = launch
        self.nodes = frozenset(region.nodes)
        self.operator = operator(region.kernel or "")
        generated = kernel is not None and kernel.language != "extern"
        self.body = body(kernel) if kernel is not None and generated else None

    def like(self, other: _Call) -> bool:
        if self.nodes and self.nodes == other.nodes:
            return True
        if self.body is not None or other.body is not None:
            if self.body is None or other.body is None:
                return False
            return self.body == other.body or self.region.kernel == other.region.kernel
        ours, theirs = self.operator, other.operator
        # randint and randint_low are one operator's overloads.
        return ours == theirs or ours.startswith(f"{theirs}_") or theirs.startswith(f"{ours}_")

    def rekey(self, key: str) -> None:
        self.region.key = key
        if self.launch is not None:
            self.launch.key = key


def operator(name: str) -> str:
    """The operator's plain name: ``addmm`` of both ``extern_kernels.addmm`` and its C++ shim."""
    for pattern in (_SHIM, _OPERATOR, _QUALIFIED):
        match = pattern.match(name)
        if match:
            return match.group(1).lstrip("_").removesuffix("_out")
    return name


def _directions(left: Code, right: Code) -> list[tuple[Code, Code]]:
    return [
        (ours, theirs)
        for ours in _all(left)
        for theirs in _all(right)
        if _name(ours) == _name(theirs)
    ]


def _all(code: Code | None) -> list[Code]:
    if code is None:
        return []
    return [code, *code.others, *_all(code.backward)]


def _name(code: Code) -> str:
    """The direction with the number of the graph, as it stands in the keys."""
    for regions in code.regions.values():
        for region in regions:
            if region.kind == "launch":
                return region.key.split(":")[1]
    return str(code.direction)


def _launches(code: Code, artifact: str, kernels: Sequence[Kernel]) -> list[_Call]:
    by_name = {kernel.name: kernel for kernel in kernels if kernel.direction == code.direction}
    by_key = {
        launch.key: launch
        for kernel in kernels
        for launch in kernel.launches
        if launch.artifact == artifact
    }
    return [
        _Call(region, by_key.get(region.key), by_name.get(region.kernel or ""))
        for region in code.regions.get(artifact, ())
        if region.kind == "launch"
    ]


def _agree(ours: Sequence[_Call], theirs: Sequence[_Call]) -> bool:
    """Whether every key that both sides have stands for the same thing, and none is missing."""
    partners = {call.region.key: call for call in theirs}
    if partners.keys() != {call.region.key for call in ours}:
        return False
    return all(call.like(partners[call.region.key]) for call in ours)


def _realign(ours: Sequence[_Call], theirs: Sequence[_Call], direction: Direction) -> None:
    """Pair the launches by what they do, in order."""
    left, right = _signatures(ours, theirs)
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    paired: dict[int, int] = {}
    for start, other, length in matcher.get_matching_blocks():
        paired.update((start + step, other + step) for step in range(length))
    name = ours[0].region.key.split(":")[1] if ours else direction
    for index, call in enumerate(ours):
        number = f"={index + 1}" if index in paired else f"python={index + 1}"
        call.rekey(f"launch:{name}:{number}")
    partners = {right: left for left, right in paired.items()}
    for index, call in enumerate(theirs):
        partner = partners.get(index)
        number = f"cpp={index + 1}" if partner is None else f"={partner + 1}"
        call.rekey(f"launch:{name}:{number}")


def _signatures(
    ours: Sequence[_Call], theirs: Sequence[_Call]
) -> tuple[list[object], list[object]]:
    """What to compare: graph nodes where all have them, else bodies and operators."""
    if all(call.nodes for call in (*ours, *theirs)):
        return [call.nodes for call in ours], [call.nodes for call in theirs]
    return [call.body or call.operator for call in ours], [
        call.body or call.operator for call in theirs
    ]


def _exchange(python: Compilation, cpp: Compilation) -> None:
    """Give each kernel the other wrapper's launches of the same keys."""
    for ours, theirs in ((python, cpp), (cpp, python)):
        foreign = {
            launch.key: launch
            for kernel in theirs.kernels
            for launch in kernel.launches
            if launch.artifact == ("cpp" if theirs is cpp else "python")
        }
        own = "python" if ours is python else "cpp"
        for kernel in ours.kernels:
            kept = [launch for launch in kernel.launches if launch.artifact == own]
            partners = [foreign[launch.key] for launch in kept if launch.key in foreign]
            kernel.launches = kept + partners
