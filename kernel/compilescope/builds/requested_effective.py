"""Requested and effective settings of a variant, under the current settings of this process."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.settings.effective import Facts, effective
from ..capture.records import Record
from ..report import Compilation, Effective
from ..report.compilation.cuda_graphs import CudaGraphs
from ..report.variant import Variant
from ..torch_api.dynamo import compile_variant
from ..torch_api.inductor import inductor_warnings, toolchain


def effects_of(
    variant: Variant,
    compilations: Sequence[Compilation],
    records: Sequence[Record],
    complaints: Sequence[str],
    *,
    built: bool,
    cuda_graphs: CudaGraphs | None = None,
) -> list[Effective]:
    """Compare a variant's requested settings with the effective ones.

    Parameters
    ----------
    records
        The records from which the compilations were read.
    complaints
        torch's warnings meanwhile.
    built
        Whether the variant was built and run; else its code was only generated.
    cuda_graphs
        The outcome of CUDA graphs.
    """
    if not variant.uses_inductor:
        facts = Facts(built=built, cuda_graphs=cuda_graphs)
        return effective(variant, compilations, records, facts)
    settings = compile_variant.settings_of(variant)
    # Only if the build has determined it already: otherwise torch would build a test program.
    on_cpu = any(
        kernel.language == "cpp" for compilation in compilations for kernel in compilation.kernels
    )
    facts = Facts(
        settings=inductor_warnings.in_force(settings),
        fusions=inductor_warnings.without_cpp_wrapper(settings) if variant.cpp_wrapper else (),
        complaints=complaints,
        vector=toolchain.vector_instructions() if built and on_cpu else "",
        built=built,
        cuda_graphs=cuda_graphs,
    )
    return effective(variant, compilations, records, facts)
