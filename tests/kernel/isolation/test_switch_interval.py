"""Python's switch interval while threads have to take turns sooner."""

from __future__ import annotations

import sys

import pytest
from compilescope.isolation.switch_interval import switch_interval_at_most


def test_the_shortest_interval_counts_and_the_last_block_restores_it() -> None:
    before = sys.getswitchinterval()
    short, shorter = switch_interval_at_most(before / 2), switch_interval_at_most(before / 4)
    short.__enter__()
    shorter.__enter__()
    assert sys.getswitchinterval() == pytest.approx(before / 4)
    shorter.__exit__(None, None, None)
    assert sys.getswitchinterval() == pytest.approx(before / 2)
    shorter = switch_interval_at_most(before / 4)
    shorter.__enter__()
    short.__exit__(None, None, None)
    assert sys.getswitchinterval() == pytest.approx(before / 4)
    shorter.__exit__(None, None, None)
    assert sys.getswitchinterval() == before


def test_an_interval_that_other_code_sets_meanwhile_stays() -> None:
    before = sys.getswitchinterval()
    try:
        with switch_interval_at_most(before / 2):
            sys.setswitchinterval(0.003)
        assert sys.getswitchinterval() == pytest.approx(0.003)
    finally:
        sys.setswitchinterval(before)
