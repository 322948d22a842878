"""A stand-in for the module `time`."""

from __future__ import annotations

import time
from typing import Any


class Clock:
    """Time that passes only where a test says so."""

    def __init__(self) -> None:
        self.now_ns = 0

    def advance(self, seconds: float) -> None:
        self.now_ns += round(seconds * 1e9)

    def perf_counter(self) -> float:
        return self.now_ns / 1e9

    def thread_time(self) -> float:
        return self.now_ns / 1e9

    def perf_counter_ns(self) -> int:
        return self.now_ns

    def get_clock_info(self, name: str) -> Any:
        return time.get_clock_info("perf_counter")
