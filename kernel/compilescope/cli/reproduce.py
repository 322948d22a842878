"""``compilescope reproduce``: a standalone program of one kernel or graph of a report."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..report.errors import CompilescopeError
from . import files


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's options."""
    parser = commands.add_parser(
        "reproduce",
        help="write a standalone program of one kernel or graph, and run it once",
        description="Write a standalone program that runs one kernel or graph of a report, and run "
        "it once in a new process. The exit status is 1 if the program fails or its results "
        "differ; with --minify, if it does not fail as in the report.",
    )
    parser.add_argument("file", type=files.place, help=files.FILE)
    parser.add_argument("--kernel", metavar="NAME", help="a kernel")
    parser.add_argument("--graph", metavar="STAGE", help="a graph: dynamo, joint, post_grad, …")
    parser.add_argument(
        "--minify",
        action="store_true",
        help="of a graph that fails to compile, raises an exception or gives other results than "
        "eager: the smallest part of it that fails in the same way, looked for during five minutes "
        "at most; --graph may be left out",
    )
    parser.add_argument("--compilation", metavar="ID", help="torch's compile id, as 0/0")
    parser.add_argument("--variant", metavar="NAME", help="of this variant, or of this rank")
    parser.add_argument("--no-run", action="store_true", help="only write the program")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="the program, or a folder for it"
    )
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Write the program, and print how its run ended."""
    if (options.kernel is None) == (options.graph is None) and not options.minify:
        raise CompilescopeError(
            "A program runs one kernel or one graph.",
            remedy="Give --kernel NAME or --graph STAGE; compilescope show FILE --list has both.",
        )
    from .. import reproducer

    program = reproducer(
        files.read(options.file),
        kernel=options.kernel,
        graph=options.graph,
        compilation=options.compilation,
        variant=options.variant,
        run=not options.no_run,
        minify=options.minify,
    )
    path = program.save(options.output)
    print(program)
    files.print_note(f"wrote {path}")
    return 1 if program.tried in ("differs", "failed") else 0
