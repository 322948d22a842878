"""Compile phases: what kind each is, on which track, and that their times add up."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import compilescope as cs
import pytest
import torch
from compilescope.analysis.phases.compile_time import split
from compilescope.analysis.phases.phase_kinds import kind_of
from compilescope.analysis.phases.phases import build_phases
from compilescope.capture.records import Record
from compilescope.report import PHASE_KINDS, Compilation, Phase, VariantReport
from compilescope.torch_api.process import patching
from hypothesis import given, settings
from hypothesis import strategies as st

from ..subjects import product

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
def test_the_cpp_build_is_the_time_of_its_phases(variant: str):
    report = cs.load(REPORTS / "training.compilescope.json").variant(variant)
    assert report.compile_time is not None
    parts = split(report.compilations, report.compile_time.total_s).parts
    # The view of the phases sums their own times by kind.
    own_us = sum(
        own(phase)
        for compilation in report.compilations
        for root in compilation.phases
        for phase in walk([root])
        if phase.kind == "cpp_build" and phase.track == root.track
    )
    assert parts["cpp_build"] == pytest.approx(own_us / 1e6, rel=1e-4)
    assert sum(parts.values()) == pytest.approx(report.compile_time.total_s)


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


TRACES = Path(__file__).parents[2] / "data" / "traces"
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
    assert warm.total_s < 0.5 * cold.total_s
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
