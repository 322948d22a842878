"""Keeps Dynamo from tracing a function, without torch.

Relies on the attributes ``_torchdynamo_disable`` and ``_torchdynamo_disable_msg`` (2.11 to 2.15),
which ``torch.compiler.disable`` sets: Dynamo makes a graph break at a call of such a function, or
fails with the message under ``fullgraph=True``.
"""

from __future__ import annotations

from collections.abc import Callable


def stop_tracing(function: Callable[..., object], reason: str) -> None:
    """Marks a function as one that Dynamo does not trace, for the reason in its messages."""
    vars(function).update(_torchdynamo_disable=True, _torchdynamo_disable_msg=reason)
