"""Follows the log of a running job: prints its compilations as they end."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable

from ..readers.lazy_trace import ProcessLog, Trace
from ..readers.outlines import Events
from ..readers.trace_summary import compilation_lines
from . import trace_text
from .terminal import Paint

_INTERVAL_S = 0.5
"""How often the files are checked."""


def follow(trace: Trace) -> None:
    """Print each compilation when it ends, until the user presses Ctrl-C.

    Parameters
    ----------
    trace
        A trace opened as incomplete: reading waits for the rest of an unfinished record.
    """
    printed: set[tuple[str, str]] = set()
    print(f"compilescope: follows {trace.path}; Ctrl-C ends with the summary", file=sys.stderr)
    try:
        changed: Iterable[tuple[ProcessLog, Events]] = (
            (log, events) for log in trace.processes for events in log.events.values()
        )
        while True:
            print_ended(changed, printed)
            time.sleep(_INTERVAL_S)
            changed = trace.read_on()
    except KeyboardInterrupt:
        # New records, and the last one, which nothing follows.
        print_ended(trace.finish(), printed)
        print()


def print_ended(
    changed: Iterable[tuple[ProcessLog, Events]], printed: set[tuple[str, str]]
) -> None:
    """Print the compilations that have ended and were not printed yet.

    Parameters
    ----------
    changed
        The compilations with new records.
    printed
        The process and compile id of each printed compilation; updated with new ones.
    """
    logs: dict[str, tuple[ProcessLog, set[str]]] = {}
    for log, events in changed:
        if events.is_done and (log.name, events.id) not in printed:
            printed.add((log.name, events.id))
            logs.setdefault(log.name, (log, set()))[1].add(events.id)
    for log, ids in logs.values():
        for line in compilation_lines(log.report()):
            if line.id in ids:
                print(trace_text.compilation(line, Paint(sys.stdout)), flush=True)
                if line.recompile:
                    print(f"          {line.recompile.partition(chr(10))[0]}", flush=True)
