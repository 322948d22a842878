"""A report small enough to read, with something of everything."""

from __future__ import annotations

from compilescope.report import (
    Advice,
    Break,
    Code,
    Compilation,
    CompileTime,
    Condition,
    Effective,
    Environment,
    Failure,
    Graph,
    Guard,
    Kernel,
    Launch,
    OutputError,
    Problem,
    Recompile,
    Region,
    Report,
    SourceLine,
    Subject,
    Timing,
    VariantReport,
)
from compilescope.report.saving.storage import complete
from compilescope.report.variant import Variant

PYTHON = """\
import torch
cpp_fused_add_0 = compile('''
void kernel(float* x) {}
''')
def call(args):
    arg0_1, = args
    buf0 = empty((4, ))
    cpp_fused_add_0(arg0_1, buf0)
    del arg0_1
    extern_kernels.mm(buf0)
    return (buf0, )
if __name__ == "__main__": pass
"""
CPP = """\
#include <cpu.h>
void inductor_entry_impl() {
    auto arg0_1 = std::move(inputs[0]);
    cpp_fused_add_0((float*)(arg0_1.data_ptr()));
    arg0_1.reset();
    AOTI_CHECK(mm_out(buf0));
    output_handles[0] = buf0.release();
}
void cpp_fused_add_0(float* x) {}
"""
CELL = SourceLine(file="/tmp/ipykernel_7/42.py", line=3, function="f", code="y = x + 1")


def region(kind: str, start: int, end: int, key: str, kernel: str | None = None) -> Region:
    return Region(kind=kind, start=start, end=end, key=key, kernel=kernel)  # type: ignore[arg-type]


PYTHON_REGIONS = [
    region("kernel", 2, 4, "kernel:cpp_fused_add_0", "cpp_fused_add_0"),
    region("entry", 5, 11, "entry:inference:call"),
    region("launch", 8, 8, "launch:inference:#1", "cpp_fused_add_0"),
    region("launch", 10, 10, "launch:inference:#2", "mm"),
    region("return", 11, 11, "return:inference"),
]
CPP_REGIONS = [
    region("entry", 2, 8, "entry:inference:call"),
    region("launch", 4, 4, "launch:inference:#1", "cpp_fused_add_0"),
    region("launch", 6, 6, "launch:inference:#2", "mm"),
    region("return", 7, 7, "return:inference"),
    region("kernel", 9, 9, "kernel:cpp_fused_add_0", "cpp_fused_add_0"),
]


def timing(median_us: float, ratio: float) -> Timing:
    return Timing(
        median_us=median_us,
        interval_us=(median_us * 0.99, median_us * 1.02),
        ratio=ratio,
        ratio_interval=(ratio * 0.98, ratio * 1.03),
        differs=ratio != 1,
    )


def compilation(code: Code, *, kernel: str = "cpp_fused_add_0") -> Compilation:
    launch = Launch(artifact="python", variant="python", line=8, end=8, key="launch:inference:#1")
    return Compilation(
        id="0/0",
        frame=CELL,
        graphs={"dynamo": Graph(stage="dynamo", text="def forward(self, x):\n    return x + 1\n")},
        code=code,
        kernels=[
            Kernel(
                name=kernel,
                language="cpp",
                source="void kernel(float* x) {}\n",
                ops=["aten.add"],
                launches=[launch],
                sources=[CELL],
            )
        ],
        guards=[Guard(expression="check_tensor(L['x'])", type="TENSOR_MATCH", origin=CELL)],
        conditions=[Condition("1 weight", "the same type, shape, strides and device")],
        breaks=[
            Break(
                reason="Call to print",
                hints=["Take the print out."],
                link="https://example.org/gb0001",
                eager="print(x)",
                where=CELL,
            )
        ],
        recompile=Recompile(
            reasons=["tensor 'x' size mismatch at index 0"],
            previous="0/0",
            failures=[
                Failure(
                    guard="check_tensor(L['x'])",
                    source="L['x']",
                    compilation="0/0",
                    kind="size",
                    dimension=0,
                    old="4",
                    new="5",
                    where=CELL,
                )
            ],
            became_dynamic=["L['x'].size()[0] → s77"],
            count=7,
            limit=8,
            advice=[
                Advice(
                    kind="grad_mode",
                    what="Make all calls in the same grad mode.",
                    code="with torch.no_grad():\n    f(x)",
                    where=CELL,
                )
            ],
        ),
    )


def report(*, kernel: str = "cpp_fused_add_0") -> Report:
    exact = OutputError(
        path="",
        dtype="float32",
        max_abs=1.2e-07,
        max_rel=1e-06,
        tolerance_abs=1e-05,
        tolerance_rel=1.3e-06,
        ok=True,
    )
    python = Code(python=PYTHON, regions={"python": PYTHON_REGIONS})
    cpp = Code(cpp=CPP, regions={"cpp": CPP_REGIONS})
    variants = [
        VariantReport(
            name="eager",
            requested=Variant(backend=None),
            stage="built",
            timing=timing(182.4, 1.0),
        ),
        VariantReport(
            name="python",
            requested=Variant(),
            stage="built",
            compilations=[compilation(python, kernel=kernel)],
            effective=[
                Effective(
                    setting="cudagraphs", requested="on", actual="off", why="CPU", differs=True
                ),
                Effective(setting="dynamic", requested="automatic", actual="no symbols"),
            ],
            compile_time=CompileTime(total_s=2.58, parts={"dynamo": 0.5, "cpp_build": 2.08}),
            timing=timing(96.2, 1.9),
            accuracy=[exact],
        ),
        VariantReport(
            name="cpp",
            requested=Variant(cpp_wrapper=True),
            compilations=[compilation(cpp, kernel=kernel)],
            problems=[Problem(severity="error", what="No compiler.", remedy="Install g++.")],
        ),
    ]
    whole_report = Report(
        subject=Subject(id="s1", name="f", where=CELL, arguments=["x: float32[4] cpu"]),
        environment=Environment(torch="2.13.0", python="3.12.3", cpu="A CPU", threads=2),
        variants=variants,
        problems=[Problem(severity="warning", what="The graph breaks.", why="print.", where=CELL)],
    )
    complete(whole_report)
    return whole_report
