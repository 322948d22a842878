"""``compilescope open``: a report or trace in the browser."""

from __future__ import annotations

import argparse
import tempfile
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from ..report.errors import CompilescopeError
from . import files
from .lab import open_in_lab


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's options."""
    parser = commands.add_parser(
        "open",
        help="show a report, trace or package in the browser",
        description="Open a page with all views in the browser. A trace is served until Ctrl-C; "
        "its compilations are read on demand.",
    )
    parser.add_argument("file", type=files.place, help=files.FILE)
    parser.add_argument(
        "after",
        type=files.place,
        nargs="?",
        help="a second trace, from after a change; FILE is then the one from before",
    )
    parser.add_argument(
        "--follow",
        action="store_true",
        help="for a trace: update the page while the job compiles",
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="only print the path or address of the page"
    )
    parser.add_argument(
        "--port",
        type=int,
        default=0,
        help="for a trace: the port on 127.0.0.1 (default: a free one)",
    )
    parser.add_argument(
        "--lab",
        action="store_true",
        help="open it in JupyterLab instead, which must be installed",
    )
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Open the page: serve a trace's page, write a file for anything else."""
    if options.lab:
        if options.after is not None:
            raise CompilescopeError(
                "--lab opens one trace.",
                remedy="Open it alone, and choose “Compare with another trace…” there.",
            )
        return open_in_lab(
            options.file,
            is_trace=files.is_trace(options.file),
            browser=not options.no_browser,
            port=options.port,
        )
    paths = [options.file] if options.after is None else [options.file, options.after]
    if all(map(files.is_trace, paths)):
        return _serve(paths, options)
    if options.after is not None or options.follow:
        raise CompilescopeError(
            f"{'Two files are compared' if options.after else 'A file is followed'} by a page only "
            "where they are traces.",
            remedy="Give logs of TORCH_TRACE; compilescope diff compares reports.",
        )
    if files.is_page(options.file):
        return _show(options.file.resolve(), options)
    report = files.read(options.file)
    # The browser may read it after this process has ended, so it stays until the system clears it.
    page = Path(tempfile.mkdtemp(prefix="compilescope-")) / f"{options.file.stem}.html"
    files.write(report, page)
    return _show(page, options)


def _show(page: Path, options: argparse.Namespace) -> int:
    if options.no_browser or not webbrowser.open(page.as_uri()):
        print(page)
    return 0


def _serve(paths: Sequence[Path], options: argparse.Namespace) -> int:
    from ..comms.trace_answers import TraceAnswers
    from .follow import check_growth
    from .page_server import PageServer
    from .terminal import show_progress

    *before, shown = paths
    if options.follow:
        check_growth([shown])
    answers = TraceAnswers(
        shown, show_progress, before=before[0] if before else None, follow=options.follow
    )
    try:
        if not options.follow:
            files.refuse_no_trace(answers.report.variants, answers.report.problems)
        with PageServer(answers, options.port) as server:
            print(server.url, flush=True)
            files.print_note("the page is served until Ctrl-C")
            if not options.no_browser:
                webbrowser.open(server.url)
            server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        answers.close()
    return 0
