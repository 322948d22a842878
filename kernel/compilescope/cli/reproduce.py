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
        "differ; with --minify, if it does not fail in the same way as in the report.",
    )
    parser.add_argument("file", type=files.place, help=files.FILE)
    parser.add_argument("--kernel", metavar="NAME", help="the kernel")
    parser.add_argument("--graph", metavar="STAGE", help="the graph: dynamo, joint, post_grad, …")
    parser.add_argument(
        "--minify",
        action="store_true",
        help="for a graph that fails to compile, raises an exception or gives other results than "
        "eager: search for at most five minutes for a smaller graph that fails in the same way; "
        "--graph is optional",
    )
    parser.add_argument("--compilation", metavar="ID", help="torch's compile id, such as 0/0")
    parser.add_argument("--variant", metavar="NAME", help="the variant or rank")
    parser.add_argument("--no-run", action="store_true", help="write the program and do not run it")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="the file to write, or its folder"
    )
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Write the program, and print how its run ended."""
    if (options.kernel is None) == (options.graph is None) and not options.minify:
        raise CompilescopeError(
            "A program runs one kernel or one graph.",
            remedy="Give --kernel NAME or --graph STAGE; compilescope show FILE --list has both.",
        )
    if options.minify and (options.kernel is not None or options.no_run):
        raise CompilescopeError(
            "Only a graph is made smaller, by compiling parts of it.",
            remedy="Give --minify with neither --kernel nor --no-run.",
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
    print(program.trial)
    files.print_note(f"wrote {path}, {program.size}")
    return 1 if program.tried in ("differs", "failed") else 0
