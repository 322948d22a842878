"""Finds the first kernel of a variant with a wrong result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..analysis.figures.wording import count
from ..analysis.wrapper.kernel_bodies import body
from ..analysis.wrapper.launch_pairs import operator
from ..analysis.wrapper.launches import codes_of
from ..analysis.wrapper.split import split
from ..measure.rounding_errors import ExactValues, compare_with_exact_values
from ..report import Code, Compilation, FirstWrongKernel, Kernel, OutputError, Region
from ..torch_api.kernels.results import Findings, Result, Site


class Search:
    """Looks for the first launch with a wrong result, in a run under `record_kernel_results`.

    Parameters
    ----------
    built
        The compilations of the build that runs, with Python wrappers.

    Attributes
    ----------
    first_wrong
        The first buffer that is wrong, with its error.
    """

    def __init__(self, built: Sequence[Compilation]) -> None:
        self._built = built
        self.first_wrong: tuple[Result, OutputError] | None = None

    def sites(self, text: str) -> list[Site]:
        """The launches of a wrapper, by its text."""
        place = self._place(text)
        if place is None:
            return []
        return [
            Site(launch.start, launch.end, launch.key, launch.kernel or "", launch.nodes)
            for launch in _launches(place[1], "python")
        ]

    def compare(self, result: Result) -> bool:
        """Compares a buffer with its node; True once one is wrong."""
        path = result.node
        (error,) = compare_with_exact_values(
            {path: result.expected.own},
            {path: result.tensor},
            ExactValues({path: result.expected.exact}, NODE),
        )
        if not error.ok:
            self.first_wrong = (result, error)
        return not error.ok

    def first_wrong_kernel(self, reported: Sequence[Compilation]) -> FirstWrongKernel | str:
        """What was found, in the report's terms; or why the report's kernel is not known."""
        assert self.first_wrong is not None, "something must have been found"
        result, error = self.first_wrong
        place = self._place(result.wrapper)
        assert place is not None, "only a wrapper with launches is looked into"
        built, code = place
        same = next((compilation for compilation in reported if compilation.id == built.id), None)
        partner = _partner(built, code, result.site, same) if same is not None else None
        if partner is None:
            return OTHER_KERNELS.format(kernel=result.site.kernel, node=result.node)
        return FirstWrongKernel(
            compilation=built.id,
            kernel=partner.kernel or "",
            key=partner.key,
            buffer=result.buffer,
            node=result.node,
            error=error,
            how=HOW,
        )

    def _place(self, text: str) -> tuple[Compilation, Code] | None:
        wrapper = split(text).python
        for compilation in self._built:
            for code in codes_of(compilation):
                if code.python is not None and code.python == wrapper:
                    return compilation, code
        return None


def nothing_found(findings: Findings, *, wrong: bool) -> str:
    """Why no kernel is named although a result is wrong.

    Parameters
    ----------
    wrong
        Whether a result is wrong under the Python wrapper, too.
    """
    if findings.failures:
        return f"Not all kernels could be checked. {findings.failures[0]}"
    if not wrong:
        return CPP_ONLY
    if not findings.compared:
        return NO_BUFFERS
    return GRAPH.format(count=count(findings.compared, "buffer"))


def _launches(code: Code, artifact: str) -> list[Region]:
    return [region for region in code.regions.get(artifact, ()) if region.kind == "launch"]


def _partner(built: Compilation, code: Code, site: Site, reported: Compilation) -> Region | None:
    """The report's launch that does what a launch of the build does.

    Of several launches of kernels that do the same: the one of the same nodes, or the one at the
    same place among as many.
    """
    kernel = _kernel(built, site.kernel, code.direction)

    def matching_launches(compilation: Compilation) -> Iterator[tuple[Code, Region]]:
        for other in codes_of(compilation):
            for region in _launches(other, "python") or _launches(other, "cpp"):
                name = region.kernel or ""
                if other.direction == code.direction and _same(
                    kernel, site.kernel, _kernel(compilation, name, other.direction), name
                ):
                    yield other, region

    built_launches, reported_launches = (
        list(matching_launches(built)),
        [region for _, region in matching_launches(reported)],
    )
    place = next(
        place
        for place, (other, region) in enumerate(built_launches)
        if other is code and region.start == site.start
    )
    if len(built_launches) == len(reported_launches):
        return reported_launches[place]
    same = [
        launch for launch in reported_launches if launch.nodes and launch.nodes == list(site.nodes)
    ]
    return same[0] if len(same) == 1 else None


def _same(kernel_here: Kernel | None, name: str, kernel_there: Kernel | None, other: str) -> bool:
    """Whether two kernels do the same: the same body, or the same operator of a library."""
    generated = [
        kernel
        for kernel in (kernel_here, kernel_there)
        if kernel is not None and kernel.language != "extern"
    ]
    if not generated:
        return operator(name) == operator(other)
    return len(generated) == 2 and body(generated[0]) == body(generated[1])


def _kernel(compilation: Compilation, name: str, direction: str) -> Kernel | None:
    return next(
        (
            kernel
            for kernel in compilation.kernels
            if kernel.name == name and kernel.direction == direction
        ),
        None,
    )


NODE = "the post-grad graph in float64"
HOW = (
    "After each launch of the Python wrapper, the buffers that it wrote were compared with the "
    "nodes of the post-grad graph whose values they hold, computed in float64 from what the "
    "compiled graph was given."
)
OTHER_KERNELS = (
    "In a separate build with a Python wrapper, {kernel} deviates first (at {node}); the variant's "
    "own kernels differ."
)
CPP_ONLY = (
    "Under the Python wrapper all results are right: the fault is in the C++ wrapper, or in how it "
    "calls its kernels."
)
NO_BUFFERS = "No buffer of the Python wrapper is known to hold the value of a node."
GRAPH = (
    "No kernel deviates from the post-grad graph ({count} compared). So the graph itself deviates "
    "(a decomposition, a pass, what Dynamo traced), or a kernel does whose result is not the value "
    "of a node."
)
