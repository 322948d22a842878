"""How soon the panel is answered while the kernel measures.

    python benchmarks/responsiveness.py [--requests 100] [--seconds 20] [--variants python]

Starts a kernel, inspects a small network in a cell, starts measuring it as the panel does, and asks
meanwhile, over a comm on a subshell, what a panel asks. Prints the milliseconds from sending a
request to having its reply, by command: median, 95th percentile and the longest. Exits with 1 if
the 95th percentile of all is above 100 ms, or if the measurement had ended before the last request.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import time
import uuid
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

LIMIT_MS = 100.0
CELL = """%%compile --no-widget --variants {variants}
import torch
model = torch.nn.Sequential(*[
    part for _ in range(4) for part in (torch.nn.Linear(256, 256), torch.nn.GELU())
]).eval().requires_grad_(False)
model(torch.randn(32, 256))
"""


class Panel:
    """A panel's end of the line."""

    def __init__(self, client: BlockingKernelClient) -> None:
        self._client = client
        self._name = uuid.uuid4().hex
        self._numbers = itertools.count(1)
        self._subshell = self._control("create_subshell_request")["subshell_id"]
        self._requests = self._open("compilescope.requests", self._subshell)
        self._open("compilescope.events", None)

    def ask(self, command: str, **arguments: Any) -> tuple[dict[str, Any], float]:
        """The result of a command, and the milliseconds that it took."""
        number = str(next(self._numbers))
        data = {
            "version": 1,
            "client": self._name,
            "id": number,
            "command": command,
            "arguments": arguments,
        }
        content = {"comm_id": self._requests, "data": data}
        begun = time.perf_counter()
        self._send("comm_msg", content, self._subshell)
        while True:
            message = self._client.get_iopub_msg(timeout=60)
            if message["msg_type"] == "comm_msg":
                reply = message["content"]["data"]
                if message["content"]["comm_id"] == self._requests and reply["id"] == number:
                    took = (time.perf_counter() - begun) * 1000
                    if reply.get("error"):
                        raise RuntimeError(reply["error"]["what"])
                    return reply["result"], took

    def start(self, code: str) -> None:
        """Has the main thread begin, as the panel does."""
        self._client.execute(code, silent=True, store_history=False)

    def _open(self, target: str, subshell: str | None) -> str:
        comm = uuid.uuid4().hex
        content = {"comm_id": comm, "target_name": target, "data": {"client": self._name}}
        self._send("comm_open", content, subshell)
        return comm

    def _send(self, kind: str, content: dict[str, Any], subshell: str | None) -> None:
        message = self._client.session.msg(kind, content)
        if subshell is not None:
            message["header"]["subshell_id"] = subshell
        self._client.shell_channel.send(message)

    def _control(self, kind: str) -> dict[str, Any]:
        message = self._client.session.msg(kind, {})
        self._client.control_channel.send(message)
        while True:
            reply = self._client.get_control_msg(timeout=60)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                return dict(reply["content"])


def wait_until_measuring(panel: Panel, subject: str) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        result, _ = panel.ask("get_measurement", subject=subject)
        if result["state"] == "running":
            return
        time.sleep(0.1)
    raise RuntimeError("The measurement did not begin.")


def measured(panel: Panel, subject: str, requests: int) -> tuple[dict[str, list[float]], str]:
    """Milliseconds by command, and how the measurement stands after the last of them."""
    asked: list[tuple[str, dict[str, Any]]] = [
        ("get_report", {"subject": subject}),
        ("get_measurement", {"subject": subject}),
        ("heartbeat", {}),
    ]
    answer_times: dict[str, list[float]] = {command: [] for command, _ in asked}
    for command, arguments in itertools.islice(itertools.cycle(asked), requests):
        answer_times[command].append(panel.ask(command, **arguments)[1])
        time.sleep(0.05)
    result, _ = panel.ask("get_measurement", subject=subject)
    return answer_times, result["state"]


def print_times(name: str, times: list[float]) -> float:
    """Prints a row; returns the 95th percentile."""
    high = sorted(times)[min(len(times) - 1, int(len(times) * 0.95))]
    print(f"{name:16} {len(times):5} {statistics.median(times):8.1f} {high:8.1f} {max(times):8.1f}")
    return high


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--variants", default="python")
    options = parser.parse_args()
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        client.execute("%load_ext compilescope", reply=True, timeout=120)
        reply = client.execute(CELL.format(variants=options.variants), reply=True, timeout=600)
        if reply["content"]["status"] != "ok":
            raise RuntimeError(reply["content"].get("evalue", "The cell failed."))
        panel = Panel(client)
        hello, _ = panel.ask("hello")
        subject = hello["subjects"][0]["subject"]["id"]
        idle, _ = measured(panel, subject, 30)
        begun, _ = panel.ask("start_measure", subject=subject, seconds=options.seconds)
        panel.start(begun["code"])
        wait_until_measuring(panel, subject)
        busy, state = measured(panel, subject, options.requests)
        panel.ask("cancel", job=begun["job"]["id"])
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    print(f"{'':16} {'asked':>5} {'median':>8} {'95 %':>8} {'longest':>8}   (ms)")
    print_times("idle", [time for times in idle.values() for time in times])
    for command, times in busy.items():
        print_times(command, times)
    high = print_times("while measuring", [time for times in busy.values() for time in times])
    if state != "running":
        print(f"The measurement was {state} before the last request: give it more --seconds.")
        return 1
    return int(high > LIMIT_MS)


if __name__ == "__main__":
    sys.exit(main())
