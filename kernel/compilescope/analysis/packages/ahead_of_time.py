"""Adds ahead-of-time code to a compilation as a third artifact next to its wrappers."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence

from ...capture.records import Record
from ...report import Code, Compilation, Kernel, Package, Region
from ..graphs.provenance import Provenance, earlier_nodes
from ..kernels.inductor_units import Unit
from ..kernels.kernels import add_origins, collect
from ..wrapper.launch_pairs import operator
from ..wrapper.regions import scan, to_regions
from .archive import code_of, sources_of

ARTIFACT = "aot"
_NUMBER = re.compile(r"_\d+$")
IN_CODE = "It is shown as code, next to the wrappers."


def add_code(package: Package, compilation: Compilation) -> None:
    """Adds a package's C++ to a compilation of the same call.

    Its launches get the keys of the wrapper's matching launches.
    """
    text = code_of(package)
    if text is None:
        return
    code = compilation.code
    regions, _ = read(text)
    _pair(code, regions)
    code.aot = text
    code.regions[ARTIFACT] = regions
    code.absent.pop(ARTIFACT, None)
    drop_duplicate_texts(package)


def compilation_of(package: Package, variant: str) -> Compilation:
    """A package's code as a separate compilation with no other data."""
    text = code_of(package)
    compilation = Compilation(id="0/0")
    if text is not None:
        regions, compilation.kernels = read(text, variant)
        compilation.code = Code(aot=text, regions={ARTIFACT: regions})
        drop_duplicate_texts(package)
    compilation.code.absent |= dict.fromkeys(("python", "cpp", "shell"), OF_PACKAGE)
    compilation.absent |= dict.fromkeys(("guards", "graphs", "phases", "cache"), OF_PACKAGE)
    return compilation


def add_dumped(
    compilation: Compilation, records: Sequence[Record], units: Sequence[Unit], variant: str
) -> None:
    """Adds the C++ that AOTInductor wrote for a compilation to its wrappers."""
    for record in records:
        detail = record.metadata.get("graph_dump")
        if (
            isinstance(detail, dict)
            and detail.get("name") == "inductor_aot_wrapper_code"
            and record.payload
        ):
            code = compilation.code
            code.regions[ARTIFACT], kernels = read(
                record.payload, variant, _provenance(compilation, units)
            )
            code.aot = record.payload
            compilation.kernels = compilation.kernels or kernels


OF_PACKAGE = "A package contains the compiled model, not how it was compiled."


def drop_duplicate_texts(package: Package) -> None:
    """Removes from the package the texts that the code already contains."""
    for file in sources_of(package):
        package.absent[file.path] = IN_CODE
        file.text = None


def read(
    text: str, variant: str = "", provenance: Provenance | None = None
) -> tuple[list[Region], list[Kernel]]:
    """The regions of AOTInductor's C++, and its kernels."""
    provenance = provenance or Provenance()
    marks = scan(text, "cpp")
    regions = to_regions(marks, "inference")
    kernels = collect(
        marks,
        text,
        [],
        "",
        provenance,
        direction="inference",
        artifact="aot",
        variant=variant,
    )
    add_origins(regions, marks, kernels, provenance)
    return regions, kernels


def _provenance(compilation: Compilation, units: Sequence[Unit]) -> Provenance:
    """What torch logged of the origin of AOTInductor's kernels."""
    graphs = compilation.graphs
    return Provenance(
        graphs["post_grad"].nodes if "post_grad" in graphs else (),
        earlier_nodes(graphs),
        next((unit.mapping for unit in units if unit.mapping), None),
        next((unit.stacks for unit in units if unit.stacks), None),
    )


def _pair(code: Code, regions: Sequence[Region]) -> None:
    """Sets the keys of ahead-of-time launches to those of the matching launches in the code."""
    partners = next(
        (
            launches
            for name in ("cpp", "python")
            if (launches := _launches(code.regions.get(name, ())))
        ),
        [],
    )
    own_launches = _launches(regions)
    names = (
        [_signature(launch) for launch in partners],
        [_signature(launch) for launch in own_launches],
    )
    matcher = difflib.SequenceMatcher(None, *names, autojunk=False)
    for number, region in enumerate(own_launches):
        region.key = f"launch:{ARTIFACT}={number + 1}"
    for tag, start, end, own_start, own_end in matcher.get_opcodes():
        places = list(zip(range(start, end), range(own_start, own_end), strict=False))
        if tag != "equal":
            places = list(_similar(*names, range(start, end), range(own_start, own_end)))
        for partner_index, own_index in places:
            region, partner = own_launches[own_index], partners[partner_index]
            region.key = partner.key
            region.nodes, region.sources = partner.nodes, partner.sources


def _similar(
    left: Sequence[str], right: Sequence[str], lefts: Iterable[int], rights: range
) -> Iterator[tuple[int, int]]:
    """Fused kernels between two pairs that share at least half of their operators, in order.

    In training a forward also computes what its backward needs.
    """
    first = rights.start
    for number in lefts:
        for other in range(first, rights.stop):
            left_operators, right_operators = _operators(left[number]), _operators(right[other])
            if (
                left_operators
                and right_operators
                and 2 * len(left_operators & right_operators)
                >= len(left_operators | right_operators)
            ):
                yield number, other
                first = other + 1
                break


def _operators(signature: str) -> set[str]:
    """The words of a fused kernel's name after ``fused``."""
    return {word for word in signature.partition("_fused_")[2].split("_") if word}


def _launches(regions: Iterable[Region]) -> list[Region]:
    return [region for region in regions if region.kind == "launch"]


def _signature(launch: Region) -> str:
    """The meaning of a launch by its name: for a generated kernel, its operators.

    Its body may differ, since weights are constants here and small ones are inlined.
    """
    name = launch.kernel or ""
    return _NUMBER.sub("", name) if "_fused_" in name else operator(name)
