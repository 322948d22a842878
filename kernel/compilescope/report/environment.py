"""The environment in which a report was made: versions, processors, devices."""

from __future__ import annotations

from .problem import Struct


class Environment(Struct):
    """Where the report was made."""

    torch: str = ""
    triton: str | None = None
    python: str = ""
    platform: str = ""
    cpu: str = ""
    threads: int = 0
    gpus: list[str] = []
    compiler: str = ""
    compilescope: str = ""
