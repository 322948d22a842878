"""``compilescope doctor``: checks everything that torch.compile needs."""

from __future__ import annotations

import argparse

from . import files


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's options."""
    parser = commands.add_parser(
        "doctor",
        help="check the compiler, headers, Triton, caches and versions",
        description="Test everything that torch.compile needs. Exits with 1 if there is a problem.",
    )
    parser.add_argument("--json", action="store_true", help="print the checks as JSON")
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Print the checkup."""
    from .. import doctor

    checkup = doctor()
    if options.json:
        files.print_json(checkup)
    else:
        print(checkup)
    return 1 if checkup.count("problem") else 0
