"""An analysis of one part that fails leaves the rest of the report as it is."""

from __future__ import annotations

import compilescope as cs
import pytest
import torch
from compilescope.analysis import assemble
from compilescope.analysis.parts import Parts


def fail(*_: object) -> None:
    raise KeyError("out_ptr1")


@pytest.mark.slow
@pytest.mark.parametrize("run", [False, True])
def test_a_part_that_fails_leaves_the_rest(run: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assemble, "find_memory", fail)
    report = cs.inspect(torch.nn.Softmax(-1), (torch.randn(4, 4),), run=run)
    for name in ("python", "cpp"):
        variant = report.variant(name)
        assert variant.stage == ("built" if run else "sources")
        (compilation,) = variant.compilations
        assert compilation.kernels
        assert compilation.guards
        assert compilation.steps
        assert not compilation.memory
        what = "compilescope could not analyze the memory of 0/0: KeyError: 'out_ptr1'"
        assert compilation.absent["memory"] == what
        [problem] = variant.problems
        assert (problem.severity, problem.what) == ("warning", what)
        assert "bug in compilescope" in problem.why
        assert "in fail" in problem.detail


def test_without_anyone_to_tell_the_error_is_raised() -> None:
    with pytest.raises(KeyError, match="out_ptr1"), Parts("0/0").analyzing("memory"):
        fail()
