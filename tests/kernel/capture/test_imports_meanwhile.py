"""Other code imports modules while torch's functions are replaced in all modules."""

from __future__ import annotations

import gc
import itertools
import sys
import types
from collections.abc import Iterator

import pytest
import torch
from compilescope.capture.live import loaded_files
from compilescope.torch_api.trace.process_trace import forward_trace_events
from compilescope.torch_api.trace.trace import Event


@pytest.fixture
def imports_at_each_allocation() -> Iterator[None]:
    """A garbage collection may run, and let another thread import, whenever an object is made."""
    numbers = itertools.count()
    threshold = gc.get_threshold()

    def add_module(phase: str, _: dict[str, int]) -> None:
        if phase == "start" and (number := next(numbers)) < 10_000:
            name = f"torch.imported_meanwhile_{number}"
            sys.modules[name] = types.ModuleType(name)

    gc.callbacks.append(add_module)
    gc.set_threshold(1)
    try:
        yield
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(add_module)
        for name in [name for name in sys.modules.copy() if "imported_meanwhile" in name]:
            del sys.modules[name]


@pytest.mark.usefixtures("imports_at_each_allocation")
def test_modules_may_be_imported_while_a_watch_begins_and_ends() -> None:
    events: list[Event] = []
    stop = forward_trace_events(events.append, lambda _: None)
    torch._logging.trace_structured("artifact", payload_fn=lambda: "text")
    stop()
    assert "text" in [event.payload for event in events]
    assert loaded_files()
