"""The block sizes of a kernel."""

from __future__ import annotations

from compilescope.analysis.kernels.tiling import CHOSEN, add_usual
from compilescope.report import Compilation, Kernel, KernelConfig, Tiling, VariantReport
from compilescope.report.variant import Variant


def test_the_blocks_are_those_of_the_usual_configuration() -> None:
    kernel = Kernel(
        name="triton_poi_fused_0",
        language="triton",
        tiling=Tiling(tile={"XBLOCK": CHOSEN, "R0_BLOCK": "128"}),
        configs=[
            KernelConfig(name="XBLOCK=128", config={"XBLOCK": "128"}),
            KernelConfig(name="XBLOCK=256", config={"XBLOCK": "256"}, usual=True),
        ],
    )
    library = Kernel(name="extern_kernels.mm", language="extern")
    compilation = Compilation(id="0/0", kernels=[kernel, library])
    add_usual(VariantReport(name="v", requested=Variant(), compilations=[compilation]))
    assert kernel.tiling is not None
    assert kernel.tiling.tile == {"XBLOCK": "256", "R0_BLOCK": "128"}
