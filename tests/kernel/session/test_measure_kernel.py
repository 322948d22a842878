"""A panel that measures in a real kernel, whose user goes on working. No front end."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

from ..forked_kernel import forked_kernels

pytestmark = pytest.mark.slow

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "responsiveness.py"
CELL = """
import compilescope as cs, torch
torch.set_num_threads(1)
state = torch.zeros(8)
def fn(x):
    state.add_(1)
    return x.sin() + state
report = cs.inspect(fn, (torch.ones(8),), variants={"quick": cs.Variant(backend="eager")})
"""

Kernel = tuple[KernelManager, BlockingKernelClient]

GIVE_UP_S = 600.0
"""Far longer than anything takes: a busy machine must not fail a test."""


@pytest.fixture
def kernel() -> Iterator[Kernel]:
    with forked_kernels():
        manager, client = start_new_kernel(kernel_name="python3")
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def panel_of(client: BlockingKernelClient) -> Any:
    """The benchmark's: a panel's end of the line."""
    spec = importlib.util.spec_from_file_location("responsiveness", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Panel(client)


def ended(panel: Any, subject: str) -> dict[str, Any]:
    deadline = time.monotonic() + GIVE_UP_S
    while time.monotonic() < deadline:
        result, _ = panel.ask("get_measurement", subject=subject)
        if result["state"] not in ("building", "warming", "running"):
            return dict(result)
        time.sleep(0.05)
    raise AssertionError("it goes on")


def running(panel: Any, subject: str, after: int = 0) -> dict[str, Any]:
    deadline = time.monotonic() + GIVE_UP_S
    while time.monotonic() < deadline:
        result, _ = panel.ask("get_measurement", subject=subject)
        if result["state"] == "running" and result["rounds"] > after + 3:
            return dict(result)
        time.sleep(0.05)
    raise AssertionError("it did not begin")


@pytest.mark.slow
def test_it_is_paused_for_the_user_s_cell_and_gone_on_with(kernel: Kernel, tmp_path: Path) -> None:
    manager, client = kernel
    client.execute("%load_ext compilescope", reply=True, timeout=GIVE_UP_S)
    reply = client.execute(CELL, reply=True, timeout=GIVE_UP_S)
    assert reply["content"]["status"] == "ok", reply["content"]
    panel = panel_of(client)
    hello, _ = panel.ask("hello")
    subject = hello["subjects"][0]["subject"]["id"]

    # A cell runs: what is asked for waits, and the panel is answered meanwhile.
    end = tmp_path / "end"
    busy = client.execute(
        f"import os, time\nwhile not os.path.exists({str(end)!r}): time.sleep(0.01)"
    )
    begun, _ = panel.ask("start_measure", subject=subject, seconds=2 * GIVE_UP_S)
    assert (begun["job"]["kind"], begun["job"]["state"]) == ("measure", "queued")
    panel.start(begun["code"])
    assert panel.ask("get_measurement", subject=subject)[0]["state"] == "none"
    end.touch()
    first = running(panel, subject)

    # Paused: the cell that waited runs, whole, and finds everything as it was.
    waits = client.execute("total = float(state.sum())")
    panel.ask("cancel", job=begun["job"]["id"])
    paused = ended(panel, subject)
    assert paused["state"] == "paused"
    assert paused["rounds"] >= first["rounds"]
    replies: dict[str, str] = {}
    while not {busy, waits} <= replies.keys():
        message = client.get_shell_msg(timeout=GIVE_UP_S)
        if message["msg_type"] == "execute_reply":
            replies[message["parent_header"]["msg_id"]] = message["content"]["status"]
    assert replies[waits] == "ok"
    result = client.execute("assert total == 0.0, total", reply=True, timeout=GIVE_UP_S)
    assert result["content"]["status"] == "ok", result["content"]

    # Gone on with, and interrupted as by the notebook's button.
    begun, _ = panel.ask("start_measure", subject=subject, seconds=2 * GIVE_UP_S)
    panel.start(begun["code"])
    running(panel, subject, after=paused["rounds"])
    manager.interrupt_kernel()
    last = ended(panel, subject)
    assert (last["id"], last["state"]) == (paused["id"], "paused")
    assert last["rounds"] > paused["rounds"]
    assert last["problem"] is None
    result = client.execute("assert not state.any()", reply=True, timeout=GIVE_UP_S)
    assert result["content"]["status"] == "ok", result["content"]
    timing = panel.ask("get_variant", subject=subject, variant="quick")[0]["variant"]["timing"]
    assert len(timing["samples_us"]) == last["rounds"]
    assert timing["changes"] == ["state"]
