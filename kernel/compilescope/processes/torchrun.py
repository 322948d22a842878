"""The environment variables of a process that torchrun started, as a record."""

from __future__ import annotations

import os
from typing import NamedTuple


class AgentStore(NamedTuple):
    """The store of torchrun itself, which its processes may use."""

    address: str
    port: int
    attempt: str
    """Identifies the job and its restart; the same on all ranks."""


class Torchrun(NamedTuple):
    """The place of this process among those that torchrun started."""

    rank: int
    size: int
    """The number of ranks on all machines."""
    local_size: int
    """The number of ranks on this machine."""
    node: int = 0
    """The number of this machine."""
    nodes: int = 1
    """The number of machines."""
    store: AgentStore | None = None


def torchrun_environment() -> Torchrun | None:
    """Return the place of this process; None if it is not a rank."""
    rank = _number("RANK")
    if rank is None:
        return None
    return Torchrun(
        rank,
        size=_number("WORLD_SIZE") or 1,
        local_size=_number("LOCAL_WORLD_SIZE") or 1,
        node=_number("GROUP_RANK") or 0,
        nodes=_number("GROUP_WORLD_SIZE") or 1,
        store=_store(),
    )


def _store() -> AgentStore | None:
    variables = os.environ
    if variables.get("TORCHELASTIC_USE_AGENT_STORE") != "True":
        return None
    return AgentStore(
        variables["MASTER_ADDR"],
        int(variables["MASTER_PORT"]),
        f"{variables['TORCHELASTIC_RUN_ID']}-{variables['TORCHELASTIC_RESTART_COUNT']}",
    )


def _number(name: str) -> int | None:
    text = os.environ.get(name, "")
    return int(text) if text.isdigit() else None
