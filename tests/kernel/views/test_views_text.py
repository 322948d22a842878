"""The report in a terminal, as a whole and in its words."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path

import msgspec
import pytest
from compilescope.report import Kernel, Payback, Problem, SourceLine, Startup, units
from compilescope.report.variant import Variant
from compilescope.views import wording
from compilescope.views.text import report as text

from ..report.overview_reports import look, make_report
from ..views_report import CELL, report, timing

FORMATS = Path(__file__).parents[2] / "data" / "formats.json"

WHOLE = """\
f  function, cell line 3
  x: float32[4] cpu
torch 2.13.0 · Python 3.12.3 · A CPU · 2 threads

The Python wrapper is fastest: 96.2 µs a call, 1.90\u00d7 faster than eager.
variant  switches          stage          median   95 % interval  over eager    first call  outputs
eager    no torch.compile  run            182 µs   181\u2013186 µs
python   defaults          built and run  96.2 µs  95.2\u201398.1 µs   1.90\u00d7 faster  2.58 s      within 1.2e-07
cpp      cpp_wrapper       sources only

error: [cpp] No compiler.
  → Install g++.
warning: The graph breaks.  (cell line 3)
  3 | y = x + 1
  print.

C++ wrapper?  Not measured yet. Only the Python wrapper is timed. cs.measure(report), in the session
              that inspected the call, builds and times them.
limits?       Not measured yet. The time of a call was not broken down. cs.study(report, "layers"),
              in the session that inspected the call, breaks it down.
1. Avoid recompile 0/0 (x.size(0): 4 → 5)
   Make all calls in the same grad mode.
   before the call (cell line 3):
   with torch.no_grad():
       f(x)
2. Fix the graph break at line 3: `print(x)`: not measured
   Take the print out.
1 graph · 1 graph break · 1 recompile · 1 launch of 1 kernel (1 C++) · 1 guard · 1 setting not in
effect: cudagraphs · first call 2.58 s (C++ build 2.08 s, Dynamo 500 ms)

differs: [python] cudagraphs: requested on, effective off
  CPU

compilation 0/0  cell line 3  1 kernel, 1 guard, 1 graph break  (as in python)
  recompiled: x.size(0): 4 → 5  (0/0)
    dynamic from now on: L['x'].size()[0] → s77
    compiled 7 of at most 8 times; new cases then run in eager
    → Make all calls in the same grad mode.
        with torch.no_grad():
            f(x)
  break: Call to print  (cell line 3)
    in eager: print(x)
    → Take the print out.
  Any change to these makes the call recompile:
    1 weight: the same type, shape, strides and device
  cpp_fused_add_0 (C++): aten.add

import compilescope as cs                    for the calls named above
report.save("report.html")                   everything, in one file
report.compilation("0/0").kernels[0].source  a kernel
report.compilation("0/0").code.cpp           the C++ wrapper"""  # noqa: E501


def test_the_whole_report() -> None:
    assert text.render(report()) == WHOLE


def test_the_parts_of_a_call_end_their_sentence() -> None:
    measured = make_report(eager=60.0, python=40.0)
    look(measured, "python", guards=4.0, kernels=28.0)
    shown = " ".join(text.render(measured).split())
    assert re.search(r"kernels \d+ %\. The breakdown is a separate run", shown)


def test_the_modules_of_a_kernel_are_set_apart_from_its_operators_and_counted() -> None:
    result = report()
    names = [f"m.blocks.{number}: Block" for number in range(9)]
    kernel = Kernel(name="fused", language="cpp", ops=["aten.mul.Tensor"], modules=names)
    result.variants[1].compilations[0].kernels = [kernel]
    shown = " ".join(text.render(result).split())
    assert (
        "aten.mul.Tensor; of m.blocks.0: Block, m.blocks.1: Block, m.blocks.2: Block, "
        "m.blocks.3: Block, … and 5 more"
    ) in shown
    kernel.modules = names[:4]
    assert "… and" not in text.render(result)


def test_what_it_says_to_do_next_works() -> None:
    result = report()
    steps = re.findall(r"^(report\.\S+)  ", text.render(result), re.M)[1:]
    assert [eval(step, {"report": result}) for step in steps] == [
        "void kernel(float* x) {}\n",
        result.variants[2].compilations[0].code.cpp,
    ]


def test_color_adds_escapes_alone() -> None:
    colored = text.render(report(), color=True)
    assert "\033[31merror:\033[0m" in colored
    assert re.sub(r"\033\[\d+m", "", colored) == WHOLE


def test_long_reasons_wrap_at_the_width() -> None:
    result = report()
    result.problems = [Problem(severity="info", what="What.", why="because " * 40)]
    lines = text.render(result, width=60).splitlines()
    wrapped = [line for line in lines if "because" in line]
    assert len(wrapped) > 4
    assert max(map(len, wrapped)) <= 60


def test_many_kernels_are_counted_not_listed() -> None:
    result = report()
    result.variants[1].compilations[0].kernels = [
        Kernel(name=f"kernel_{number}", language="extern") for number in range(30)
    ]
    shown = text.render(result)
    assert "kernel_11 (extern)" in shown
    assert "kernel_12" not in shown
    assert "… and 18 more: .kernels" in shown


def test_what_the_cell_compiled_stands_apart() -> None:
    result = report()
    result.variants.insert(0, result.variants.pop(1))
    result.variants[0].name = "as written"
    shown = text.render(result)
    assert "compiled by the cell itself" in shown
    assert "as written " not in shown.split("compiled by the cell itself")[0]


def test_figures_are_those_of_the_panel() -> None:
    """``tests/ts/words/format.spec.ts`` tests the panel with the same file."""
    cases = json.loads(FORMATS.read_text())
    assert {time_us: units.duration(time_us) for time_us, _ in cases["durations"]} == dict(
        cases["durations"]
    )
    assert [units.duration_range(*bounds) for bounds, _ in cases["ranges"]] == [
        shown for _, shown in cases["ranges"]
    ]
    assert [
        wording.place(
            SourceLine(file=file, line=line, cell=msgspec.UNSET if cell is None else cell)
        )
        for file, line, cell, _ in cases["places"]
    ] == [shown for *_, shown in cases["places"]]
    assert {apart: units.difference(apart) for apart, _ in cases["differences"]} == dict(
        cases["differences"]
    )
    assert {share: units.percent(share) for share, _ in cases["shares"]} == dict(cases["shares"])
    assert {seconds: units.rough_duration(seconds) for seconds, _ in cases["estimates"]} == dict(
        cases["estimates"]
    )
    assert [
        units.time_of_day(datetime(2026, 6, 1, *clock).timestamp())
        for *clock, _ in cases["times_of_day"]
    ] == [shown for *_, shown in cases["times_of_day"]]
    assert {seconds: units.elapsed(seconds) for seconds, _ in cases["elapsed"]} == dict(
        cases["elapsed"]
    )
    assert {count: units.size(count) for count, _ in cases["sizes"]} == dict(cases["sizes"])
    assert {count: units.whole_number(count) for count, _ in cases["counts"]} == dict(
        cases["counts"]
    )
    assert [units.quantity(value, unit) for value, unit, _ in cases["quantities"]] == [
        shown for *_, shown in cases["quantities"]
    ]


@pytest.mark.parametrize(
    ("variant", "shown"),
    [
        (Variant(), "defaults"),
        (Variant(backend=None), "no torch.compile"),
        (Variant(backend="aot_eager", fullgraph=True), "backend=aot_eager, fullgraph"),
        (
            Variant(mode="max-autotune", cpp_wrapper=True, dynamic=False),
            "mode=max-autotune, cpp_wrapper, dynamic=False",
        ),
        (Variant(options={"max_fusion_size": 8}, target="H100"), "max_fusion_size=8, target=H100"),
    ],
)
def test_switches(variant: Variant, shown: str) -> None:
    assert wording.switches(variant) == shown


def test_a_wrong_output_is_named() -> None:
    variant = report().variants[1]
    variant.accuracy[0].ok, variant.accuracy[0].path = False, "[0]"
    assert wording.accuracy(variant) == "[0] differs by 1.2e-07 (allowed 1.0e-05)"


def test_an_output_of_another_kind_has_no_difference() -> None:
    variant = report().variants[1]
    wrong = variant.accuracy[0]
    wrong.ok, wrong.path, wrong.max_abs = False, "output (shape [32] instead of [64])", 0.0
    assert wording.accuracy(variant) == "differs: output (shape [32] instead of [64])"


def test_words_of_what_is_not_known() -> None:
    unknown = timing(1.0, 1.0)
    unknown.ratio = unknown.ratio_interval = None
    assert wording.speedup(unknown) == ""
    assert wording.place(None) == ""
    assert wording.place(CELL) == "cell line 3"
    assert wording.place(SourceLine(file="<ipython-input-7-ab>", line=2)) == "cell [7], line 2"
    assert wording.place(SourceLine(file="C:\\a\\b.py", line=2)) == "b.py:2"


def test_a_problem_of_several_variants_is_told_once() -> None:
    result = report()
    result.variants[1].problems = list(result.variants[2].problems)
    assert "error: [python, cpp] No compiler." in text.render(result)
    assert text.render(result).count("No compiler.") == 1


def test_links_are_not_broken() -> None:
    result = report()
    link = "https://example.org/" + "long-" * 30
    result.problems[0].remedy = f"See {link}"
    assert link in text.render(result, width=60)


def test_only_what_differs_is_told_of_the_settings() -> None:
    assert "no symbols" not in text.render(report())


def test_a_measurement_that_decides_nothing_says_which_call_does() -> None:
    undecided = make_report(eager=60.0, python=40.0)
    assert "cs.measure(" not in text.render(undecided).partition("limits?")[0]
    for variant in undecided.variants:
        timing = variant.timing
        assert timing is not None
        timing.median_us = 2.5e6
        if timing.speedup is not None:
            timing.speedup.standing = "few"
    rendered = text.render(undecided, name="r")
    assert "\u2192 cs.measure(r, seconds=80), in the session that inspected the call" in rendered
    assert 'cs.study(r, "layers"),' in rendered
    assert re.findall(r"^import compilescope as cs ", rendered, re.M) == [
        "import compilescope as cs "
    ]


def test_first_calls_in_new_processes_are_a_table() -> None:
    shown = report()
    variant = shown.variants[1]
    variant.startups = [
        Startup(
            cache="cold",
            first_call_s=11.2,
            parts={"dynamo": 0.6, "cpp_build": 8.5},
            imports_s=3.0,
            memory_bytes=2**30,
        ),
        Startup(cache="warm", problem=Problem(severity="error", what="It was killed.")),
    ]
    variant.paybacks = [
        Payback(cache="cold", compile_s=11.2, saved_us=9.0, calls=3.0, text="pays for itself")
    ]
    lines = [" ".join(line.split()) for line in text.render(shown).splitlines()]
    first = lines.index("First calls, each in a new process")
    assert lines[first + 2 : first + 5] == [
        f"{variant.name} cold precompiled 11.2 s C++ build 8.50 s, Dynamo 600 ms 3.00 s 1.00 GiB",
        f"{variant.name} warm precompiled It was killed.",
        f"{variant.name} pays for itself.",
    ]
