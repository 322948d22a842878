"""What torch.compile made of your code, inside the notebook where you wrote it.

>>> import compilescope as cs
>>> report = cs.inspect(fn, (x,))                             # doctest: +SKIP
>>> print(report.compilation("0/0").code.cpp)                 # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Python puts a package's name here when it is first imported, over a function of that name: so the
# packages come first. They are there for `from compilescope.measure import …` all the same.
from . import measure as _measure  # noqa: F401
from . import views  # noqa: F401 - reports show themselves through it
from .errors import CompilescopeError
from .report import Report
from .storage import load
from .variant import Variant
from .version import __version__

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from .compiler.what_if_result import WhatIf

__all__ = [
    "CompilescopeError",
    "Report",
    "Variant",
    "__version__",
    "inspect",
    "load",
    "measure",
    "read_trace",
    "study",
    "watch",
    "what_if",
]


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


def measure(report: Report, *, variants: object = None, seconds: float = 10.0) -> Report:
    """Times variants of a report in turns with eager, for longer than `inspect` does.

    Builds those that are not built. Measuring again goes on with the samples that there are, as
    long as the same builds are kept. Ctrl-C ends it early and loses none.

    Parameters
    ----------
    report
        Of an inspection made in this kernel.
    variants
        As `inspect` takes them, or names that the report has; all that can be built if None.
    seconds
        How long samples are taken, after building and warming up.

    Returns
    -------
    Report
        The same, with the times in it.

    Raises
    ------
    CompilescopeError
        The report's call is not in this kernel, or there is no such variant.
    """
    from . import followups
    from .loading import session
    from .views.progress import Line

    with Line() as line:
        return followups.measure(
            session(), report, variants=variants, seconds=seconds, progress=line.show
        )


def study(report: Report, *studies: str, variants: object = None) -> Report:
    """Takes a closer look at variants of a report.

    >>> cs.study(report, "layers", "kernels")                 # doctest: +SKIP

    Parameters
    ----------
    report
        Of an inspection made in this kernel.
    *studies
        ``layers``: where one call's time goes. ``kernels``: the time of every kernel launch.
        ``startups``: first calls in processes of their own, with empty and with warm caches.
        ``accuracy``: results against higher precision. All of them if none is named.
    variants
        As for `measure`; all that are built if None.

    Returns
    -------
    Report
        The same, with what was found. A study that fails is a problem of its variant.

    Raises
    ------
    CompilescopeError
        The report's call is not in this kernel, or there is no such study or variant.
    """
    from . import followups
    from .compiler.studies import STUDY_NAMES
    from .loading import session
    from .views.progress import Line

    with Line() as line:
        return followups.study(
            session(), report, studies or STUDY_NAMES, variants=variants, progress=line.show
        )


@contextmanager
def watch(*, memory_mb: float = 256.0) -> Iterator[Report]:
    """Watches whatever ``torch.compile`` compiles while the block runs, the code unchanged.

    >>> with cs.watch() as report:                            # doctest: +SKIP
    ...     train()

    Compilations, recompiles and graph breaks of every thread and library are in the report's
    ``compilations`` as soon as they are complete, also while the block runs; it is whole when the
    block ends, with or without an exception. Nothing about them is changed, and calls of what is
    compiled already cost nothing.

    Parameters
    ----------
    memory_mb
        How much the report may hold, in MB. The oldest compilations lose their texts beyond that,
        and say so.

    Raises
    ------
    CompilescopeError
        ``memory_mb`` is no positive number.
    """
    from .loading import session
    from .watcher import caller

    with session().watcher.block(memory_mb, caller()) as report:
        yield report


def read_trace(path: str | Path) -> Report:
    """What was compiled elsewhere, from what torch logged there.

    >>> cs.read_trace("traces/").save("run.compilescope.json")  # doctest: +SKIP

    Parameters
    ----------
    path
        A file that torch wrote because ``TORCH_TRACE`` was set, plain or compressed with gzip; or
        the folder that it named, of which each ``.log`` becomes a variant: one a rank, say.

    Returns
    -------
    Report
        What could not be read is in its problems.

    Raises
    ------
    CompilescopeError
        There is no such file, or no trace in the folder.
    """
    from .traces import report_of

    return report_of(path)


def what_if(call: Report | Callable[..., Any], /, *args: Any, **kwargs: Any) -> WhatIf:
    """What a call with these arguments would meet, without making it.

    >>> cs.what_if(compiled, x[:2], scale=3.0)                # doctest: +SKIP

    Nothing is run and nothing is compiled: the guards of the compilations that are there are asked,
    in the order in which torch tries them, and neither count it nor change.

    Parameters
    ----------
    call
        A function or module that was compiled (what ``torch.compile`` returned, or what it was
        given), or the report of an inspection made in this kernel.
    args, kwargs
        The arguments of the call.

    Returns
    -------
    WhatIf
        Displays itself: the compilation that would serve the call, or for each one the guard that
        fails first, with the value it expects and the one it finds. Torch's modes count as they are
        now; for a report, as they were when it was made.

    Raises
    ------
    CompilescopeError
        The arguments do not fit the call, or the report's subject is not in this kernel.
    """
    from .loading import session
    from .questions import ask_call

    return ask_call(session(), call, args, kwargs)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """``%load_ext compilescope``: the magics, and the panel's end of the line."""
    from . import magic

    magic.load_ipython_extension(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """``%unload_ext compilescope``."""
    from . import magic

    magic.unload_ipython_extension(shell)
