"""``compilescope open``: a report in the browser."""

from __future__ import annotations

import argparse
import tempfile
import webbrowser
from pathlib import Path

from . import files


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's options."""
    parser = commands.add_parser(
        "open",
        help="show a report, trace or package in the browser",
        description="Write a page with all the views and open it in the browser.",
    )
    parser.add_argument("file", type=Path, help=files.FILE)
    parser.add_argument(
        "--no-browser", action="store_true", help="write the page and print its path"
    )
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Write the page to a temporary folder of this user's and open it."""
    report = files.read(options.file)
    # The browser reads it when this process may have ended: it stays until the system clears it.
    page = Path(tempfile.mkdtemp(prefix="compilescope-")) / f"{options.file.stem}.html"
    files.write(report, page)
    if options.no_browser or not webbrowser.open(page.as_uri()):
        print(page)
    return 0
