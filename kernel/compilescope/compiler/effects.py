"""What a variant asked for against what torch made of it, with the settings in force here."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.effective import Facts, effective
from ..capture.records import Record
from ..cuda_graphs import CudaGraphs
from ..report import Compilation, Effective
from ..torch_api import compiling, effects
from ..variant import Variant


def effects_of(
    variant: Variant,
    compilations: Sequence[Compilation],
    records: Sequence[Record],
    complaints: Sequence[str],
    *,
    built: bool,
    cuda_graphs: CudaGraphs | None = None,
) -> list[Effective]:
    """Compare a variant's settings with what became of them.

    Parameters
    ----------
    records
        What the compilations were read from.
    complaints
        What torch warned of meanwhile.
    built
        Whether the variant was built and run; else its code was only generated.
    cuda_graphs
        What became of them.
    """
    if variant.backend != "inductor":
        facts = Facts(built=built, cuda_graphs=cuda_graphs)
        return effective(variant, compilations, records, facts)
    settings = compiling.settings_of(variant)
    # Asked only where the build has found out already: else torch would build a program for it.
    on_cpu = any(kernel.language == "cpp" for one in compilations for kernel in one.kernels)
    facts = Facts(
        settings=effects.in_force(settings),
        fusions=effects.without_cpp_wrapper(settings) if variant.cpp_wrapper else (),
        complaints=complaints,
        vector=effects.vector_instructions() if built and on_cpu else "",
        built=built,
        cuda_graphs=cuda_graphs,
    )
    return effective(variant, compilations, records, facts)
