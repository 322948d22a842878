"""``compilescope viewer``: the page that opens saved reports."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..views import saved_page
from . import files


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's options."""
    parser = commands.add_parser(
        "viewer",
        help="write the page that opens saved reports by drag and drop",
        description="Write one HTML file that opens saved pages and .compilescope.json files: drop "
        "them onto it, or name one in its address (viewer.html#report=ADDRESS). It works from disk "
        "and uploads nothing.",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("compilescope-viewer.html"),
        help="the file to write (default: %(default)s)",
    )
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Write the viewer."""
    files.check_page(options.output)
    options.output.write_text(saved_page.render_viewer(), encoding="utf-8")
    print(options.output)
    return 0
