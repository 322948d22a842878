"""First calls in processes of their own: with empty caches, then with those that this has filled.

The C++ wrapper's once more without precompiled headers, which are built within the first call in an
empty cache otherwise.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Literal

import cloudpickle
import msgspec

from ..errors import CompilescopeError
from ..problem import Problem
from ..report import Startup
from ..torch_api.headers import FIRST_IMPORTS
from . import shipping
from .processes import Ended, Limits, describe_exit, run
from .progress import Cancelled
from .startup_process import COMMAND
from .studies import Study

TIMEOUT_S = 600.0

_KINDS: tuple[Literal["cold", "warm"], ...] = ("cold", "warm")
_LAST = 2000
"""How much of what a process wrote is shown when it died."""


def study_startups(study: Study) -> None:
    """Fills in the variant's startups.

    Raises
    ------
    CompilescopeError
        The subject cannot be taken into another process.
    """
    variant = study.report.requested
    if variant.backend is None:
        return
    study.snapshot.restore()
    try:
        packed = shipping.pack(study.fn, (tuple(study.args), dict(study.kwargs)))
    except CompilescopeError as error:
        raise CompilescopeError(
            error.problem.what, error.problem.why, "Have it refer to nothing that cannot travel."
        ) from error
    task = cloudpickle.dumps((variant, packed))
    found: list[Startup] = []
    with_headers = (True, False) if variant.cpp_wrapper else (True,)
    todo = [(headers, cache) for headers in with_headers for cache in _KINDS]
    for headers in with_headers:
        with tempfile.TemporaryDirectory(prefix="compilescope-startup-") as caches:
            for cache in _KINDS:
                study.monitor.step(
                    f"a first call, {_title(cache, headers)}",
                    variant=study.report.name,
                    fraction=len(found) / len(todo),
                )
                found.append(_startup(study, task, Path(caches), cache, headers=headers))
    study.report.startups = found


def _title(cache: str, headers: bool) -> str:
    return ("in an empty cache" if cache == "cold" else "with a warm cache") + (
        "" if headers else ", without precompiled headers"
    )


def _startup(
    study: Study, task: bytes, caches: Path, cache: Literal["cold", "warm"], *, headers: bool
) -> Startup:
    ended = run(
        ("-c", COMMAND.format(imports=FIRST_IMPORTS)),
        task,
        header={
            **shipping.header(),
            "caches": str(caches),
            "cache": cache,
            "precompiled_headers": headers,
        },
        limits=Limits(timeout_s=TIMEOUT_S),
        cancelled=lambda: study.monitor.cancelled,
        folder=caches,
    )
    if ended.how == "cancelled":
        raise Cancelled
    if ended.how == "done":
        return msgspec.json.decode(ended.result, type=Startup)
    return Startup(cache=cache, precompiled_headers=headers, problem=_problem(ended))


def _problem(ended: Ended) -> Problem:
    if ended.how == "timeout":
        return Problem(severity="error", what=f"It was ended after {TIMEOUT_S:g} s.")
    return Problem(
        severity="error",
        what=f"Its process died: {describe_exit(ended.exit_code)}.",
        detail=ended.errors[-_LAST:],
    )
