"""Compile budgets: the context manager, and the pytest plugin in a run of its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
import torch._dynamo.config
from compilescope.budgets.budget import Excess
from compilescope.budgets.pytest_plugin import file_name

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def broken(x: torch.Tensor) -> torch.Tensor:
    x = x + 1
    torch._dynamo.graph_break()
    return x * 2


def scaled(x: torch.Tensor, n: int) -> torch.Tensor:
    return x * n


def test_a_block_within_its_budget_passes() -> None:
    compiled = torch.compile(broken, backend="eager")
    with cs.budget(recompiles=0, graph_breaks=1, compilations=2, guards=1000) as report:
        compiled(torch.ones(3))
    assert len(report.compilations) == 2


def test_every_exceeded_limit_is_named_with_its_place(tmp_path: Path) -> None:
    compiled = torch.compile(broken, backend="eager", dynamic=False)
    page = tmp_path / "pages" / "budget.html"

    def run() -> None:
        with cs.budget(recompiles=0, graph_breaks=0, compilations=10, page=page):
            compiled(torch.ones(3))
            compiled(torch.ones(4))

    with pytest.raises(cs.BudgetError) as raised:
        run()
    assert [excess.figure for excess in raised.value.excesses] == ["recompiles", "graph_breaks"]
    text = str(raised.value)
    assert text.startswith("2 compile budgets exceeded\n")
    assert "recompiles: 2, budget 0 (2 over)" in text
    line = broken.__code__.co_firstlineno
    assert re.search(rf"{re.escape(__file__)}:{line} in broken: x\.size\(0\): 3 → 4", text)
    assert f"{__file__}:{line + 2}" in text
    assert page.read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("value", "limit", "text"),
    [
        (1_200_000, 100, "1200000, budget 100 (1199900 over)"),
        (61.25, 60.0, "61.25, budget 60.00 (1.25 over)"),
        (0.004, 0.001, "0.004, budget 0.001 (0.003 over)"),
    ],
)
def test_an_excess_shows_its_numbers(value: float, limit: float, text: str) -> None:
    assert str(Excess("compile_seconds", value, limit)) == f"compile_seconds: {text}"


def test_a_page_that_cannot_be_written_hides_no_limit(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    def run() -> None:
        with cs.budget(graph_breaks=0, page=tmp_path / "file" / "budget.html"):
            torch.compile(broken, backend="eager")(torch.ones(3))

    with pytest.raises(cs.BudgetError) as raised:
        run()
    lines = str(raised.value).splitlines()
    assert lines[1] == "graph_breaks: 1, budget 0 (1 over)"
    assert lines[-1].startswith("The report could not be written: ")
    assert raised.value.page is None


def test_what_an_earlier_run_reported_goes_with_the_next(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import os
        import pytest
        import torch

        RUN = os.environ["RUN"]

        @pytest.fixture
        def unstable():
            assert RUN != "broken"

        def compile_one():
            torch._dynamo.reset()
            torch.compile(lambda x: x + 1, backend="eager")(torch.ones(3))

        @pytest.mark.compilescope(compilations=0)
        def test_counted(unstable):
            if RUN == "first":
                compile_one()

        @pytest.mark.compilescope(compilations=0)
        @pytest.mark.skipif(RUN == "broken", reason="broken")
        def test_skipped():
            compile_one()
        """
    )

    def left(run: str) -> list[str]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RUN", run)
            pytester.runpytest_inprocess("--compilescope-report=reports")
        names = (path.name for path in (pytester.path / "reports").iterdir())
        return sorted(name.partition(".py-test_")[2] for name in names)

    counted, skipped = "counted.compilescope.json", "skipped.compilescope.json"
    assert left("first") == [counted, "counted.html", skipped, "skipped.html"]
    assert left("second") == [counted, skipped, "skipped.html"]
    assert left("broken") == []


def test_a_recompile_is_named_by_the_value_that_changed() -> None:
    compiled = torch.compile(scaled, backend="eager")

    def run() -> None:
        with cs.budget(recompiles=0):
            compiled(torch.ones(3), 2)
            compiled(torch.ones(3), 3)

    with pytest.raises(cs.BudgetError, match=r"n: 2 → 3$"):
        run()


def test_a_call_beyond_the_recompile_limit_counts() -> None:
    compiled = torch.compile(scaled, backend="eager", dynamic=False)

    def run() -> None:
        with torch._dynamo.config.patch(recompile_limit=2), cs.budget(recompiles=1):
            for n in range(2, 5):
                compiled(torch.ones(3), n)

    with pytest.raises(cs.BudgetError, match=r"recompiles: 2, budget 1 \(1 over\)"):
        run()


def refuses(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., Any]:
    raise RuntimeError("boom")


def run_in_eager(**limits: int | None) -> None:
    """A compilation that fails, with ``suppress_errors``: torch raises nothing."""
    with torch._dynamo.config.patch(suppress_errors=True), cs.budget(**limits):
        torch.compile(scaled, backend=refuses)(torch.ones(3), 2)


def test_a_failure_that_torch_hides_exceeds_any_budget() -> None:
    line = scaled.__code__.co_firstlineno
    with pytest.raises(cs.BudgetError) as raised:
        run_in_eager(recompiles=0, graph_breaks=0)
    assert str(raised.value) == (
        "1 compile budget exceeded\n"
        "eager_fallbacks: 1, budget 0 (1 over)\n"
        f"  {__file__}:{line} in scaled: 0/0 fell back to eager: "
        "backend='refuses' raised: RuntimeError: boom"
    )


@pytest.mark.parametrize("limit", [1, None])
def test_a_failure_that_torch_hides_may_be_allowed(limit: int | None) -> None:
    run_in_eager(recompiles=0, eager_fallbacks=limit)


def test_a_failure_that_the_code_catches_is_in_the_report() -> None:
    with cs.budget(recompiles=0) as report, pytest.raises(RuntimeError, match="boom"):
        torch.compile(scaled, backend=refuses)(torch.ones(3), 2)
    assert [compilation.outcome for compilation in report.compilations] == ["failed"]


def test_a_frame_that_a_graph_break_leaves_to_eager_counts_as_a_graph_break() -> None:
    def looped(x: torch.Tensor) -> torch.Tensor:
        for _ in range(2):
            torch._dynamo.graph_break()
        return x + 1

    with cs.budget(graph_breaks=1) as report:
        torch.compile(looped, backend="eager")(torch.ones(3))
    assert "eager" in [compilation.outcome for compilation in report.compilations]


def test_what_was_compiled_before_does_not_count() -> None:
    compiled = torch.compile(broken, backend="eager")
    compiled(torch.ones(3))
    with cs.budget(compilations=0):
        compiled(torch.ones(3))


def test_an_error_in_the_block_is_not_replaced() -> None:
    def run() -> None:
        with cs.budget(compilations=0):
            torch.compile(broken, backend="eager")(torch.ones(3))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run()


@pytest.mark.parametrize("limit", [-1, float("nan"), "3", True, 1.5])
def test_a_limit_is_a_whole_number_of_zero_or_more(limit: object) -> None:
    budget = cs.budget(recompiles=limit)  # type: ignore[arg-type]
    with pytest.raises(cs.CompilescopeError, match="is not a whole number of zero or more"):
        budget.__enter__()
    with cs.budget(compile_seconds=1.5):
        pass


def test_a_budget_is_of_one_block_and_as_a_decorator_of_each_call() -> None:
    budget = cs.budget(compilations=0)
    with budget:
        pass
    with pytest.raises(cs.CompilescopeError, match="This budget was entered before"), budget:
        pass
    called = []

    @cs.budget(compilations=0)
    def call() -> None:
        called.append(1)

    call()
    call()
    assert len(called) == 2


def test_a_page_of_another_kind_is_refused_before_the_block() -> None:
    with pytest.raises(cs.CompilescopeError, match=r"cannot be saved as 'page.txt'"):
        cs.budget(recompiles=0, page="page.txt").__enter__()


def test_the_plugin_fails_marked_tests_alone_and_keeps_their_reports(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        """
        import pytest
        import torch

        def fn(x):
            return x + 1

        def compile_twice():
            compiled = torch.compile(fn, backend="eager", dynamic=False)
            compiled(torch.ones(3))
            compiled(torch.ones(4))

        @pytest.mark.compilescope(recompiles=0)
        def test_over():
            compile_twice()

        @pytest.mark.compilescope(recompiles=1, kernels=0)
        def test_within():
            torch._dynamo.reset()
            compile_twice()

        @pytest.mark.compilescope(recompiles=1)
        def test_failing():
            torch._dynamo.reset()
            compile_twice()
            assert not "a failure of the test's own"

        def test_unmarked():
            compile_twice()

        @pytest.mark.compilescope(recompile=0)
        def test_misspelt():
            pass
        """
    )
    # The package's entry point has pytest load the plugin.
    result = pytester.runpytest_inprocess("--strict-markers", "--compilescope-report=reports")
    result.assert_outcomes(passed=2, failed=3)
    result.stdout.fnmatch_lines(
        ["*1 compile budget exceeded", "*recompiles: 1, budget 0 (1 over)", "*x.size(0): 3 → 4*"]
    )
    result.stdout.no_fnmatch_line("*raise BudgetError*")
    result.stdout.fnmatch_lines(
        ["@pytest.mark.compilescope has no limit recompile, but *recompiles, *."]
    )
    # torch's own events are no log of the test's.
    result.stdout.no_fnmatch_line("*torch.__trace*")
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")
    names = sorted(path.name for path in (pytester.path / "reports").iterdir())
    name = "test_the_plugin_fails_marked_tests_alone_and_keeps_their_reports.py-test_"
    assert names == [
        f"{name}failing.compilescope.json",
        f"{name}over.compilescope.json",
        f"{name}over.html",
        f"{name}within.compilescope.json",
    ]
    assert cs.load(pytester.path / "reports" / f"{name}over.compilescope.json").compilations


def test_marks_add_up_and_the_closest_wins_for_each_limit(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        import torch

        pytestmark = pytest.mark.compilescope(recompiles=0)

        def broken(x):
            torch._dynamo.graph_break()
            return x + 1

        def compile_twice():
            torch._dynamo.reset()
            compiled = torch.compile(broken, backend="eager", dynamic=False)
            compiled(torch.ones(3))
            compiled(torch.ones(4))

        @pytest.mark.compilescope(graph_breaks=0)
        class TestClass:
            @pytest.mark.compilescope(compilations=0)
            def test_all(self):
                compile_twice()

            @pytest.mark.compilescope(recompiles=2)
            @pytest.mark.compilescope(graph_breaks=1)
            def test_closest(self):
                compile_twice()

            @pytest.mark.compilescope(recompiles=None, graph_breaks=None)
            def test_without_limits(self):
                compile_twice()

            @pytest.mark.compilescope(recompile=0)
            def test_misspelt(self):
                pass
        """
    )
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(
        ["*3 compile budgets exceeded", "*has no limit recompile, but *recompiles, *."]
    )
    for figure in ("compilations", "recompiles", "graph_breaks"):
        result.stdout.fnmatch_lines([f"*{figure}: *, budget 0 *"])


def test_reports_of_tests_with_similar_names_have_files_of_their_own() -> None:
    assert file_name("tests/test_a.py::test_two[a-b]") == "tests-test_a.py-test_two-a-b-"
    long = "tests/test_a.py::test_two[" + 300 * "\u00e4"
    ids = [f"tests/test_a.py::test_two[{value}]" for value in ("a b", "a-b", "a/b", "a::b", "a+b")]
    names = {file_name(node_id) for node_id in (*ids, f"{long}1]", f"{long}2]")}
    assert len(names) == 7
    assert max(len(f"{name}.compilescope.json".encode()) for name in names) <= 255
