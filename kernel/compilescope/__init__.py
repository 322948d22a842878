"""What torch.compile made of your code, inside the notebook where you wrote it.

>>> import compilescope as cs
>>> report = cs.inspect(fn, (x,))                             # doctest: +SKIP
>>> print(report.compilation("0/0").code.cpp)                 # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import views  # noqa: F401 - reports show themselves through it
from .errors import CompilescopeError
from .report import Report
from .storage import load
from .variant import Variant
from .version import __version__

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["CompilescopeError", "Report", "Variant", "__version__", "inspect", "load"]


def inspect(
    fn: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    variants: object = ("python", "cpp"),
    run: bool = True,
) -> Report:
    """What ``torch.compile`` makes of a call.

    The call's state (parameters, gradients, buffers, random generators, containers, globals that it
    rebinds) is put back afterwards, and functions compiled before still hit their caches.

    Parameters
    ----------
    fn, args, kwargs
        The call, as ``torch.export.export`` takes it. ``fn`` may be a function, a method, an
        ``nn.Module``, or what ``torch.compile`` returned for one.
    variants
        Names ("python", "cpp", "eager", and the modes of the installed torch), `Variant` objects,
        or a dictionary of either by the names that the report shall use.
    run
        Build every variant, check it against eager and time it. False: the sources only, of all
        variants from one capture; nothing is built.

    Returns
    -------
    Report
        Displays itself. What went wrong in compiling is in its problems.

    Raises
    ------
    CompilescopeError
        A variant that the installed torch does not have, or arguments that ``fn`` does not take.
    """
    from .loading import session  # torch is loaded here, not when a saved report is opened

    return session().inspect(fn, args, kwargs, variants=variants, run=run)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """``%load_ext compilescope``: the magics, and the panel's end of the line."""
    from . import magic

    magic.load_ipython_extension(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """``%unload_ext compilescope``."""
    from . import magic

    magic.unload_ipython_extension(shell)
