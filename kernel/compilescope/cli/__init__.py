"""The command line: ``compilescope COMMAND``, or ``python -m compilescope COMMAND``.

It parses with argparse: on a training node nothing else has to be installed. Results go to standard
output and everything else to standard error, so that both can be piped. The exit status is 0 when
the command did its work, 1 when what it checks is not so, and 2 when it could not work: a wrong
option, or a file that cannot be read. ``compilescope run`` ends as its script does.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack

from ..readers.remote import is_remote, located
from ..report.errors import CompilescopeError
from ..version import __version__

_PLACES = ("path", "file", "before", "after")
"""Arguments that may be addresses of traces."""
_COMMANDS = {
    "run": "run",
    "trace": "trace",
    "show": "show",
    "diff": "diff",
    "open": "opening",
    "viewer": "viewer",
    "doctor": "doctor",
}
"""Command → its module."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    arguments
        What stands behind ``compilescope``; those of this process if None.

    Returns
    -------
    int
        The exit status.

    Raises
    ------
    SystemExit
        Help or the version was asked for, an option is wrong, or a script that was run ended so.

    Examples
    --------
    >>> from compilescope.cli import main
    >>> main(["show", "no-such-file.log"])
    2
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    options = _parser(arguments[:1]).parse_args(arguments)
    try:
        with ExitStack() as copies:
            for name in _PLACES:
                if is_remote(place := getattr(options, name, "")):
                    if getattr(options, "follow", False):
                        raise CompilescopeError(
                            f"{place} cannot be followed: it is copied, and does not grow here.",
                            remedy="Leave out --follow, or run it where the log is written.",
                        )
                    setattr(options, name, copies.enter_context(located(place)))
            status: int = options.command(options)
        sys.stdout.flush()
    except CompilescopeError as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Who reads has seen enough: ``| head``. Python would fail once more when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"{error.filename or 'A file'}: {error.strerror or error}.", file=sys.stderr)
        return 2
    return status


def _parser(first: Sequence[str]) -> argparse.ArgumentParser:
    """The parser; where the first argument names a command, of that command alone.

    The other commands' modules take longer to import than a small trace to read.
    """
    parser = argparse.ArgumentParser(
        prog="compilescope", description="What torch.compile did, without a notebook."
    )
    parser.add_argument("--version", action="version", version=f"compilescope {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    named = [module for command, module in _COMMANDS.items() if command in first]
    for module in named or _COMMANDS.values():
        importlib.import_module(f".{module}", __name__).add(commands)
    return parser
