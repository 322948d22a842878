"""What a device of this machine is called, and what tells it from others."""

from __future__ import annotations

import torch

from .environment import environment


def title(device: str) -> str:
    """A device and what it is: ``cuda:0 NVIDIA H100 80GB HBM3``."""
    if device.startswith("cuda"):
        return f"{device} {torch.cuda.get_device_name(device)}"
    return f"{device} {environment().cpu}".strip() if device == "cpu" else device


def identity(device: str) -> str:
    """What tells a device of this machine from the others.

    A GPU's number does not: it counts what a process may see.
    """
    if device.startswith("cuda"):
        uuid = getattr(torch.cuda.get_device_properties(device), "uuid", None)
        return str(uuid) if uuid is not None else device
    return device
