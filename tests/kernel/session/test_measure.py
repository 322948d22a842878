"""Builds are kept and measured live: gone on with, paused, spoilt by the subject, and forgotten."""

from __future__ import annotations

import gc
import queue
import threading
import weakref
from collections.abc import Callable
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.builds import built_variants
from compilescope.builds.comparison import repeatable_state
from compilescope.builds.live_measurement import compared, headline
from compilescope.inspection.inspection import Inspection
from compilescope.isolation.user_state import Snapshot
from compilescope.progress.progress import Monitor
from compilescope.report import Timing
from compilescope.session import requests
from compilescope.session import subjects as session_subjects
from compilescope.session.session import Session
from compilescope.torch_api.dynamo import compile_variant
from compilescope.views import wording

from .. import subjects
from ..isolation.test_isolation import Mine, compiled_frames

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]

# Built by Dynamo alone: what is measured is not what these tests are about.
QUICK = {"quick": cs.Variant(backend="eager")}
BOTH = {**QUICK, "aot": cs.Variant(backend="aot_eager")}
X = torch.randn(4, 8)


def inspected(
    fn: Callable[..., Any] = subjects.plain, args: tuple[Any, ...] = (X,), **options: Any
) -> tuple[Session, Inspection]:
    session = Session()
    options = {"variants": QUICK, "run": False, **options}
    subject = session.inspect(fn, args, **options).subject.id
    inspection = session.inspection(subject)
    assert isinstance(inspection, Inspection)
    return session, inspection


def measure(inspection: Inspection, *names: str, seconds: float = 0.1, **options: Any) -> None:
    inspection.measure(names or ["quick"], Monitor(), seconds=seconds, **options)


def lengths(inspection: Inspection) -> dict[str, tuple[int, int]]:
    """By variant: the first round that it took part in, and how many."""
    series = inspection.measurement.series
    return {name: (measured.first, len(measured.samples_us)) for name, measured in series.items()}


def test_what_is_built_is_measured_beside_eager_and_gone_on_with() -> None:
    _, inspection = inspected(variants=BOTH)
    states: list[str] = []
    measure(inspection, on_news=lambda: states.append(inspection.measurement.state))
    first = inspection.measurement
    assert list(dict.fromkeys(states)) == ["building", "warming", "running", "done"]
    assert first.rounds > 0
    assert lengths(inspection) == {"eager": (0, first.rounds), "quick": (0, first.rounds)}
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
    assert lengths(inspection)["aot"] == (rounds, more)
    assert lengths(inspection)["quick"] == (0, rounds + more)
    for name in ("eager", "quick", "aot"):
        timing = inspection.report.variant(name).timing
        assert timing == inspection.measurement.series[name].timing
        assert timing is not None
        assert len(timing.samples_us) == lengths(inspection)[name][1]
    # One less is another measurement, and so is the same again when it is asked for.
    for again, names in ((False, ["aot"]), (True, ["aot"])):
        last = inspection.measurement.id
        measure(inspection, *names, again=again)
        assert inspection.measurement.id != last
        assert list(lengths(inspection)) == ["eager", "aot"]


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
    inspection.capture(static, Monitor())
    inspection.generate(static, Monitor())
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
    monkeypatch.setattr(built_variants, "MOST", 2)
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
    monkeypatch.setattr(built_variants, "MOST", 1)
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
        assert timing.keeping == "restored"
        assert "BatchNorm1d.running_mean" in timing.changes
    assert len(calls) > 2 * inspection.measurement.rounds
    # The first call, whose state each batch begins with; a call that is not timed; and the batch.
    assert {3, 2 + timing.calls_per_sample} <= set(calls)
    assert int(net.num_batches_tracked) == 0
    _, other = inspected()
    measure(other)
    timing = other.report.variant("quick").timing
    assert timing is not None
    assert (timing.keeping, timing.changes) == ("unchanged", [])


def test_an_optimiser_s_step_is_compiled_for_its_later_steps_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    net = torch.nn.Linear(4, 4)
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = net(x).square().mean()
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        return loss.detach()

    _, inspection = inspected(step, (torch.randn(2, 4),), run=True)
    measure(inspection, seconds=0.3)
    timing = inspection.report.variant("quick").timing
    assert timing is not None
    assert timing.keeping == "restored"
    assert not [message for message in caplog.messages if "recompile_limit" in message]
    assert not optimiser.state


class Failing:
    """A subject that works until it finds an error, which it raises once.

    Errors are in a queue, which is not put back with the subject's state.
    """

    def __init__(self) -> None:
        self.errors: queue.SimpleQueue[BaseException] = queue.SimpleQueue()
        self.weight = torch.ones(8)

    @torch.compiler.disable
    def look(self) -> None:
        if not self.errors.empty():
            raise self.errors.get()

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        self.look()
        self.weight += 1
        return x * self.weight

    def after_more_rounds(
        self, inspection: Inspection, error: BaseException
    ) -> Callable[..., None]:
        """To be told of the measurement: has the subject raise when there are more rounds."""
        waiting = {inspection.measurement.rounds: error}

        def report_call(*_: Any) -> None:
            if waiting and inspection.measurement.rounds > min(waiting):
                self.errors.put(waiting.popitem()[1])

        return report_call


def test_an_error_of_the_subject_ends_it_and_loses_no_sample() -> None:
    failing = Failing()
    session, inspection = inspected(failing)
    measure(inspection)
    rounds = inspection.measurement.rounds
    message = failing.after_more_rounds(inspection, RuntimeError("enough"))
    measure(inspection, seconds=60, on_news=message)
    standing = inspection.measurement
    assert standing.state == "paused"
    assert standing.rounds > rounds
    assert standing.problem is not None
    assert standing.problem.what == "The subject raised RuntimeError: enough"
    ended = f"Measuring ended early. {standing.problem.what}"
    assert ended in [problem.what for problem in inspection.report.problems]
    assert torch.equal(failing.weight, torch.ones(8))
    timing = inspection.report.variant("quick").timing
    assert timing is not None
    assert len(timing.samples_us) == standing.rounds
    # When the call works again, so does measuring.
    session.measure(inspection.report.subject.id, QUICK, seconds=0.1)
    assert inspection.measurement.state == "done"
    assert inspection.measurement.problem is None
    assert ended not in [problem.what for problem in inspection.report.problems]


def test_an_interrupt_keeps_samples_and_the_user_s_state() -> None:
    failing = Failing()
    session, inspection = inspected(failing)
    subject = inspection.report.subject.id
    measure(inspection)
    rounds = inspection.measurement.rounds
    session.observe(failing.after_more_rounds(inspection, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        session.measure(subject, QUICK, seconds=60)
    standing = inspection.measurement
    paused = standing.rounds
    assert (standing.state, standing.problem) == ("paused", None)
    assert {len(measured.samples_us) for measured in standing.series.values()} == {paused}
    assert paused > rounds
    assert torch.equal(failing.weight, torch.ones(8))
    assert session.jobs.current is None
    session.measure(subject, QUICK, seconds=0.1)
    assert inspection.measurement.id == standing.id
    assert inspection.measurement.rounds > paused


def test_a_cancelled_measurement_is_paused_and_gone_on_with() -> None:
    session, inspection = inspected()
    subject = inspection.report.subject.id
    job = session.panel_jobs.measure(subject, ["quick"], seconds=60, again=False)
    assert session.measurement(subject).state == "none", "it waits for the main thread"
    done: list[int] = []

    def cancel(kind: str, *_: Any) -> None:
        if kind == "measured" and inspection.measurement.rounds > 20 and not done:
            done.append(inspection.measurement.rounds)
            thread = threading.Thread(target=session.jobs.cancel, args=(job.id,))
            thread.start()
            thread.join()

    session.observe(cancel)
    session.panel_jobs.run_pending()
    assert (job.state, job.work.kind) == ("cancelled", "measure")
    paused = inspection.measurement
    assert paused.state == "paused"
    assert paused.rounds <= done[0] + 1, "it ends at the next round"
    assert inspection.report.variant("quick").timing is not None
    rounds = paused.rounds
    session.panel_jobs.measure(subject, [], seconds=0.1, again=False)
    session.panel_jobs.run_pending()
    assert inspection.measurement.id == paused.id
    assert inspection.measurement.rounds > rounds
    assert inspection.measurement.state == "done"


def test_of_two_that_are_asked_for_the_later_one_goes_on() -> None:
    session, inspection = inspected(variants=BOTH)
    subject = inspection.report.subject.id
    first = session.panel_jobs.measure(subject, ["quick"], seconds=60, again=False)
    assert session.panel_jobs.measure(subject, ["quick"], seconds=60, again=False) is first
    second: list[Any] = []

    def ask(kind: str, *_: Any) -> None:
        if kind == "measured" and inspection.measurement.rounds > 5 and not second:
            second.append(
                session.panel_jobs.measure(subject, ["quick", "aot"], seconds=0.1, again=False)
            )

    session.observe(ask)
    session.panel_jobs.run_pending()
    assert (first.state, second[0].state) == ("cancelled", "done")
    counts = lengths(inspection)
    assert counts["quick"][1] > counts["aot"][1] > 0
    assert counts["aot"][0] + counts["aot"][1] == counts["quick"][1]


def test_a_subject_that_is_forgotten_meanwhile_lets_go_of_everything() -> None:
    net, x = subjects.Net(), torch.randn(4, 8)
    session, inspection = inspected(net, (x,))
    subject = inspection.report.subject.id
    job = session.panel_jobs.measure(subject, ["quick"], seconds=60, again=False)

    def forget(kind: str, *_: Any) -> None:
        known = session.inspections.get(subject)
        if kind == "measured" and isinstance(known, Inspection) and known.measurement.rounds > 5:
            session.forget(subject)

    session.observe(forget)
    references = [weakref.ref(target) for target in (net, x, net.inner.weight, inspection)]
    del net, x, inspection
    session.panel_jobs.run_pending()
    assert job.state == "cancelled"
    gc.collect()
    assert [reference() for reference in references] == [None] * 4


class Product(torch.nn.Module):
    """As `subjects.product`, whose C++ it shares."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(8, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x @ self.weight).sin()


def test_what_is_built_goes_with_a_subject_that_is_forgotten() -> None:
    net, x = Product(), torch.randn(4, 8, requires_grad=True)
    session, inspection = inspected(net, (x,), run=True, variants="python")
    references = [weakref.ref(target) for target in (net, x, net.weight)]
    subject = inspection.report.subject.id
    del net, x, inspection
    session.forget(subject)
    gc.collect()
    assert [reference() for reference in references] == [None] * 3


def test_only_the_latest_subjects_keep_what_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_subjects, "BUILT", 1)
    session, first = inspected(run=True)
    second = session.inspect(subjects.plain, (X[:2],), variants=QUICK).subject.id
    with compiled_frames() as frames:
        session.measure(second, QUICK, seconds=0.05)
        assert frames == []
        session.measure(first.report.subject.id, QUICK, seconds=0.05)
    assert frames == ["plain"]


def test_a_measurement_keeps_no_state_and_no_build(monkeypatch: pytest.MonkeyPatch) -> None:
    restored: weakref.WeakSet[Snapshot] = weakref.WeakSet()
    restore = Snapshot.restore
    monkeypatch.setattr(Snapshot, "restore", lambda self: restored.add(self) or restore(self))
    _, inspection = inspected(torch.nn.BatchNorm1d(8))
    measure(inspection)
    compiled = weakref.ref(inspection._builds.build("quick").compiled)
    gc.collect()
    assert not restored
    inspection.release()
    gc.collect()
    assert compiled() is None


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
