"""The errors that compilescope raises: what happened, why, and what to do."""

from __future__ import annotations

import textwrap

from .problem import Problem


def code_to_paste(calls: str) -> str:
    """Return the end of a message: code that uses compilescope, with the import it needs.

    Parameters
    ----------
    calls
        Lines that name it ``compilescope``. After ``%load_ext`` alone, that name is undefined.
    """
    return "\n\n" + textwrap.indent(f"import compilescope\n{calls}", "    ")


class CompilescopeError(ValueError):
    """A request that cannot be carried out.

    Failures of a compilation are not errors: they are problems in the report.

    Parameters
    ----------
    what, why, remedy
        One sentence each; ``why`` and ``remedy`` may be empty.

    Examples
    --------
    >>> cs.inspect(fn, (x,), variants="fast")
    Traceback (most recent call last):
    ...
    compilescope.report.errors.CompilescopeError: ...
    """

    def __init__(self, what: str, why: str = "", remedy: str = "") -> None:
        super().__init__(" ".join(part for part in (what, why, remedy) if part))
        self.problem = Problem(severity="error", what=what, why=why, remedy=remedy)
