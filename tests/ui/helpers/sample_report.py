"""A report that no run makes: all that the views can show, with names that look like markup.

`python sample_report.py` writes it to the standard output.
"""

import sys

from compilescope import report as r
from compilescope.analysis.phases.cold import add_words
from compilescope.analysis.phases.compile_time import complete_times
from compilescope.report.variant import Variant

EVIL = "<img src=x onerror=\"document.title='evil'\">"
CELL = "/tmp/ipykernel_1/1.py"
WRAPPER = "def call(args):\n    mm(args)\n    fused_relu_0(args)\n    return args\n"


def phase(name, start, duration, kind, *children, track=0, detail=""):
    """A phase; times are in ms."""
    return r.Phase(name, start * 1e3, duration * 1e3, list(children), kind, track, detail)


def phases(start, build):
    """What a compilation spends its time on; ``build`` is the C++ compiler's, in ms."""
    lowering = [
        phase("lower", start + 110 + n * 0.5, 0.4, "lowering", detail=f"aten.op_{n}")
        for n in range(100)
    ]
    gxx = phase("compile_file", start + 200, build, "cpp_build", detail="main.cpp")
    worker = phase("triton_compile", start + 190, build / 2, "triton", track=1, detail=EVIL)
    inductor = phase(
        "inductor_compile",
        start + 100,
        build + 110,
        "lowering",
        *lowering,
        *([gxx, worker] if build else []),
    )
    frame = phase("bytecode_tracing", start + 10, 60, "dynamo")
    return [phase("entire_frame_compile", start, build + 230, "dynamo", frame, inductor)]


def kernels(variant):
    """Kernels of both directions and a library call."""
    source = r.SourceLine(CELL, 4, "f", "return torch.relu(x @ w)")

    def launches(key, line, size):
        return [
            r.Launch(name, name, line, line, key, "fused_relu_0(buf0)", size, size / 4)
            for name in ("python", "cpp")
        ]

    fused = r.Kernel(
        name="fused_relu_0",
        language="cpp",
        source="void kernel() {}\n",
        ops=["aten.relu"],
        launches=launches("launch:1", 3, 2048.0),
        sources=[source],
        grid="parallel x0: 64",
        estimated_bytes=2048.0,
        estimated_operations=512.0,
        fusion=r.Fusion(nodes=2, saved_bytes=1024.0, saved=["mm"], kind="pointwise"),
    )
    mm = r.Kernel(
        name="mm", language="extern", launches=launches("launch:0", 2, 1024.0), sources=[source]
    )
    evil = r.Kernel(
        name=EVIL,
        language="triton",
        ops=[EVIL],
        grid=EVIL,
        sources=[r.SourceLine(EVIL, 1, EVIL, EVIL)],
        descriptors=[
            r.Descriptor(
                name="a_desc",
                shape=["4096", "1024"],
                strides=["1024", "1"],
                block=["128", "64"],
                dtype="fp16",
                line=53,
                why="Each block builds it.",
            ),
            r.Descriptor(name=EVIL, built_on="host", built="each call", block=[EVIL], why=EVIL),
        ],
    )
    many = [
        r.Kernel(name=f"fused_many_{n}", language="cpp", direction="backward", ops=["aten.add"])
        for n in range(2000)
    ]
    return [mm, fused, evil, *many]


def tunings():
    """One of each kind, and one that was skipped."""
    choices = [r.Choice("mm", "extern", 30.0, why="1.50 times the best")] + [
        r.Choice(
            f"triton_mm_{n}",
            "triton template",
            20.0 + n * n,
            n == 0,
            {"BLOCK_M": str(16 << n % 4), "num_warps": "4"},
            "" if n == 0 else "slower",
        )
        for n in range(40)
    ]
    return [
        r.Autotuning("mm", "algorithm", "mm", ["float32[64, 64] cuda"] * 2, choices, 2.5),
        r.Autotuning(EVIL, "config", EVIL, [EVIL], [r.Choice(EVIL, why=EVIL, config={EVIL: EVIL})]),
        r.Autotuning("addmm", inputs=["float32[4, 4] cpu"], skipped="The weights are not frozen."),
    ]


def compilation(variant):
    """Both compilations of a variant, the first one with all there is."""
    build = 4000 if variant == "cpp" else 1500
    crossing = r.Crossing(
        "mylib.rotate",
        "cpp",
        [3],
        why="It has no C shim.",
        remedy='Register it in C++:\n```cpp\nm.impl("rotate", &rotate);\n```',
    )
    shim = "cpp" if variant == "cpp" else "python"
    routes = [
        r.Route(
            operator="mylib::rotate",
            registered="python",
            artifact=shim,
            via="dispatcher" if variant == "cpp" else "python",
            lines=[3],
            gil=1 if variant == "cpp" else 2,
            us=4.5 if variant == "cpp" else 7.25,
            interval_us=(4.0, 8.0),
            how="The median of 32 rounds.",
            why="Its kernel is written in Python.",
            remedy="Register its kernel in C++.",
            where=r.SourceLine(CELL, 2, "rotate"),
        ),
        r.Route(EVIL, "unknown", shim, lines=[2], why=EVIL, how=EVIL),
        r.Route(
            operator="aten::mm",
            registered="torch",
            artifact=shim,
            via="shim" if variant == "cpp" else "library",
            lines=[2],
            gil=0 if variant == "cpp" else 1,
        ),
    ]
    first = r.Compilation(
        id="0/0",
        frame=r.SourceLine(CELL, 3, "f", "def f(x, w):"),
        code=r.Code(
            python=WRAPPER if variant == "python" else None,
            cpp=WRAPPER if variant == "cpp" else None,
            regions={
                variant: [
                    r.Region("launch", 2, 2, "launch:0", kernel="mm"),
                    r.Region("launch", 3, 3, "launch:1", kernel="fused_relu_0"),
                ]
            },
        ),
        kernels=kernels(variant),
        phases=phases(0, build),
        warm_phases=phases(0, 0),
        cache=[r.CacheEvent("FX graph", "miss", "f7kbbzk3koq66cto2dgp", EVIL)],
        warm_cache=[r.CacheEvent("FX graph", "hit", "f7kbbzk3koq66cto2dgp")],
        autotunings=tunings() if variant == "python" else [],
        crossings=[crossing] if variant == "cpp" else [],
        routes=routes,
    )
    again = r.Compilation(id="0/1", phases=phases(build + 400, 300), duration_s=0.5)
    return [first, again]


def loads():
    """Kernels compiled in the background and at their first launch, and one from a cache."""

    def spans(*steps):
        return [r.LoadSpan(step, ms * 1e3, us, step == "compile") for step, ms, us in steps]

    run, later = ("first_run", 2300, 180.0), ("later_run", 0, 60.0)
    evil = ("load", 2301, 400.0), ("autotune", 2302, 5e4), ("first_run", 2400, 90.0)
    return [
        r.KernelLoad(
            *("fused_relu_0", "0/0", 0, 2e5, 1.5e6, 600.0, None, 180.0, 60.0, True, False),
            spans=spans(("compile", 200, 1.5e6), ("load", 1750, 600.0), run, later),
        ),
        r.KernelLoad(
            *(EVIL, "0/0", 1, 1.9e6, None, 400.0, 5e4, 90.0, 12.0),
            cached=True,
            how=EVIL,
            spans=spans(*evil, ("later_run", 0.08, 12.0)),
        ),
    ]


def variant(name, requested):
    """A variant that was built."""
    graphs = r.Effective(
        "CUDA graphs",
        "on",
        "off",
        "skipped because of a cpu device: `primals_1`",
        True,
        'Ask for a mode without them:\n```python\ntorch.compile(f, mode="default")\n```',
        ["aten.nonzero"],
        r.SourceLine(CELL, 4, "f", "return torch.relu(x @ w)"),
    )
    evil = r.Effective(EVIL, EVIL, EVIL, EVIL, True, EVIL, [EVIL])
    total = 6.5 if name == "cpp" else 3.0
    return r.VariantReport(
        name=name,
        requested=requested,
        stage="built",
        effective=[r.Effective("backend", "inductor", "inductor"), graphs]
        + ([evil] if name == "cpp" else []),
        config={"cpp_wrapper": "True", EVIL: EVIL} if name == "cpp" else {},
        compilations=compilation(name),
        compile_time=r.CompileTime(total),
        warm_compile_time=r.CompileTime(0.3, cold=False),
        cold=cold(),
        kernel_loads=loads(),
    )


def cold():
    how = "Each figure is one first call in a new process."

    def row(switch, value, cold_s, warm_s, call_us, title, more=(0.0, 0.0, 0.0), code=""):
        return r.ColdSwitch(
            switch=switch,
            value=value,
            title=title,
            code=code,
            cold_s=cold_s,
            warm_s=warm_s,
            cold_parts={"dynamo": 0.3, "inductor": 0.7, "cpp_build": cold_s - 1.0},
            warm_parts={"dynamo": 0.3, "cpp_build": (warm_s or 1.0) - 0.3},
            call_us=call_us,
            call_interval_us=(call_us - 1.0, call_us + 1.0) if call_us else None,
            cold_more_s=more[0],
            warm_more_s=more[1],
            call_more_us=more[2],
            how=how,
        )

    separate = "cpp_wrapper_build_separate"
    title = "the C++ wrapper in a separate file, at -O1, and the kernels at -O3"
    headers_kept = "C++ headers precompiled by an earlier first call, as they stay on a machine"
    headers = "torch's C++ headers are precompiled once on a machine"
    code = f"torch._inductor.config.{separate} = True"
    return [
        row("as it is", "", 21.4, 2.1, 41.0, "torch's settings as they are here"),
        row("precompiled headers kept", "", 9.2, None, None, headers_kept, (-12.3, None, None)),
        row("cpp_cache_precompile_headers", "False", 16.3, 0.9, 41.0, headers, (-5.2, -1.2, 0.0)),
        row(separate, "True", 19.0, 2.2, 44.5, title, (-2.5, 0.0, 3.4), code),
        row("fx_graph_cache", "False", 21.5, 8.8, 41.2, "kept on disk", (0.0, 6.7, 0.0)),
        r.ColdSwitch(switch="use_static_cuda_launcher", value="False", why="It is of a GPU."),
        row("as it is", "once more", 21.6, 2.1, 41.3, "what differs by chance"),
    ]


report = r.Report(
    subject=r.Subject("made", "made", where=r.SourceLine(CELL, 3, "f", "def f(x, w):")),
    environment=r.Environment(torch="2.13.0", cpu="a processor"),
    variants=[variant("python", Variant()), variant("cpp", Variant(cpp_wrapper=True))],
    files={CELL: "import torch\n\ndef f(x, w):\n    return torch.relu(x @ w)\n"},
)
for variant in report.variants:
    add_words(variant)
    complete_times(variant)
sys.stdout.write(report.to_json())
