"""The command line: ``compilescope COMMAND``, or ``python -m compilescope COMMAND``.

It parses with argparse: on a training node nothing else has to be installed. Results go to standard
output and everything else to standard error, so that both can be piped. The exit status is 0 when
the command did its work, 1 when what it checks is not so, and 2 when it could not work: a wrong
option, or a file that cannot be read. ``compilescope run`` ends as its script does.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from ..report.errors import CompilescopeError
from ..version import __version__
from . import diff, doctor, opening, run, show, trace

_COMMANDS = (run, trace, show, diff, opening, doctor)


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
    options = _parser().parse_args(arguments)
    try:
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="compilescope", description="What torch.compile did, without a notebook."
    )
    parser.add_argument("--version", action="version", version=f"compilescope {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for module in _COMMANDS:
        module.add(commands)
    return parser
