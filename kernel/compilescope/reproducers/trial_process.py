"""The process that runs a program for a trial."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import runpy
import sys
import textwrap
import traceback

import msgspec

from ..processes.child import ChildProcess, serve
from ..processes.folders import temporary
from .program import TrialOutcome
from .same_failure import DIFFERS, failure_of

COMMAND = "from compilescope.reproducers.trial_process import main; main()"
"""The code that the process runs."""
DIFFERS_STATUS = 1
"""The exit status of a program that compares, if a result differs."""
MAX_WHY_CHARACTERS = 1000
"""The most characters of an exception's message in `Trial.why`; all of it is in the output."""
_COMPILERS_ERROR = re.compile(r":\d+:\d+: (?:fatal )?error: ")


class Trial(msgspec.Struct):
    """The result of a program's trial."""

    tried: TrialOutcome
    why: str = ""
    output: str = ""
    failure: str = ""
    """What fails and why, without what varies from graph to graph; empty if nothing does."""


def main() -> None:
    """Runs the program passed to the process, and returns a `Trial` as JSON."""
    serve(lambda inside: msgspec.json.encode(_work(inside)))


def take_caches(inside: ChildProcess) -> None:
    """Makes torch use the caller's caches."""
    for name, folder in inside.header["caches"].items():
        os.environ.pop(name, None)
        if folder is not None:
            os.environ[name] = folder


def lacks_device(inside: ChildProcess) -> str:
    """Why the program cannot run on this machine; empty if it can."""
    if inside.header["device"] == "cuda":
        import torch

        if not torch.cuda.is_available():
            return "It needs a GPU, and there is none on this machine."
    return ""


def _why(error: Exception) -> str:
    """The exception with the first line of its message; of a compiler's output, the first error."""
    lines = str(error).splitlines() or [""]
    first = lines[0]
    if first.endswith("C++ compile error"):
        errors = (line.strip() for line in lines if _COMPILERS_ERROR.search(line))
        first = ": ".join([first, *itertools.islice(errors, 1)])
    return (
        f"{type(error).__name__}: {textwrap.shorten(first, MAX_WHY_CHARACTERS, placeholder=' …')}"
    )


def _work(inside: ChildProcess) -> Trial:
    take_caches(inside)
    if why := lacks_device(inside):
        return Trial("not tried", why)
    output = io.StringIO()
    with temporary("trial") as folder:
        path = folder / inside.header["name"]
        path.write_bytes(inside.task())
        # torch's own program reads its arguments from here.
        sys.argv = [str(path)]
        with contextlib.redirect_stdout(output):
            try:
                runpy.run_path(str(path), run_name="__main__")
            except SystemExit as ended:
                if ended.code == DIFFERS_STATUS:
                    return Trial("differs", output=output.getvalue(), failure=DIFFERS)
                if ended.code:
                    why = f"It ended with the exit status {ended.code}."
                    return Trial("failed", why, output.getvalue())
                return Trial("agrees", output=output.getvalue())
            except Exception as error:  # noqa: BLE001 - it is the program's own
                last = traceback.format_exc()
                why, failure = _why(error), failure_of(error)
                return Trial("failed", why, output.getvalue() + last, failure)
    return Trial("ran", output=output.getvalue())
