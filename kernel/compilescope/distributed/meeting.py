"""Where ranks meet: in a folder of this machine, or at the store of torchrun."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch.distributed as dist

_calls = itertools.count(1)


class Torchrun(NamedTuple):
    """The place of this process among those that torchrun started."""

    rank: int
    size: int
    here: int
    """How many of them are on this machine."""
    address: str
    port: int
    group: str
    """What tells this call from the others; the same on all ranks, as each makes the same calls."""


def torchrun() -> Torchrun | None:
    """The place of this process; None where torchrun did not start it."""
    known = os.environ
    if known.get("TORCHELASTIC_USE_AGENT_STORE") != "True":
        return None
    name = f"{known['TORCHELASTIC_RUN_ID']}-{known['TORCHELASTIC_RESTART_COUNT']}"
    return Torchrun(
        rank=int(known["RANK"]),
        size=int(known["WORLD_SIZE"]),
        here=int(known["LOCAL_WORLD_SIZE"]),
        address=known["MASTER_ADDR"],
        port=int(known["MASTER_PORT"]),
        group=f"{name}-{next(_calls)}",
    )


def at_torchrun(address: str, port: int, group: str) -> Any:
    """The store of torchrun, with names of this group alone."""
    stores: Any = dist  # its stores are in its docs, and not in its types
    return stores.PrefixStore(
        f"compilescope-{group}", stores.TCPStore(address, port, is_master=False)
    )


def store_of(header: Mapping[str, Any]) -> Any:
    """The store that the header of a rank's process names."""
    if "address" in header:
        return at_torchrun(header["address"], header["port"], header["group"])
    stores: Any = dist
    return stores.FileStore(header["meeting"], header["size"])
