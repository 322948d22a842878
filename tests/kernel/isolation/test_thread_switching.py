"""How threads take turns while requests are answered."""

from __future__ import annotations

import sys

import pytest
from compilescope.isolation.thread_switching import responsive


def test_the_switch_interval_is_restored_whichever_block_ends_first() -> None:
    before = sys.getswitchinterval()
    first, second = responsive(), responsive()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert sys.getswitchinterval() < before
    second.__exit__(None, None, None)
    assert sys.getswitchinterval() == before


def test_an_interval_that_other_code_sets_meanwhile_stays() -> None:
    before = sys.getswitchinterval()
    try:
        with responsive():
            sys.setswitchinterval(0.003)
        assert sys.getswitchinterval() == pytest.approx(0.003)
    finally:
        sys.setswitchinterval(before)
