"""Builds are kept and measured live, in rounds with eager."""

from __future__ import annotations

from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.builds import built_variants
from compilescope.builds.comparison import repeatable_state
from compilescope.builds.live_measurement import compared, headline
from compilescope.isolation.user_state import Snapshot
from compilescope.progress.progress import Monitor
from compilescope.report import Timing
from compilescope.session import requests
from compilescope.torch_api.dynamo import compile_variant
from compilescope.views import wording

from ... import subjects
from ...isolation.test_isolation import Mine, compiled_frames
from .measure_support import BOTH, QUICK, inspected, measure, series_extents

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]


def test_what_is_built_is_measured_beside_eager_and_gone_on_with() -> None:
    _, inspection = inspected(variants=BOTH)
    states: list[str] = []
    measure(inspection, on_news=lambda: states.append(inspection.measurement.state))
    first = inspection.measurement
    assert list(dict.fromkeys(states)) == ["building", "warming", "running", "done"]
    assert first.rounds > 0
    assert series_extents(inspection) == {"eager": (0, first.rounds), "quick": (0, first.rounds)}
    before, rounds = list(first.series["quick"].samples_us), first.rounds
    with compiled_frames() as frames:
        measure(inspection)
    assert frames == [], "nothing is compiled again"
    assert inspection.measurement.id == first.id
    assert inspection.measurement.series["quick"].samples_us[:rounds] == before
    # Another one joins, and is measured beside those that are there.
    rounds = inspection.measurement.rounds
    measure(inspection, "quick", "aot")
    more = inspection.measurement.rounds - rounds
    assert more > 0
    assert inspection.measurement.id == first.id
    assert series_extents(inspection)["aot"] == (rounds, more)
    assert series_extents(inspection)["quick"] == (0, rounds + more)
    for name in ("eager", "quick", "aot"):
        timing = inspection.report.variant(name).timing
        assert timing == inspection.measurement.series[name].timing
        assert timing is not None
        assert len(timing.samples_us) == series_extents(inspection)[name][1]
    # One less is another measurement, and so is the same again when it is asked for.
    for restart, names in ((False, ["aot"]), (True, ["aot"])):
        last = inspection.measurement.id
        measure(inspection, *names, restart=restart)
        assert inspection.measurement.id != last
        assert list(series_extents(inspection)) == ["eager", "aot"]


def test_a_run_times_what_is_new_beside_what_is_built() -> None:
    _, inspection = inspected(variants=BOTH)
    inspection.run(["quick"], Monitor())
    with compiled_frames() as frames:
        inspection.run(["aot"], Monitor())
    assert frames == ["plain"], "only the new one is compiled"
    timings = [inspection.report.variant(name).timing for name in ("quick", "aot", "eager")]
    counts = {len(timing.samples_us) for timing in timings if timing is not None}
    assert len(counts) == 1, "all of the same rounds"
    # A long look is not lost to a short one.
    measure(inspection)
    long = inspection.report.variant("quick").timing
    inspection.run(["aot"], Monitor())
    assert inspection.report.variant("quick").timing is long


def test_a_build_whose_guards_fail_is_built_anew() -> None:
    net = subjects.Net().requires_grad_(False)
    _, inspection = inspected(net)
    measure(inspection)
    last = inspection.measurement.id
    net.eval()
    with compiled_frames() as frames:
        measure(inspection)
    assert frames
    assert inspection.measurement.id != last, "other code: samples do not mix"
    with compiled_frames() as frames:
        measure(inspection)
    assert frames == []


def test_torch_s_modes_are_those_of_the_inspection() -> None:
    net = subjects.Net().eval()
    with torch.no_grad():
        session, inspection = inspected(net, run=True)
    with compiled_frames() as frames:
        session.measure(inspection.report.subject.id, QUICK, seconds=0.05)
    assert frames == [], "grad mode is as it was then"
    assert torch.is_grad_enabled()
    with torch.no_grad():
        session.measure(inspection.report.subject.id, QUICK, seconds=0.05)
        assert not torch.is_grad_enabled()


def test_tensors_of_inference_mode_are_changed_in_place_by_later_measurements() -> None:
    """Outside inference mode, torch refuses to change such a tensor."""
    with torch.inference_mode():
        buffer = torch.ones(3, 4)
        session, inspection = inspected(lambda x: buffer.add_(x), (torch.ones(3, 4),))
    session.measure(inspection.report.subject.id, QUICK, seconds=0.05)
    assert not inspection.report.problems
    assert set(series_extents(inspection)) == {"eager", "quick"}
    assert not torch.is_inference_mode_enabled()
    assert torch.is_grad_enabled()


def test_a_function_that_got_other_code_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def again(x: torch.Tensor) -> torch.Tensor:
        return x.cos()

    def fn(x: torch.Tensor) -> torch.Tensor:
        return x.sin()

    _, inspection = inspected(fn)
    measure(inspection)
    # As IPython's autoreload does.
    fn.__code__ = again.__code__
    measure(inspection)
    assert fn.__code__ is again.__code__


def test_a_function_that_got_other_code_is_captured_with_it() -> None:
    def fn(x: torch.Tensor) -> torch.Tensor:
        return x.sin()

    def again(x: torch.Tensor) -> torch.Tensor:
        return x.cos()

    _, inspection = inspected(fn)
    _, other = inspected(fn)
    fn.__code__ = again.__code__
    static = {"static": cs.Variant(backend="eager", dynamic=False)}
    inspection.sources.capture(static, Monitor())
    inspection.sources.generate(static, Monitor())
    assert fn.__code__ is again.__code__
    (compilation,) = inspection.report.variant("static").compilations
    assert "cos" in compilation.graphs["dynamo"].text
    # A copy that another inspection runs is nobody's own code.
    with inspection._builds.code_copies.guarded():
        inspection._builds.code_copies.install(inspection._builds.code_copies.copy())
        other._builds.code_copies.renew()
    measure(other)
    assert fn.__code__ is again.__code__


def test_only_so_many_builds_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(built_variants, "MAX_BUILDS", 2)
    variants = {f"v{size}": cs.Variant(backend="eager", dynamic=size == 0) for size in range(2)}
    variants["v2"] = cs.Variant(backend="aot_eager")
    _, inspection = inspected(variants=variants)
    inspection.run(list(variants), Monitor())
    timed = [name for name in variants if inspection.report.variant(name).timing is not None]
    assert timed == ["v1", "v2"]
    assert inspection.report.variant("v0").absent["timing"].startswith("Only the latest")
    with compiled_frames() as frames:
        measure(inspection, "v1", "v2")
        assert frames == []
        measure(inspection, "v0", "v2")
    assert frames == ["plain"]
    assert "timing" not in inspection.report.variant("v0").absent


def test_where_compiled_callables_share_a_cache_each_build_wears_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As before torch 2.13."""
    for module in (compile_variant, built_variants, repeatable_state):
        monkeypatch.setattr(module, "ISOLATES", False)
    torch._dynamo.reset()
    mine = Mine()
    _, inspection = inspected(subjects.broken, (mine.x[0],), variants=BOTH)
    with mine.untouched():
        measure(inspection, *BOTH)
    assert inspection.measurement.state == "done", inspection.measurement.problem
    first = inspection.measurement.id
    with mine.untouched(), compiled_frames() as frames:
        measure(inspection, *BOTH)
    assert inspection.measurement.id == first
    # Compiled since by the user's own calls, and by nothing else.
    assert frames == []
    monkeypatch.setattr(built_variants, "MAX_BUILDS", 1)
    inspection.run(["aot"], Monitor())
    with compiled_frames() as frames:
        measure(inspection, "quick")
    assert frames[0] == "broken", "it had to go"
    torch._dynamo.reset()


@pytest.mark.parametrize("kind", ["broken", "module", "step", "compiled"])
def test_measuring_leaves_everything_as_it_was(kind: str) -> None:
    torch._dynamo.reset()
    mine = Mine()
    fn, args = {
        "broken": (subjects.broken, (mine.x[0],)),
        "module": (mine.net, (mine.x,)),
        "step": (mine.step, (mine.x, mine.y)),
        "compiled": (mine.compiled[0][0], (mine.x,)),
    }[kind]
    _, inspection = inspected(fn, args)
    for _ in range(2):
        with mine.untouched():
            measure(inspection)
        assert inspection.measurement.state == "done", inspection.measurement.problem
    torch._dynamo.reset()


def test_state_that_a_call_changes_is_put_back_before_every_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    net = torch.nn.BatchNorm1d(8)
    calls: list[int] = []
    restore = Snapshot.restore

    def counted(self: Snapshot) -> None:
        calls.append(int(net.num_batches_tracked))
        restore(self)

    monkeypatch.setattr(Snapshot, "restore", counted)
    _, inspection = inspected(net, run=True)
    for look in ("run", "measure"):
        if look == "measure":
            calls.clear()
            measure(inspection, seconds=0.3)
        timing = inspection.report.variant("quick").timing
        assert timing is not None
        assert timing.initial_state == "restored"
        assert "BatchNorm1d.running_mean" in timing.changes
    assert len(calls) > 2 * inspection.measurement.rounds
    # The first call, whose state each batch begins with; a call that is not timed; and the batch.
    assert {3, 2 + timing.calls_per_sample} <= set(calls)
    assert int(net.num_batches_tracked) == 0
    _, other = inspected()
    measure(other)
    timing = other.report.variant("quick").timing
    assert timing is not None
    assert (timing.initial_state, timing.changes) == ("unchanged", [])


def test_an_optimizer_s_step_is_compiled_for_its_later_steps_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    net = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    _, inspection = inspected(step, (torch.randn(2, 4),), run=True)
    measure(inspection, seconds=0.3)
    timing = inspection.report.variant("quick").timing
    assert timing is not None
    assert timing.initial_state == "restored"
    assert not [message for message in caplog.messages if "recompile_limit" in message]
    assert not optimizer.state


def test_the_python_face_measures_reports_of_this_kernel_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session, inspection = inspected()
    report = inspection.report
    assert requests.measure(session, report, seconds=0.05) is report
    assert report.variant("quick").timing is not None
    steps: list[str] = []
    monkeypatch.setattr("compilescope.builds.live_measurement.TICK_S", 0.0)
    requests.measure(
        session,
        report,
        variants=cs.Variant(backend="aot_eager"),
        seconds=0.5,
        progress=lambda now: steps.append(now.step),
    )
    assert report.variant("backend=aot_eager").timing is not None
    assert any(step.startswith("measuring: backend=aot_eager ") for step in steps)
    loaded = cs.Report(subject=report.subject)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"report": loaded}, "The call of this report is not in the kernel."),
        ({"variants": "rust"}, "There is no variant 'rust'."),
        ({"seconds": 0}, "seconds is 0."),
        ({"seconds": "1"}, "seconds is '1'."),
        ({"report": cs.measure}, "This is not a report but a function."),
    ]
    for options, what in wrong:
        with pytest.raises(cs.CompilescopeError, match=what):
            requests.measure(session, **{"report": report, **options})
    assert callable(cs.measure)


def test_how_variants_compare_is_said_in_words() -> None:
    def make(ratio: float, interval: tuple[float, float], differs: bool) -> Timing:
        timing = Timing(median_us=1.0, interval_us=(1.0, 1.0), ratio=ratio, differs=differs)
        timing.ratio_interval = interval
        return timing

    cpp, slow = make(1.38, (1.36, 1.4), True), make(0.5, (0.4, 0.8), True)
    assert compared(cpp) == "1.38\u00d7 faster than eager"
    assert compared(slow) == "2.00\u00d7 slower than eager"
    same = make(1.01, (0.99, 1.03), False)
    assert headline({"cpp": cpp, "python": same, "eager": Timing(median_us=1, interval_us=(1, 1))})
    assert headline({"cpp": cpp, "python": same}) == (
        "measuring: cpp 1.38\u00d7 faster than eager; python no difference from eager"
    )
    assert wording.speedup(same) == "no difference"


@pytest.mark.usefixtures("fresh_dynamo")
def test_measuring_only_what_cannot_be_built_is_an_error() -> None:
    def call(x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        return x + 1

    whole = {"whole": cs.Variant(backend="eager", fullgraph=True)}
    session, inspection = inspected(call, variants={**whole, **QUICK})
    report = inspection.report
    with pytest.raises(
        cs.CompilescopeError,
        match=r"Nothing was measured: whole could not be built\. Graph break with fullgraph=True",
    ) as raised:
        requests.measure(session, report, variants=["whole"], seconds=0.05)
    assert raised.value.problem.remedy.startswith("Remove the `torch._dynamo.graph_break()`")
    requests.measure(session, report, variants=["whole", "quick"], seconds=0.05)
    assert report.variant("quick").timing is not None
    assert report.variant("whole").timing is None
    (problem,) = report.variant("whole").problems
    assert problem.severity == "error"
