"""Compile phases: what kind each is, on which track, and that their times add up."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import compilescope as cs
import pytest
import torch
from compilescope.analysis.phases.compile_time import (
    add_self_times,
    add_warm_phases,
    complete_times,
    kind_times,
    split,
)
from compilescope.analysis.phases.phase_kinds import kind_of
from compilescope.analysis.phases.phases import build_phases
from compilescope.capture.records import Record
from compilescope.report import (
    PHASE_KINDS,
    Compilation,
    CompileTime,
    Kernel,
    KindTime,
    Phase,
    VariantReport,
)
from compilescope.torch_api.process import patching
from hypothesis import given, settings
from hypothesis import strategies as st

from ...subjects import product

pytestmark = pytest.mark.slow


def walk(phases: list[Phase]) -> Iterator[Phase]:
    for phase in phases:
        yield phase
        yield from walk(phase.children)


def own(phase: Phase) -> float:
    """The time of a phase without that of its children on its track."""
    return phase.duration_us - sum(
        child.duration_us for child in phase.children if child.track == phase.track
    )


def event(name: str, kind: str, at: float, owner: str | None, thread: int) -> Record:
    payload = {"name": name, "ph": kind, "ts": at, "args": {"compile_id": owner or "None"}}
    return Record(event="chromium_event", metadata={}, payload=json.dumps(payload), thread=thread)


@st.composite
def recordings(draw: st.DrawFn) -> tuple[list[Record], float]:
    """Nested spans of one compilation, some of them without an id, and what other threads do."""
    clock = 0.0
    timed: list[tuple[float, Record]] = []

    def nest(level: int) -> None:
        nonlocal clock
        name = draw(st.sampled_from(["dynamo", "pass.x", "code_gen", "compile_file", "new"]))
        owner = "0/0" if level == 0 or draw(st.booleans()) else None
        timed.append((clock, event(name, "B", clock, owner, 1)))
        for _ in range(draw(st.integers(0, 3 if level < 3 else 0))):
            clock += draw(st.integers(0, 50))
            nest(level + 1)
        clock += draw(st.integers(1, 50))
        timed.append((clock, event(name, "E", clock, owner, 1)))

    nest(0)
    whole = clock
    for thread in range(2, 2 + draw(st.integers(0, 2))):
        begin = draw(st.floats(0, whole))
        end = draw(st.floats(begin, whole))
        timed.append((begin, event("build", "B", begin, None, thread)))
        timed.append((end, event("build", "E", end, None, thread)))
    return [record for _, record in sorted(timed, key=lambda item: item[0])], whole


@given(recordings())
@settings(max_examples=200)
def test_own_times_sum_to_the_whole(recorded):
    records, whole = recorded
    (root,) = build_phases(records)["0/0"]
    main = [phase for phase in walk([root]) if phase.track == root.track]
    assert root.duration_us == pytest.approx(whole)
    assert sum(map(own, main)) == pytest.approx(whole)
    assert all(own(phase) >= -0.01 for phase in main)
    assert [phase.self_us for phase in main] == pytest.approx(list(map(own, main)), abs=0.01)
    assert all(phase.kind in PHASE_KINDS for phase in walk([root]))


def test_other_threads_have_tracks_of_their_own():
    phases = build_phases(
        [
            event("dynamo", "B", 0, "0/0", 1),
            event("async_compile.wait", "B", 10, "0/0", 1),
            event("compile_file", "B", 20, None, 2),
            event("compile_file", "B", 25, None, 3),
            event("compile_file", "E", 80, None, 2),
            event("compile_file", "E", 85, None, 3),
            event("async_compile.wait", "E", 90, "0/0", 1),
            event("dynamo", "E", 100, "0/0", 1),
        ]
    )
    (wait,) = phases["0/0"][0].children
    assert [child.track for child in wait.children] == [1, 2]
    assert own(wait) == 80
    compilation = Compilation(id="0/0", phases=phases["0/0"])
    assert split([compilation], 100e-6).parts["cpp_build"] == pytest.approx(80e-6)


@pytest.mark.parametrize("variant", ["python", "cpp"])
def test_a_part_is_the_self_time_of_its_kind(variant: str):
    report = cs.load(REPORTS / "training.compilescope.json").variant(variant)
    compiled = report.compile_time
    assert compiled is not None
    own_us = dict.fromkeys(PHASE_KINDS, 0.0)
    for compilation in report.compilations:
        for phase in walk(compilation.phases):
            if phase.track == compilation.phases[0].track:
                own_us[phase.kind] += own(phase)
    for kind in ("dynamo", "guards", "aot_autograd", "code_generation", "cpp_build", "load"):
        assert compiled.parts[kind] == pytest.approx(own_us[kind] / 1e6, rel=1e-4)
    passes = own_us["passes"] + own_us["lowering"] + own_us["scheduling"] + own_us["autotuning"]
    assert compiled.parts["inductor"] == pytest.approx(passes / 1e6, rel=1e-4)
    assert {time.kind: time.self_us for time in compiled.kinds} == pytest.approx(
        {kind: us for kind, us in own_us.items() if us}, rel=1e-4
    )
    assert sum(compiled.parts.values()) == pytest.approx(compiled.total_s)


def test_overlapping_children_count_once():
    children = [
        Phase(name="a", start_us=0, duration_us=60, kind="passes"),
        Phase(name="b", start_us=40, duration_us=30, kind="new"),
        Phase(name="g++", start_us=10, duration_us=80, kind="cpp_build", track=1),
    ]
    phases = [Phase(name="all", start_us=0, duration_us=100, kind="dynamo", children=children)]
    add_self_times(phases)
    assert phases[0].self_us == 30
    assert kind_times(phases) == [
        KindTime(kind="dynamo", self_us=30.0),
        KindTime(kind="passes", self_us=60.0),
        KindTime(kind="cpp_build", parallel_us=80.0),
        KindTime(kind="other", self_us=30.0),
    ]


def test_a_difference_of_two_clocks_is_no_time_outside():
    phases = [Phase(name="all", start_us=0, duration_us=1e6, kind="dynamo", self_us=1e6)]
    compilation = Compilation(id="0/0", phases=phases)
    assert split([compilation], 1.0005).outside_s == 0
    assert split([compilation], 2.5).outside_s == 1.5


def test_an_earlier_files_phases_are_added_up():
    def frame(start_us: float, duration_us: float) -> list[Phase]:
        wait = Phase(name="wait", start_us=start_us, duration_us=5e5, kind="guards")
        return [Phase("frame", start_us, duration_us, [wait], "dynamo")]

    variant = VariantReport(
        name="python",
        requested=cs.Variant(),
        compilations=[Compilation(id="0/0", phases=frame(0, 2e6), warm_phases=frame(0, 1e6))],
        compile_time=CompileTime(total_s=2.0, parts={"dynamo": 2.0}),
        warm_compile_time=CompileTime(total_s=1.0, parts={"dynamo": 1.0}, cold=False),
    )
    complete_times(variant)
    (compilation,) = variant.compilations
    assert compilation.phases[0].self_us == 1.5e6
    assert compilation.warm_phase_times[0] == KindTime(kind="dynamo", self_us=5e5)
    assert variant.compile_time.parts == {"dynamo": 1.5, "guards": 0.5}
    assert variant.warm_compile_time.parts == {"dynamo": 0.5, "guards": 0.5}
    assert not variant.warm_compile_time.cold


def test_what_names_no_compilation_holds_what_does():
    phases = build_phases(
        [
            event("dynamo", "B", 0, "0/0", 1),
            event("gc", "B", 10, None, 1),
            event("pass.x", "B", 20, "0/0", 1),
            event("pass.x", "E", 30, "0/0", 1),
            event("gc", "E", 40, None, 1),
            event("dynamo", "E", 50, "0/0", 1),
        ]
    )
    (root,) = phases["0/0"]
    assert [child.name for child in root.children] == ["gc"]
    assert [child.name for child in root.children[0].children] == ["pass.x"]


def test_the_kind_of_what_is_unknown_is_its_parents():
    assert kind_of("brand_new_span", "scheduling") == "scheduling"
    assert kind_of("brand_new_span") == "other"


def test_waiting_for_triton_is_tritons():
    phases = build_phases(
        [
            event("dynamo", "B", 0, "0/0", 1),
            event("async_compile.precompile", "B", 1, "0/0", 1),
            event("async_compile.precompile", "E", 2, "0/0", 1),
            event("async_compile.wait", "B", 3, "0/0", 1),
            event("async_compile.wait", "E", 9, "0/0", 1),
            event("dynamo", "E", 10, "0/0", 1),
        ]
    )
    kinds = {phase.name: phase.kind for phase in walk(phases["0/0"])}
    assert kinds["async_compile.wait"] == "triton"


def test_waiting_for_tritons_kernels_with_warm_caches_is_tritons():
    wait = Phase(name="async_compile.wait", start_us=0, duration_us=5, kind="cpp_build", self_us=5)
    kernel = Kernel(name="fused", language="triton")
    compilation = Compilation(id="0/0", kernels=[kernel])
    add_warm_phases(compilation, [wait])
    assert compilation.warm_phase_times == [KindTime(kind="triton", self_us=5.0)]


TRACES = Path(__file__).parents[3] / "data" / "traces"
REPORTS = TRACES.parent / "reports"

_TIMED = re.compile(r"dynamo_timed\(\s*\"([A-Za-z_][\w.<>]*)\"(?:,\s*phase_name=\"(\w+)\")?")
_STRAY = {"my_event", "_foo", "metric"}
"""In torch's docstrings and tests."""


def test_every_span_of_this_torch_has_a_kind():
    root = Path(torch.__file__).parent
    names = {
        name
        for folder in ("_dynamo", "_inductor", "_functorch", "fx")
        for path in (root / folder).rglob("*.py")
        for match in _TIMED.finditer(path.read_text(encoding="utf-8", errors="replace"))
        for name in [match.group(2) or match.group(1)]
    } - _STRAY
    assert len(names) > 40
    assert {name for name in names if kind_of(name) == "other"} <= {
        "gc",
        "TranslationValidator.validate",
        "offload_constants_restore",
        "offload_constants_spill",
    }


@pytest.fixture(scope="module")
def built() -> VariantReport:
    """A small training step, built with the C++ wrapper."""
    call = product()
    report = cs.inspect(call.fn, call.args, variants=("cpp",), run=True)
    return report.variant("cpp")


def test_real_phases_add_up(built):
    (compilation,) = built.compilations
    for root in compilation.phases:
        main = [phase for phase in walk([root]) if phase.track == root.track]
        assert sum(map(own, main)) == pytest.approx(root.duration_us, rel=1e-3)
    assert built.compile_time is not None
    assert sum(built.compile_time.parts.values()) == pytest.approx(built.compile_time.total_s)


def test_the_cpp_compiler_and_the_caches_are_named(built):
    by_name = {phase.name: phase for phase in walk(built.compilations[0].phases)}
    assert by_name["CppBuilder.compile_and_link"].kind == "cpp_build"
    assert by_name["CppBuilder.compile_and_link"].detail.endswith(".main")
    assert {"FxGraphCache.prepare_key", "FxGraphCache._save_graph", "AOTAutogradCache.save"} <= {
        name for name, phase in by_name.items() if phase.kind == "cache"
    }
    assert by_name["CppCodeCache._load_library"].kind == "load"
    assert by_name["Scheduler.__init__"].kind == "scheduling"
    assert by_name["GraphLowering.run"].kind == "lowering"


def test_warm_caches_are_hit(built):
    (compilation,) = built.compilations
    assert [event.outcome for event in compilation.cache] == ["miss"] * 3
    assert {(event.cache, event.outcome) for event in compilation.warm_cache} == {
        ("AOTAutograd", "hit"),
        ("FX graph", "hit"),
    }
    warm, cold = built.warm_compile_time, built.compile_time
    assert warm is not None
    assert cold is not None
    assert (cold.cold, warm.cold) == (True, False)
    # What hits spare. Which takes longer is the machine's: a busy one can hold up either.
    assert set(cold.parts) - set(warm.parts) >= {"aot_autograd", "inductor", "code_generation"}
    names = {phase.name for phase in walk(compilation.warm_phases)}
    assert "AOTAutogradCache._lookup" in names
    assert not [name for name in names if name.startswith("CppBuilder")]
    assert "warm_cache" not in compilation.absent


def test_a_bypass_is_told_with_torchs_reason():
    fn = torch.nn.Linear(8, 4).eval()
    with torch._inductor.config.patch(freezing=True), torch.no_grad():
        report = cs.inspect(fn, (torch.randn(3, 8),), variants=("python",), run=True)
    variant = report.variant("python")
    assert "freezing" in variant.compilations[0].absent["warm_cache"]
    assert variant.warm_compile_time is not None


def test_nothing_stays_patched(built):
    assert patching._held == {}


@pytest.mark.parametrize(("wrapper", "built"), [("python", False), ("cpp", True)])
def test_compiling_tritons_kernels_is_no_build_of_cpp(wrapper: str, built: bool):
    report = cs.read_trace(TRACES / f"h200-torch2.11-mlp_b1_{wrapper}.log.gz")
    parts = split(report.compilations, 100.0).parts
    assert parts["triton"] > 0.05
    assert (parts.get("cpp_build", 0) > 5) == built
