"""Every back end that torch has registered: inspected, and what it cannot do said in words."""

from __future__ import annotations

import compilescope as cs
import pytest
import torch
from compilescope.report import Report, VariantReport
from compilescope.session.session import get_session
from compilescope.views.html import report as html
from compilescope.views.text import report as text
from torch._dynamo.backends.registry import list_backends

OTHERS = [name for name in list_backends(exclude_tags=()) if name != "inductor"]


def subject(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return torch.relu(x @ weight).sum(-1)


@pytest.fixture(scope="module")
def report() -> Report:
    return cs.inspect(
        subject,
        (torch.randn(8, 8), torch.randn(8, 8)),
        variants=[cs.Variant(), *(cs.Variant(backend=name) for name in OTHERS)],
    )


def of(report: Report, backend: str) -> VariantReport:
    return report.variant(f"backend={backend}")


def test_all_are_offered_or_torchs_own_tests() -> None:
    offered = set(get_session().choices().backends)
    left_out = set(OTHERS) - offered
    assert all("TESTING" in name or "minifier" in name for name in left_out)


@pytest.mark.parametrize("name", OTHERS)
def test_a_back_end_is_inspected(report: Report, name: str) -> None:
    variant = of(report, name)
    assert "graphs" in variant.compilations[0].__struct_fields__
    assert variant.compilations[0].graphs.keys() >= {"dynamo"}
    assert variant.compilations[0].absent["code"].startswith(f"The backend '{name}' generates no")
    errors = [one for one in variant.problems if one.severity == "error"]
    assert (variant.stage == "failed") <= bool(errors)
    for problem in errors:
        assert "Traceback" not in problem.what + problem.why
        assert "compilescope failed" not in problem.what
        assert problem.remedy
    changes = variant.changes
    assert changes is not None
    assert changes.baseline == "python"
    assert "the kernels" in changes.only_inductor
    assert f"the back end {name} generates no kernels" in changes.summary


def test_what_does_not_work_by_name_says_why(report: Report) -> None:
    for name, told in {
        "openxla": "needs a package that is not installed",
        "tvm": "needs a package that is not installed",
        "dynamo_minifier_backend": "cannot be chosen by its name alone",
    }.items():
        if name in OTHERS and (problems := of(report, name).problems):
            assert told in problems[0].what


def test_those_that_work_are_built(report: Report) -> None:
    for name in ("eager", "aot_eager"):
        assert of(report, name).stage == "built"
        assert all(error.ok for error in of(report, name).accuracy)


def test_the_static_views_name_what_is_inductors(report: Report) -> None:
    for shown in (text.render(report), html.render(report)):
        assert "Inductor only" in shown
