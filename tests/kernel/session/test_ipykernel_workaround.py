"""A request that arrives while the kernel sends a reply. Real kernel, no panel."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

from ..forked_kernel import forked_kernels

# The thread of the shell channel is held up, so that a request lies there unread; then it sends a
# reply, to a client that has gone.
REPLYING = """
import threading, time
channel = get_ipython().kernel.shell_channel_thread
held = threading.Event()
def reply():
    held.set()
    time.sleep(1)
    channel.manager._send_on_shell_channel([b"a client that has gone", b"a reply"])
channel.io_loop.add_callback(reply)
held.wait()
print("held")
"""


@pytest.fixture
def client() -> Iterator[BlockingKernelClient]:
    with forked_kernels():
        manager, client = start_new_kernel(kernel_name="python3")
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.mark.slow
def test_it_is_answered(client: BlockingKernelClient) -> None:
    client.execute("%load_ext compilescope", reply=True, timeout=600)
    client.execute(REPLYING)
    while client.get_iopub_msg(timeout=600)["msg_type"] != "stream":
        pass
    asked = client.execute("held")
    answered = {client.get_shell_msg(timeout=600)["parent_header"]["msg_id"] for _ in range(2)}
    assert asked in answered
