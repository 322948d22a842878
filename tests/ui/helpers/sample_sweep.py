"""A sweep that no run makes: every way in which a cell can end, on two shapes; ways to deploy.

`python sample_sweep.py` writes it to the standard output.
"""

import sys

from compilescope import report as r
from compilescope.analysis.figures.intervals import Ratio
from compilescope.analysis.figures.speedups import over_baseline, speedup
from compilescope.report.measurements.accuracy import OutputError
from compilescope.report.measurements.recommendation import judge
from compilescope.report.measurements.sweeps import Sweep, SweepCell
from compilescope.report.measurements.timings import CompileTime, Timing
from compilescope.report.measurements.way_remarks import remarks_on
from compilescope.report.problem import Problem
from compilescope.report.variant import Variant
from compilescope.sweep.ranking import rank

EVIL = "<img src=x onerror=\"document.title='evil'\">"


def measured(name, shape, us, first_s, ratio, **more):
    """A cell that was timed."""
    near = 0.004 * ratio if ratio > 1.05 else 0.03
    timing = Timing(
        us,
        (us * 0.985, us * 1.01),
        ratio=ratio,
        ratio_interval=(ratio - near, ratio + near),
        differs=abs(ratio - 1) > near,
    )
    timing.speedup = over_baseline(timing)
    return SweepCell(
        key=f"{name} {shape}",
        name=name,
        variant=more.pop("variant", Variant()),
        shape=shape,
        arguments=[f"x: float32[{shape}] cpu"],
        state="done",
        timing=timing,
        throughput_per_s=64e6 / us,
        compile_time=CompileTime(
            first_s, {"dynamo": 0.4, "inductor": 0.9, "cpp_build": first_s - 1.3}
        ),
        memory_bytes=us * 40e3,
        accuracy=[OutputError("output", "float32", 2e-7, 1e-6, 1e-5, 1e-5, True)],
        accurate=more.pop("accurate", True),
        worker="workstation, process 4711",
        device="cpu",
        started_s=2000.0,
        took_s=first_s + 9,
        tries=1,
        **more,
    )


def ended(name, shape, state, what, why="", remedy="", detail=""):
    """A cell that was not."""
    return SweepCell(
        key=f"{name} {shape}",
        name=name,
        variant=Variant(),
        shape=shape,
        state=state,
        problem=Problem(severity="error", what=what, why=why, remedy=remedy, detail=detail),
        started_s=2000.0,
        took_s=31.0,
        tries=3 if state == "crashed" else 1,
    )


GRAPHS = r.Effective(
    "CUDA graphs",
    "on",
    "off",
    "skipped because of a cpu device",
    True,
    "Ask for a mode without them.",
)
WRONG = OutputError("output[0]", "float32", 0.3, 0.2, 1e-5, 1e-5, False)
cells = []
for shape, factor in (("batch 64", 1.0), ("batch 1024", 13.0)):
    cells += [
        measured("python", shape, 61.0 * factor, 3.1, 1.62 if factor == 1 else 1.01),
        measured(
            "cpp",
            shape,
            (41.5 if factor == 1 else 60.8) * factor,
            7.9,
            2.38 if factor == 1 else 1.02,
            variant=Variant(cpp_wrapper=True),
        ),
        measured(
            "max-autotune-no-cudagraphs", shape, 58.0 * factor, 24.5, 1.7 if factor == 1 else 1.31
        ),
        measured(
            "cpp max-autotune-no-cudagraphs",
            shape,
            41.2 * factor,
            33.0,
            2.4 if factor == 1 else 1.35,
        ),
        measured(
            "reduce-overhead",
            shape,
            66.0 * factor,
            3.4,
            1.5 if factor == 1 else 0.82,
            effective=[GRAPHS],
        ),
    ]
    cells[-1].started_s = 900.0
cells += [
    measured("cpp dynamic", "batch 64", 39.0, 8.3, 2.53, accurate=False),
    ended(
        "max-autotune",
        "batch 64",
        "timeout",
        "It did not end within 300 s.",
        "",
        "Allow more time.",
    ),
    ended(
        "max-autotune",
        "batch 1024",
        "memory",
        "It took more than 8 GB.",
        "Autotuning keeps its inputs.",
    ),
    ended(
        "dynamic",
        "batch 64",
        "crashed",
        "Its process died: signal 11.",
        detail="Segmentation fault",
    ),
    ended(EVIL, "batch 1024", "failed", EVIL, EVIL, EVIL, EVIL),
]
cells[10].accuracy = [WRONG]
swept = Sweep(
    id="sweep-9",
    cells=cells,
    state="done",
    shapes=["batch 64", "batch 1024"],
    items=64,
    unit="images",
    executor="processes, 2 at a time",
    started_s=1500.0,
    took_s=412.0,
)
rank(swept)
for shape, key in swept.winners.items():
    swept.codes[shape] = f"compiled = torch.compile(model)  # {key}"
swept.code = swept.codes["batch 64"]


def faster_than_eager(us):
    """As it is said of a call beside eager's 101 µs."""
    return speedup(Ratio(101 / us, (99 / us, 103 / us), True), "eager")


def way(name, cold, cached, shipped, us, restrictions="", **more):
    """A way to deploy that was measured."""
    return r.DeployWay(
        name=name,
        code=f"compiled = torch.compile(model)  # {name}",
        ship_code="artifacts, _ = torch.compiler.save_cache_artifacts()" if shipped else "",
        load_code="torch.compiler.load_cache_artifacts(artifacts)" if shipped else "",
        cold_s=cold,
        cached_s=cached,
        shipped_s=shipped,
        ships=["caches.bin"] if shipped else [],
        ship_bytes=310_000 if shipped else None,
        call_us=us,
        call_interval_us=(us * 0.99, us * 1.01),
        eager_us=101.0,
        speedup=faster_than_eager(us) if name != "eager" else None,
        memory_bytes=612e6,
        restrictions=[restrictions] if restrictions else [],
        **{"accurate": True, **more},
    )


recompiles = "recompiles if a guard fails, and the call waits for it"
ways = [
    way("eager", 0.012, None, None, 101.0),
    way("torch.compile", 21.4, 2.1, 2.9, 61.0, recompiles),
    way("C++ wrapper", 64.0, 9.2, 51.8, 41.5, recompiles),
    way(
        "no guards", 21.2, 2.0, 2.8, 55.0, "a call with other sizes gives wrong results", safe=False
    ),
    way("blocks compiled", 6.1, 0.7, 0.9, 78.0, "nothing fuses across blocks"),
    way("nested region", 9.0, 1.2, 1.4, 66.0, "nothing fuses across blocks", accurate=False),
    r.DeployWay("reduce-overhead", why="Its CUDA graphs need a GPU."),
    r.DeployWay(
        "aot_compile",
        problem=Problem(severity="error", what="A graph break is an error.", why=EVIL),
    ),
    way("AOTInductor", 48.0, 1.1, 0.4, 44.0, "one graph for these shapes; no gradients"),
]
best = judge(ways)
report = r.Report(
    subject=r.Subject("swept", "swept", arguments=["x: float32[64] cpu"]),
    environment=r.Environment(torch="2.13.0", cpu="a processor"),
    sweep=swept,
    variants=[
        r.VariantReport(
            "python", Variant(), ways=ways, best_way=best, ways_remarks=remarks_on(ways)
        )
    ],
)
sys.stdout.write(report.to_json())
