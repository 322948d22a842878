"""First calls in separate processes: with empty caches, then with the caches that this filled.

For the C++ wrapper, once more without precompiled headers; otherwise the first call with empty
caches builds them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from ...processes.folders import temporary
from ...report import Startup
from ...report.problem import Problem
from ..context import StudyContext
from .processes import first_call, packed, task
from .startup_process import COMMAND

_KINDS: tuple[Literal["cold", "warm"], ...] = ("cold", "warm")


def study_startups(study: StudyContext) -> None:
    """Fills in the variant's startups.

    Raises
    ------
    CompilescopeError
        The subject cannot be sent to another process.
    """
    variant = study.report.requested
    if variant.backend is None:
        return
    packed_task = task(variant, packed(study))
    startups: list[Startup] = []
    with_headers = (True, False) if variant.cpp_wrapper else (True,)
    todo = [(headers, cache) for headers in with_headers for cache in _KINDS]
    for headers in with_headers:
        with temporary("startup") as caches:
            for cache in _KINDS:
                study.monitor.step(
                    f"a first call, {_title(cache, headers)}",
                    variant=study.report.name,
                    fraction=len(startups) / len(todo),
                )
                startups.append(_startup(study, packed_task, caches, cache, headers=headers))
    study.report.startups = startups


def _title(cache: str, headers: bool) -> str:
    return ("in an empty cache" if cache == "cold" else "with a warm cache") + (
        "" if headers else ", without precompiled headers"
    )


def _startup(
    study: StudyContext,
    packed_task: bytes,
    caches: Path,
    cache: Literal["cold", "warm"],
    *,
    headers: bool,
) -> Startup:
    header = {"cache": cache, "precompiled_headers": headers}
    answer = first_call(study, COMMAND, packed_task, caches, header)
    if isinstance(answer, Problem):
        return Startup(cache=cache, precompiled_headers=headers, problem=answer)
    return msgspec.json.decode(answer, type=Startup)
