"""What each step of a wrapper costs: real wrappers, forward and backward, with marks in them."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import compilescope as cs
import pytest
import torch
from compilescope.measure import steps as timed_steps
from compilescope.measure.steps import Round, step_times
from compilescope.progress.progress import Monitor
from compilescope.report import Compilation, Report, Step, Steps, VariantReport
from compilescope.studies import steps as study_steps
from compilescope.studies.step_marks import CALIBRATING, MarkedText, marked
from compilescope.torch_api.inductor.wrappers import marked_wrappers
from torch._inductor.codecache import CppPythonBindingsCodeCache

from ..studying import study, unbuilt
from ..subjects import product

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]

TEXTS = Path(__file__).parents[2] / "data" / "targets"
VARIANTS = {"python": cs.Variant(), "cpp": cs.Variant(cpp_wrapper=True)}


@pytest.fixture(scope="module")
def report(one_thread: None) -> Report:
    """A step of training, both wrappers measured."""
    call = product()
    before = vars(CppPythonBindingsCodeCache)["load_pybinding"]
    report = unbuilt(call.fn, call.args, VARIANTS)
    for variant in report.variants:
        study("steps", call.fn, call.args, variant)
    assert [x.grad for x in call.args] == [None]
    assert vars(CppPythonBindingsCodeCache)["load_pybinding"] is before
    assert not marked_wrappers._marks
    return report


@pytest.fixture(scope="module")
def measured(report: Report) -> dict[str, VariantReport]:
    return {variant.name: variant for variant in report.variants}


@pytest.mark.parametrize("name", list(VARIANTS))
def test_each_step_of_forward_and_backward_is_measured(
    name: str, measured: dict[str, VariantReport]
) -> None:
    variant = measured[name]
    assert "steps" not in variant.absent
    (compilation,) = variant.compilations
    assert [(step.artifact, step.direction) for step in compilation.steps] == [
        (name, "forward"),
        (name, "backward"),
    ]
    for item in compilation.steps:
        assert item.whole_us is not None
        assert item.sum_us is not None
        assert item.sum_us == pytest.approx(sum(step.us or 0.0 for step in item.steps))
        # How nearly they meet depends on what runs beside them; `agrees` tells.
        assert item.whole_us > 0
        assert item.agrees == (abs(item.sum_us - item.whole_us) <= 0.1 * item.whole_us)
        assert item.agrees or "add up" in item.why
        for step in item.steps:
            assert step.us is not None
            assert step.interval_us is not None
            assert step.interval_us[0] <= step.us <= step.interval_us[1]
            assert "clock is read" in step.how
        kinds = {step.kind for step in item.steps}
        assert kinds >= {"entry", "allocation", "launch", "call", "return"}
        # The C++ wrapper of torch 2.11 checks no sizes.
        assert "check" in kinds or (name == "cpp" and torch.__version__.startswith("2.11."))
        assert any(step.us for step in item.steps if step.kind == "call")


def test_the_way_into_c_plus_plus_is_part_of_its_first_and_last_step(
    measured: dict[str, VariantReport],
) -> None:
    for step in measured["cpp"].compilations[0].steps:
        assert "handles" in step.steps[0].how
        assert "handles" in step.steps[-1].how
    for step in measured["python"].compilations[0].steps:
        assert "handles" not in step.steps[0].how


def test_text_and_html_tell_what_each_kind_costs(report: Report) -> None:
    for shown in (str(report), report._repr_html_()):
        assert "0/0 forward: what the wrapper" in shown
        assert "0/0 backward: what the wrapper" in shown
        assert "input checks" in shown
        assert "the inputs become" in shown


def test_times_of_an_earlier_look_do_not_stay() -> None:
    timed = Step(kind="launch", start=1, end=1, us=2.0, interval_us=(1.0, 3.0), how="measured")
    steps = Steps(artifact="python", steps=[timed], whole_us=3.0, sum_us=2.0, agrees=False)
    report = VariantReport(name="v", requested=cs.Variant())
    report.compilations = [Compilation(id="0/0", steps=[steps])]
    given: Any = SimpleNamespace(report=report, monitor=Monitor())
    built: Any = SimpleNamespace(compilations=[])
    study_steps._measure(given, built, [], {})
    assert (timed.us, timed.interval_us, timed.how) == (None, None, "")
    assert (steps.whole_us, steps.sum_us, steps.why) == (None, None, study_steps.NOT_RUN)


def test_other_back_ends_have_no_steps() -> None:
    report = VariantReport(name="v", requested=cs.Variant(backend="aot_eager"), stage="built")
    study("steps", torch.sin, (torch.randn(2),), report)
    assert "aot_eager" in report.absent["steps"]


@pytest.mark.parametrize("path", sorted(TEXTS.glob("*.txt")), ids=lambda path: path.stem)
def test_marks_stand_between_statements(path: Path) -> None:
    """The text is the same but for its marks; Python still reads it."""
    _, *sections = path.read_text(encoding="utf-8").split("\n=== ")
    for section in sections:
        title, _, text = section.partition("\n")
        if not title.endswith((" python", " cpp")):
            continue  # a kernel's
        if path.stem.endswith("python"):
            marked = checked(text, "python", "_compilescope_")
            ast.parse(marked.text)
        else:
            marked = checked(text, "cpp", "compilescope_mark(")
            assert marked.text.count(marked_wrappers.CPP_HEAD.format(count=len(marked.slots))) == 1


def checked(text: str, artifact: Literal["python", "cpp"], mark: str) -> MarkedText:
    result = marked(text, artifact)
    assert result is not None
    assert result.slots.count(None) == CALIBRATING - 1
    assert {place for place in result.slots if place is not None} == set(range(len(result.steps)))
    head = marked_wrappers.CPP_HEAD.format(count=len(result.slots))
    rest = result.text.replace(f"{head}\n", "")
    assert [line for line in rest.split("\n") if mark not in line] == text.split("\n")
    return result


def test_a_with_block_s_end_belongs_to_the_step_that_opens_it() -> None:
    text = "\n".join(
        [
            "def call(args):",
            "    x, = args",
            "    args.clear()",
            "    with torch.cuda._DeviceGuard(0):",
            "        torch.cuda.set_device(0)",
            "        buf0 = empty_strided_cuda((4, ), (1, ), torch.float32)",
            "    return (buf0, )",
        ]
    )
    result = marked(text, "python")
    assert result is not None
    kinds = [result.steps[place].kind for place in result.slots if place is not None]
    assert kinds == ["entry", "stream", "stream", "allocation", "return"]
    lines = result.text.split("\n")
    assert lines[-3].startswith("        _compilescope_slots[5]")
    assert lines[-2].startswith("    _compilescope_slots[7]")


def test_what_a_mark_costs_is_taken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two marks tell the cost, 10 ns; then two steps; the third is not reached."""
    monkeypatch.setattr(timed_steps, "_clock_ns", lambda: 30.0)
    places = [None, 0, 1, 2]

    def make_item(begin: int, more: int) -> Round:
        slots = [begin + 100, begin + 110, begin + 1120 + more, 0]
        return Round(begin, begin + 2130 + more, slots, plain=2100 + more)

    rounds = [make_item(1000 + 10_000 * n, more) for n, more in enumerate((0, 0, 500))]
    nothing = Round(5, 6, [0, 0, 0, 0], plain=1)
    result = step_times([nothing, *rounds, nothing], places)
    assert result.mark_ns == 10
    assert set(result.steps) == {0, 1}
    assert result.rounds == 3
    # 100 ns before the first mark belong to the first step. To them and to the end belongs half of
    # what a mark and the clock cost.
    assert result.steps[0].us == pytest.approx(1.01 - 0.01 + 0.1 - 0.02)
    assert result.steps[1].us == pytest.approx(1.01 - 0.02)
    assert result.whole.us == pytest.approx(2.1 - 0.03)
    with pytest.raises(ValueError, match="no step"):
        step_times([Round(5, 6, [0, 0], plain=1)], [None, 0])
