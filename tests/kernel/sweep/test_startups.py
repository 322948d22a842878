"""First calls in processes of their own, with empty caches and with warm ones."""

from __future__ import annotations

import time

import compilescope as cs
import psutil
import pytest
import torch
from compilescope.analysis.figures.payback import paybacks
from compilescope.processes.runner import Limits, run

from . import subjects

pytestmark = pytest.mark.slow


def test_a_first_call_is_cold_then_warm(request: pytest.FixtureRequest) -> None:
    # What test_cells builds too: its C++ is compiled once.
    report = cs.inspect(subjects.double, (torch.ones(8),), variants="python")
    request.getfixturevalue("real_compiler")
    cs.study(report, "startups")
    variant = report.variant("python")
    cold, warm = variant.startups
    assert (cold.cache, warm.cache) == ("cold", "warm")
    for item in (cold, warm):
        assert item.problem is None, item.problem
        assert item.imports_s is not None
        assert item.imports_s > 0.3
        assert item.memory_bytes is not None
        assert 1e8 < item.memory_bytes < 1e10
        assert item.first_call_s == pytest.approx(sum(item.parts.values()), rel=0.05)
    assert cold.first_call_s is not None
    assert warm.first_call_s is not None
    # How much shorter is the machine's: torch 2.11 looks the processor up by importing itself.
    assert cold.parts["code_generation"] > 0
    assert "code_generation" not in warm.parts
    assert cold.headers_s is not None
    assert cold.headers_s > 0.5, "headers were precompiled in it"
    assert warm.headers_s is None or warm.headers_s < cold.headers_s
    assert variant.paybacks == paybacks(variant), "from these first calls, if it is faster"


def test_a_subject_that_cannot_travel_is_a_problem_of_its_variant() -> None:
    report = cs.inspect(subjects.unpicklable(), (torch.ones(4),), variants="python", run=False)
    cs.study(report, "startups")
    problems = report.variant("python").problems
    assert any("cannot be sent to another process" in problem.why for problem in problems)


def test_a_process_ends_with_what_started_it_and_with_its_children() -> None:
    texts: list[str] = []
    program = (
        "import subprocess, sys, time\n"
        "from compilescope.processes.child import serve\n"
        "def work(inside):\n"
        "    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "    inside.step(str(child.pid))\n"
        "    time.sleep(600)\n"
        "serve(work)"
    )
    ended = run(
        ("-c", program),
        b"",
        header={},
        limits=Limits(timeout_s=600),
        cancelled=lambda: bool(texts),
        stepped=texts.append,
    )
    assert ended.how == "cancelled"
    # A process that was killed is gone a moment later; one that was not would last ten minutes.
    while any(_is_alive(pid) for pid in (ended.pid, int(texts[0]))):
        time.sleep(0.02)


def _is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
