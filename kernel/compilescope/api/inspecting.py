"""Inspects a call, measures it, and shows or reproduces parts of its report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from ..report import Report
    from ..reproducers.program import Reproducer


def inspect(
    fn: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    variants: object = None,
    run: bool = True,
) -> Report:
    """Inspects what ``torch.compile`` generates for a call.

    The call's state is restored afterwards: parameters, gradients, buffers, random generators,
    containers, and globals that it rebinds. Functions compiled before still hit their caches.

    Parameters
    ----------
    fn, args, kwargs
        The call, as ``torch.export.export`` takes it. ``fn`` may be a function, a method, an
        ``nn.Module``, or what ``torch.compile`` returned for one.
    variants
        Names ("python", "cpp", "eager", and the modes of the installed torch), `Variant` objects,
        or a dictionary of either whose keys are the names in the report. None: both wrappers, with
        torch's defaults, or with the settings of the ``torch.compile`` that returned ``fn``.
    run
        Build every variant, check it against eager and time it; of variants for a target, compile
        and check the kernels. False: the sources only, of all variants from one capture; nothing
        is built. Where a panel shows the report, the time of a call is broken down too if that is
        a matter of seconds, as by ``%%compile``.

    Returns
    -------
    Report
        Displays itself. Compile errors are in its ``problems``.

    Raises
    ------
    CompilescopeError
        A variant that the installed torch does not have, or arguments that ``fn`` does not take.

    Examples
    --------
    >>> report = cs.inspect(fn, (x,), variants="cpp", run=False)
    >>> report.variant("cpp").stage
    'sources'
    """
    from ..report.callers import line_of
    from ..session.lazy import session  # torch is loaded here, not when a saved report is opened
    from ..views.progress import Line

    call = line_of(sys._getframe(1))
    here = session()
    # In a notebook the sidebar shows the progress, and the cell's output is the report alone.
    with Line(in_cells=False) as line:
        return here.inspect(
            fn,
            args,
            kwargs,
            variants=variants,
            run=run,
            breakdown=here.is_shown(),
            progress=line.show,
            call=call,
        )


def measure(report: Report, *, variants: object = None, seconds: float = 10.0) -> Report:
    """Times variants of a report in turns with eager, for longer than `inspect` does.

    Variants that are not built yet are built first. Measuring again adds to the samples, as long
    as the builds are the same. Ctrl-C ends the measurement early and keeps its samples. Where a
    panel shows the report, the time of a call is broken down too if that takes seconds.

    Parameters
    ----------
    report
        The report of a call that was inspected in this kernel.
    variants
        As `inspect` takes them, or names that the report has; all that can be built if None.
    seconds
        How long to take samples, after building and warming up.

    Returns
    -------
    Report
        The same report, with the timings.

    Raises
    ------
    CompilescopeError
        The report's call is not in this kernel, or there is no such variant.

    Examples
    --------
    >>> report = cs.inspect(fn, (x,), variants="python", run=False)
    >>> report = cs.measure(report, seconds=0.1)
    >>> len(report.variant("python").timing.samples_us) >= 1
    True
    """
    from ..session import requests
    from ..session.lazy import session
    from ..views.progress import Line

    here = session()
    with Line() as line:
        return requests.measure(
            here,
            report,
            variants=variants,
            seconds=seconds,
            breakdown=here.is_shown(),
            progress=line.show,
        )


def chart(report: Report, what: str = "latency") -> Figure:
    """Draws a report's figures as a Plotly chart, which a notebook displays.

    Parameters
    ----------
    report
        Any report with timings, including a loaded one.
    what
        ``"latency"``: the median latency of a call under each variant, with its 95 % interval.
        ``"compile time"``: the parts of each variant's first call, in seconds.

    Returns
    -------
    plotly.graph_objects.Figure
        The chart.

    Raises
    ------
    CompilescopeError
        There is no such chart, Plotly is not installed, or the report holds nothing to draw.

    Examples
    --------
    >>> figure = cs.chart(report, "latency")
    >>> figure.data[0].type
    'bar'
    """
    from ..views.charts import chart as draw

    return draw(report, what)


def reproducer(
    report: Report,
    *,
    kernel: str | None = None,
    graph: str | None = None,
    compilation: str | None = None,
    variant: str | None = None,
    run: bool = True,
    minify: bool = False,
) -> Reproducer:
    """Writes a standalone program that runs one kernel or one graph of a report.

    The program needs only torch. It makes inputs with the same shapes, strides and dtypes (indices
    in range), compares the results with torch's operators, and times the call. It is run once in a
    new process before it is returned, and reports the outcome; a program for a GPU that is not in
    this machine is not run.

    Parameters
    ----------
    report
        Any report, including a loaded one: its call is not needed.
    kernel
        A kernel's name: generated (C++, Triton) or a library's. The report must have its Python
        wrapper.
    graph
        A stage: ``"post_grad"``, ``"dynamo"``, …; it is compiled and compared with eager. Of a
        trace also ``"fx_graph_runnable"``, as torch wrote it.
    compilation, variant
        The compilation, by torch's compile id, and the variant. None: the first that has the
        kernel or graph.
    run
        Whether to run the program once.
    minify
        For a graph that fails to compile, raises an exception or gives other results than eager:
        search, for at most five minutes, for a smaller graph that fails in the same way. Without
        ``graph``, the search starts from the last graph that torch logged before the failure, or,
        where results differ, from the first one that gives wrong results alone.

    Returns
    -------
    Reproducer
        ``code`` is the program, ``tried`` the outcome of its run; ``save`` writes it to a file.

    Raises
    ------
    CompilescopeError
        The report has no such kernel or graph, it cannot run alone, or ``minify`` is set and the
        graph does not fail; the message says why.

    Examples
    --------
    >>> program = cs.reproducer(report, graph="post_grad", run=False)
    >>> "import torch" in program.code
    True
    """
    from ..progress.progress import Progress
    from ..reproducers.program import Request
    from ..reproducers.reproduce import reproduce
    from ..views.progress import Line

    request = Request(
        kernel=kernel,
        graph=graph,
        compilation=compilation,
        variant=variant,
        run=run,
        minify=minify,
    )
    with Line() as line:
        return reproduce(report, request, stepped=lambda step: line.show(Progress(step=step)))
