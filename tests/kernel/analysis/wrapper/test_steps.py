"""Each line of a wrapper belongs to a step, and the two wrappers' steps find each other."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Literal

import pytest
from compilescope.analysis.assemble import assemble
from compilescope.analysis.wrapper.launch_pairs import pair
from compilescope.analysis.wrapper.launches import codes_of
from compilescope.analysis.wrapper.regions import scan, to_regions
from compilescope.analysis.wrapper.step_kinds import kind_of
from compilescope.analysis.wrapper.steps import find_steps, steps_of
from compilescope.capture.parse_log import read
from compilescope.report import Compilation, Region, Step, Steps

CASES = ["breaks", "fallbacks", "mlp", "recompiles", "training"]
DATA = Path(__file__).parents[3] / "data"
TRACES = sorted(path.name for path in DATA.glob("traces/h200-*.log.gz"))
TARGETS = sorted(path.name for path in DATA.glob("targets/*.txt"))


def code_lines(text: str, artifact: Literal["python", "cpp"], entry: Region) -> list[int]:
    """The lines of a wrapper's function that are neither blank nor comments."""
    marker = {"python": "#", "cpp": "//"}[artifact]
    lines = text.split("\n")
    return [
        number
        for number in range(entry.start, entry.end + 1)
        if (stripped := lines[number - 1].strip()) and not stripped.startswith(marker)
    ]


def counted(
    text: str, artifact: Literal["python", "cpp"], regions: list[Region], steps: list[Step]
) -> Counter[str]:
    """How many lines of code a wrapper has, in steps, and in steps of which nothing is known."""
    place = {
        line: f"{step.kind} {step.label}"
        for step in steps
        for line in range(step.start, step.end + 1)
    }
    lines = [
        place.get(line, "")
        for region in regions
        if region.kind == "entry"
        for line in code_lines(text, artifact, region)
    ]
    return Counter(
        all=len(lines), steps=sum(line != "" for line in lines), other=lines.count("other ")
    )


def count_all(compilations: list[Compilation], artifact: Literal["python", "cpp"]) -> Counter[str]:
    total: Counter[str] = Counter()
    for compilation in compilations:
        codes = [code for code in codes_of(compilation) if getattr(code, artifact) is not None]
        for code, steps in zip(codes, compilation.steps, strict=True):
            text = getattr(code, artifact)
            total += counted(text, artifact, code.regions[artifact], steps.steps)
    return total


def check(total: Counter[str]) -> None:
    assert total["all"] > 10
    assert total["steps"] == total["all"]
    assert total["other"] <= 0.05 * total["all"]


@pytest.mark.parametrize("artifact", ["python", "cpp"])
@pytest.mark.parametrize("case", CASES)
def test_each_line_belongs_to_a_step(case, artifact, compiled):
    check(count_all(compiled(case, artifact), artifact))


@pytest.mark.parametrize("name", TRACES)
def test_each_line_of_an_earlier_torch_s_wrapper_for_a_gpu(name):
    artifact: Literal["python", "cpp"] = "cpp" if "_cpp" in name else "python"
    compilations = assemble(read(DATA / "traces" / name).records, variant=artifact)
    check(count_all(compilations, artifact))


@pytest.mark.parametrize("name", TARGETS)
def test_each_line_of_a_target_s_wrapper(name):
    artifact: Literal["python", "cpp"] = "cpp" if "-cpp" in name else "python"
    text = (DATA / "targets" / name).read_text(encoding="utf-8")
    regions = to_regions(scan(text, artifact), "inference")
    check(counted(text, artifact, regions, steps_of(text, artifact, regions)))


def by_direction(result: list[Compilation]) -> dict[tuple[str, str], Steps]:
    return {
        (compilation.id, steps.direction): steps
        for compilation in result
        for steps in compilation.steps
    }


@pytest.mark.parametrize("case", CASES)
def test_launches_and_allocations_have_their_partners_keys(case, compiled):
    left, right = compiled(case, "python"), compiled(case, "cpp")
    for python, cpp in zip(left, right, strict=True):
        pair(python, cpp)
    ours, theirs = by_direction(left), by_direction(right)
    assert ours.keys() == theirs.keys()
    for place, python_steps in ours.items():
        cpp_steps = theirs[place]
        assert (python_steps.artifact, cpp_steps.artifact) == ("python", "cpp")
        keys = [[step.key for step in wrapper.steps] for wrapper in (python_steps, cpp_steps)]
        for own in keys:
            assert len(own) == len(set(own))
        launches = [
            {step.key for step in wrapper.steps if step.kernel}
            for wrapper in (python_steps, cpp_steps)
        ]
        assert launches[0] == launches[1]
        assert {step.key for step in python_steps.steps if step.kind == "free"} & set(keys[1]) or (
            not any(step.kind == "free" for step in python_steps.steps)
        )


def test_forward_and_backward_lead_to_the_same_source_lines(compiled):
    """Of both wrappers, in both directions, each launch says which of the user's lines it is of."""
    left, right = compiled("training", "python"), compiled("training", "cpp")
    for python, cpp in zip(left, right, strict=True):
        pair(python, cpp)
    ours, theirs = by_direction(left), by_direction(right)
    assert {direction for _, direction in ours} == {"forward", "backward"}
    for place, steps in ours.items():
        lines = {
            step.key: [line.line for line in step.sources] for step in steps.steps if step.kernel
        }
        others = {
            step.key: [line.line for line in step.sources]
            for step in theirs[place].steps
            if step.kernel
        }
        assert lines == others
        # torch names no line for what it adds itself.
        assert sum(map(bool, lines.values())) >= 0.8 * len(lines)
    forward, backward = (
        {
            line.line
            for (_, named), steps in ours.items()
            for step in steps.steps
            for line in step.sources
            if named == direction
        }
        for direction in ("forward", "backward")
    )
    assert forward & backward


def test_times_stay_while_the_steps_are_the_same(compiled):
    (result,) = compiled("mlp", "cpp")
    result.steps[0].steps[0].us = 1.5
    result.steps[0].whole_us = 20.0
    result.steps = find_steps(result)
    assert (result.steps[0].steps[0].us, result.steps[0].whole_us) == (1.5, 20.0)
    result.code.cpp = (result.code.cpp or "").replace("inputs = ", "\n    inputs = ", 1)
    result.code.regions["cpp"] = to_regions(scan(result.code.cpp, "cpp"), "inference")
    result.steps = find_steps(result)
    assert (result.steps[0].steps[0].us, result.steps[0].whole_us) == (None, None)


@pytest.mark.parametrize(
    ("python", "cpp", "kind"),
    [
        ("s77 = arg0_1", "int64_t s77 = arg0_1;", "constant"),
        ("s77 = arg1_1.size(0)", "auto s77 = arg1_1.size(0);", "constant"),
        ("buf3 = buf1; del buf1  # reuse", "auto buf3 = std::move(buf1);  // reuse", "allocation"),
        ("buf3 = buf1", "auto buf3 = buf1;", "view"),
    ],
)
def test_a_statement_has_one_kind_in_both_wrappers(python, cpp, kind):
    assert (kind_of(python, "python"), kind_of(cpp, "cpp")) == (kind, kind)
