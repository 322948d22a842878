"""The process of a first call under other settings: the call itself, then later calls."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ...processes.child import ChildProcess, serve
from ...report import Startup, Timing
from .startup_process import before, first_call, unpack_task

if TYPE_CHECKING:
    from ...builds.build import Built
    from ...subject.pickled_subject import Call

COMMAND = (
    "import time; start = time.time(); {imports}; loaded = time.time(); "
    "from compilescope.studies.first_calls.cold_process import main; main(start, loaded)"
)
"""What the process runs."""
_SECONDS = 0.5
"""How long calls are timed."""


class ColdResult(msgspec.Struct):
    """The result of the process."""

    startup: Startup
    timing: Timing | None = None
    """Of calls after the first one, where that is asked."""


def main(start: float, loaded: float) -> None:
    """Makes the first call, and gives its `ColdResult` as JSON.

    Parameters
    ----------
    start, loaded
        When Python was ready, and when torch was loaded (seconds since the epoch).
    """
    serve(lambda inside: msgspec.json.encode(_work(inside, before(start, loaded))))


def _work(inside: ChildProcess, imports_s: float) -> ColdResult:
    from ...torch_api.inductor import headers
    from ...torch_api.process import portable_settings

    header = inside.header
    headers.keep_in(Path(header["headers"]))
    variant, call, took_s = unpack_task(inside)
    portable_settings.apply(header["settings"])
    if not header["timed"]:
        inside.step("compiling")
        measured = ColdResult(first_call(inside, variant, call)[0])
    else:
        from ...isolation.user_state import preserved

        with preserved(*call) as snapshot:
            inside.step("compiling")
            startup, built = first_call(inside, variant, call)
            snapshot.restore()
            measured = ColdResult(startup)
            if built.problem is None:
                inside.step("measuring")
                measured.timing = _time(call, built)
    measured.startup.imports_s = imports_s + took_s
    return measured


def _time(call: Call, built: Built) -> Timing | None:
    """How long a call takes now; each begins with the state that the one before began with."""
    from ...builds.comparison.repeatable_state import begin_of
    from ...isolation.muted_output import quiet
    from ...isolation.state_changes import changes_of
    from ...isolation.user_state import preserved
    from ...measure.timing import time_calls
    from ...subject.subject import describe

    with preserved(*call) as snapshot, quiet():
        built.call(*call.args, **call.kwargs)
        begin = begin_of(*call, snapshot, changes_of(snapshot))
        timings = time_calls(
            {"call": lambda: built.call(*call.args, **call.kwargs)},
            budget_s=_SECONDS,
            before_each=(lambda name: begin.restore()) if begin is not None else None,
            device=describe(*call).device,
        )
    return timings.get("call")
