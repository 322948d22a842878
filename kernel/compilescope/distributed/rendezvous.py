"""Where ranks meet: in a folder of this machine, or at the store of torchrun."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch.distributed as dist

from ..processes.torchrun import AgentStore


def at_torchrun(store: AgentStore, group: str) -> Any:
    """The store of torchrun, with names of this group alone."""
    stores: Any = dist  # its stores are in its docs, and not in its types
    return stores.PrefixStore(
        f"compilescope-{group}", stores.TCPStore(store.address, store.port, is_master=False)
    )


def store_of(header: Mapping[str, Any]) -> Any:
    """The store that the header of a rank's process names."""
    if "store" in header:
        return at_torchrun(AgentStore(*header["store"]), header["group"])
    stores: Any = dist
    return stores.FileStore(header["meeting"], header["size"])
