"""The command line: ``compilescope COMMAND``, or ``python -m compilescope COMMAND``.

It uses argparse, so that a training node needs no further package. Results go to standard output
and everything else to standard error, so that both can be piped. The exit status is 0 on success, 1
if a check failed, 2 if the command could not run (a wrong option, or a file that cannot be read),
and 130 after Ctrl-C. ``compilescope run`` exits with its script's status.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from ..measure.garbage_collection import gc_disabled
from ..version import __version__

_PLACES = ("paths", "file", "before", "after")
"""Arguments that may be addresses of traces."""
_COMMANDS = {
    "run": "run",
    "trace": "trace",
    "show": "show",
    "reproduce": "reproduce",
    "diff": "diff",
    "sweep": "sweep",
    "open": "opening",
    "viewer": "viewer",
    "doctor": "doctor",
}
"""Command → its module."""


def run_process() -> int:
    """`main`, in a process of its own that ends with it."""
    return _run(sys.argv[1:], is_process=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    arguments
        The arguments after ``compilescope``; those of this process if None.

    Returns
    -------
    int
        The exit status.

    Raises
    ------
    SystemExit
        Help or the version was requested, an option is wrong, or a script exited.

    Examples
    --------
    >>> from compilescope.cli import main
    >>> main(["show", "no-such-file.log"])
    2
    """
    return _run(sys.argv[1:] if arguments is None else arguments, is_process=False)


def _run(arguments: Sequence[str], *, is_process: bool) -> int:
    with ExitStack() as without_gc:
        # What is imported stays: looking through it for garbage takes a tenth of the time.
        without_gc.enter_context(gc_disabled())
        options = _parser(arguments[:1]).parse_args(arguments)
        is_brief = options.is_brief(options)
        if not is_brief:
            without_gc.close()
        status = _status(options)
        if is_brief and is_process:
            # Python collects garbage once it may again, and before it ends: each takes as long as
            # a small trace. It skips what is frozen.
            gc.freeze()
    return status


def _status(options: argparse.Namespace) -> int:
    """Run the command, and return the exit status."""
    from ..report.errors import CompilescopeError

    try:
        with ExitStack() as copies:
            for name in _PLACES:
                given = getattr(options, name, None)
                if isinstance(given, list):
                    given[:] = [_here(place, options, copies) for place in given]
                elif given is not None:
                    setattr(options, name, _here(given, options, copies))
            status: int = options.command(options)
        sys.stdout.flush()
    except CompilescopeError as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader closed the pipe, as ``| head`` does. Python would fail again when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        print(
            "This command needs torch, which is not installed (pip install torch). trace, show and "
            "diff read files without it.",
            file=sys.stderr,
        )
        return 2
    except OSError as error:
        print(f"{error.filename or 'The output'}: {error.strerror or error}.", file=sys.stderr)
        return 2
    return status


def _here(place: str | Path, options: argparse.Namespace, copies: ExitStack) -> Path:
    """A path of this machine: of a remote trace, that of a copy."""
    from ..readers.remote import is_remote, located
    from ..report.errors import CompilescopeError

    if is_remote(place) and getattr(options, "follow", False):
        raise CompilescopeError(
            f"{place} cannot be followed: it is copied, and does not grow here.",
            remedy="Leave out --follow, or run it where the log is written.",
        )
    return copies.enter_context(located(place)) if is_remote(place) else Path(place)


def _parser(first: Sequence[str]) -> argparse.ArgumentParser:
    """The parser; if the first argument names a command, with that command alone.

    Importing the other commands' modules takes longer than reading a small trace.
    """
    parser = argparse.ArgumentParser(
        prog="compilescope", description="Show what torch.compile did, without a notebook."
    )
    parser.add_argument("--version", action="version", version=f"compilescope {__version__}")
    # Whether the command ends so soon that garbage need not be collected; commands may say so.
    parser.set_defaults(is_brief=lambda options: False)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    named = [module for command, module in _COMMANDS.items() if command in first]
    for module in named or _COMMANDS.values():
        importlib.import_module(f".{module}", __name__).add(commands)
    return parser
