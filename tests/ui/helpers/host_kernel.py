"""A kernel for a host of the tests' own: the panel's messages as lines of JSON.

What the panel sends comes on standard input; what the widget sends goes to standard output, a
message a line, its buffers in base64. The first line is the widget's state.
"""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

import compilescope as cs
import torch

_out = sys.stdout
# Nothing else may write between the lines.
sys.stdout = sys.stderr


def attend(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The subject."""
    scores = torch.relu(x @ y)
    return scores.softmax(-1)


def send(content: dict[str, Any], buffers: list[bytes] | None = None) -> None:
    """What the widget sends."""
    packed = [base64.b64encode(buffer).decode() for buffer in buffers or ()]
    write({"content": content, "buffers": packed})


def write(message: dict[str, Any]) -> None:
    """Write a line."""
    _out.write(json.dumps(message) + "\n")
    _out.flush()


def main() -> None:
    """Show a panel, and answer until the input ends."""
    call = (torch.randn(16, 32), torch.randn(32, 16))
    widget = cs.inspect(attend, call, variants="python", run=False).panel()
    widget.send = send
    write({name: getattr(widget, name) for name in ("page", "title", "height")})
    for line in sys.stdin:
        widget._receive(None, json.loads(line), [])


if __name__ == "__main__":
    main()
