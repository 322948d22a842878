"""Parts of an analysis that fail alone."""

from __future__ import annotations

from compilescope.analysis.parts import PartFailures, Parts


def fail(compilation_id: str) -> None:
    with Parts(compilation_id).analyzing("kernels"):
        raise ValueError("no launch")


def test_failures_of_other_compilations_are_ignored_in_a_block_of_one_only() -> None:
    failures = PartFailures()
    with failures.collecting():
        with failures.collecting("0/0"):
            fail("0/0")
            fail("1/0")
        fail("2/0")
    (problem,) = failures.problems()
    assert problem.what == (
        "compilescope could not analyze the kernels of 0/0 and 1 more: ValueError: no launch"
    )
