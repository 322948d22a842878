"""The command line: ``compilescope COMMAND``, or ``python -m compilescope COMMAND``.

It uses argparse, so that a training node needs no further package. Results go to standard output
and everything else to standard error, so that both can be piped. The exit status is 0 on success, 1
if a check failed, 2 if the command could not run (a wrong option, or a file that cannot be read),
and 130 after Ctrl-C. ``compilescope run`` exits with its script's status.
"""

from __future__ import annotations

import argparse
import functools
import gc
import importlib
import io
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..given_once import refuse_repeated_options
from ..measure.garbage_collection import gc_disabled
from ..version import __version__

if TYPE_CHECKING:
    import types

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
_STDOUT = 1
"""Its file descriptor."""


def run_process() -> int:
    """`main`, in a separate process that ends with it."""
    try:
        _open_closed_streams()
        _replace_what_cannot_be_written()
        if sys.argv[1:2] == ["trace"]:
            _import_msgspec()
        status = _run(sys.argv[1:], is_process=True)
    except KeyboardInterrupt:  # while the command was imported
        return 130
    if status == -signal.SIGINT:
        # Its traceback is printed. Python waits for threads, calls exit handlers and then lets the
        # signal end the process: a shell stops its loop only then.
        sys.excepthook = lambda *exception: None
        raise KeyboardInterrupt
    return status


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    arguments
        The arguments after ``compilescope``; those of this process if None.

    Returns
    -------
    int
        The exit status; ``-signal.SIGINT`` if a script that was run ended with Ctrl-C.

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
        # Imported modules stay, and collecting garbage among them takes a tenth of the time.
        without_gc.enter_context(gc_disabled())
        options = _parser(arguments[:1]).parse_args(arguments)
        is_brief = options.is_brief(options)
        if not is_brief:
            without_gc.close()
        status = _status(options)
        if is_brief and is_process:
            # Python collects garbage when that is enabled again and when it exits, each as long as
            # reading a small trace. Frozen objects are skipped.
            gc.freeze()
    return status


def _status(options: argparse.Namespace) -> int:
    """Run the command, and return the exit status."""
    from ..report.errors import CompilescopeError

    try:
        with ExitStack() as copies:
            for name in _PLACES:
                value = getattr(options, name, None)
                if isinstance(value, list):
                    value[:] = [_local_path(place, options, copies) for place in value]
                elif value is not None:
                    setattr(options, name, _local_path(value, options, copies))
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
        if (error.name or "").partition(".")[0] != "torch":
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


def _open_closed_streams() -> None:
    """Discard what is written to a stream that the shell closed (``2>&-``).

    Python has None for it, of which `print` makes standard output.
    """
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - for the whole process
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - for the whole process


def _replace_what_cannot_be_written() -> None:
    """Write a question mark for each character that a stream's encoding lacks, as ASCII lacks µ."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A stream that was opened to be read, too, and is no file cannot be changed.
            with suppress(OSError):
                stream.reconfigure(errors="replace")


def _import_msgspec() -> None:
    """Import msgspec without typing_extensions, which takes a tenth of a small trace's time.

    msgspec takes from there what `typing` has since Python 3.11, and from `typing` if there is no
    such package. Commands that run other code leave it as it is.
    """
    if sys.version_info < (3, 11) or "typing_extensions" in sys.modules:
        return
    absent = cast("types.ModuleType", None)  # `import` then fails as for an absent module
    sys.modules["typing_extensions"] = absent
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules["typing_extensions"]


class _Help(argparse.HelpFormatter):
    """Help as wide as the terminal.

    argparse asks `shutil` for the width, with each option, and shutil imports each compression that
    Python has.
    """

    def __init__(self, prog: str, **layout: Any) -> None:
        super().__init__(prog, **{"width": _columns() - 2, **layout})


@functools.cache
def _columns() -> int:
    """What `shutil.get_terminal_size` says."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(_STDOUT).columns or 80
    except OSError:  # it is no terminal
        return 80


class _Parser(argparse.ArgumentParser):
    """The parser of the command line, and of each command."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": _Help, **options})
        refuse_repeated_options(self)


def _local_path(place: str | Path, options: argparse.Namespace, copies: ExitStack) -> Path:
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
    parser = _Parser(
        prog="compilescope", description="Show what torch.compile did, without a notebook."
    )
    parser.add_argument("--version", action="version", version=f"compilescope {__version__}")
    # Whether the command ends too soon to need garbage collection; commands may override this.
    parser.set_defaults(is_brief=lambda options: False)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    named = [module for command, module in _COMMANDS.items() if command in first]
    for module in named or _COMMANDS.values():
        importlib.import_module(f".{module}", __name__).add(commands)
    return parser
