"""Options of a command that are given once: argparse takes the last value without a word."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any


class _GivenOnce(argparse.Action):
    """Stores the value of an option, and refuses a second value."""

    first: object = None
    """The value of this option in the arguments that are parsed."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Stores a value."""
        if option_string is not None and self.first is not None:
            raise argparse.ArgumentError(
                self, f"it is given twice, as {self.first} and as {values}. Leave one out."
            )
        self.first = values
        setattr(namespace, self.dest, values)


def refuse_repeated_options(parser: argparse.ArgumentParser) -> None:
    """Make options with a value an error of the parser if they are given twice.

    Parameters
    ----------
    parser
        A parser without options so far, which parses once.
    """
    for action in (None, "store"):
        parser.register("action", action, _GivenOnce)
