"""Inspects a call, measures it, and shows or reproduces parts of its report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .compiled_callers import not_in_compiled_code

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from ..report import Report
    from ..reproducers.program import Reproducer


@not_in_compiled_code
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
    fn
        A function, a method or an ``nn.Module``, or the result of ``torch.compile`` for one.
    args, kwargs
        The arguments of the call, as ``torch.export.export`` takes them: ``(x,)`` for a single
        tensor. Tensors may have any shape, dtype and device.
    variants
        Names ("python", "cpp", "eager", and the modes of the installed torch), `Variant` objects,
        or a dictionary of either whose keys are the names in the report. None: both wrappers, with
        torch's defaults, or with the settings of the ``torch.compile`` that returned ``fn``.
    run
        True: build every variant, compare its results with eager's and time it; for a variant with
        a target, compile its kernels and check them. If a panel shows the report, the time of a
        call is also broken down where that takes only seconds, as ``%%compile`` does. False:
        generate the sources of all variants from one capture, and build nothing.

    Returns
    -------
    Report
        Displays itself. Compile errors are in its ``problems``.

    Raises
    ------
    CompilescopeError
        ``fn`` is not callable or does not accept the arguments, a variant is invalid or not
        available in the installed torch, or another thread is inspecting.

    Examples
    --------
    >>> report = cs.inspect(fn, (x,), variants="cpp", run=False)
    >>> report.variant("cpp").stage
    'sources'
    """
    from ..report.argument_checks import check_flag
    from ..report.callers import line_of
    from ..session.lazy import session  # torch is loaded here, not when a saved report is opened
    from ..views.progress import Line

    check_flag("run", run)
    call = line_of(sys._getframe(2))  # of the caller of the wrapper
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


@not_in_compiled_code
def measure(report: Report, *, variants: object = None, seconds: float = 10.0) -> Report:
    """Times variants of a report, interleaved with eager, for longer than `inspect` does.

    Variants that are not built yet are built first. Measuring again adds samples to the earlier
    ones while the builds are the same. Ctrl-C ends the measurement early and keeps its samples. If
    a panel shows the report, the time of a call is also broken down where that takes only seconds.

    Parameters
    ----------
    report
        The report of a call that was inspected in this kernel.
    variants
        As for `inspect`, or names of the report's variants. None: all that can be built.
    seconds
        How long to take samples (s), not counting the builds and the warm-up.

    Returns
    -------
    Report
        The same report, with the timings. A variant that could not be built has its error in
        ``problems``.

    Raises
    ------
    CompilescopeError
        The report's call is not in this kernel, a variant does not exist, ``seconds`` is not
        positive and finite, none of the variants could be built, or another thread is inspecting.

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


@not_in_compiled_code
def chart(report: Report, what: str = "latency") -> Figure:
    """Draws a report's latencies or compile times as a Plotly chart.

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
        The chart; a notebook displays it.

    Raises
    ------
    CompilescopeError
        The chart does not exist, Plotly is not installed, or the report has no such figures.

    Examples
    --------
    >>> figure = cs.chart(report, "latency")
    >>> figure.data[0].type
    'bar'
    """
    from ..report.argument_checks import check_report, check_text
    from ..views.charts import chart as draw

    check_report(report)
    check_text("what", what, "the chart's name")
    return draw(report, what)


@not_in_compiled_code
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

    The program needs only torch. It creates inputs with the same shapes, strides and dtypes
    (indices in range), compares the results with those of torch's operators, and times the call.
    Before it is returned it runs once in a new process, unless it needs a GPU that this machine
    does not have.

    Parameters
    ----------
    report
        Any report, including a loaded one: its call is not needed.
    kernel
        The name of a generated kernel (C++, Triton) or of a library call. The report must have the
        Python wrapper that launches it.
    graph
        The stage of a graph: ``"post_grad"``, ``"dynamo"``, …; the program compiles it and compares
        it with eager. For a trace also ``"fx_graph_runnable"``, torch's own program.
    compilation
        The compilation, by torch's compile id: ``"0/0"``. None: the first that has the kernel or
        graph.
    variant
        The name of the variant. None: the first that has the kernel or graph.
    run
        Whether to run the program once.
    minify
        For a graph that fails to compile, raises an exception or gives other results than eager:
        search, for at most five minutes, for a smaller graph that fails in the same way. Without
        ``graph``, the search starts from the last graph that torch logged before the failure; if
        results differ, from the first graph that gives wrong results when compiled alone.

    Returns
    -------
    Reproducer
        ``code`` is the program, ``tried`` the outcome of its run, and ``save`` writes it to a file.

    Raises
    ------
    CompilescopeError
        Not exactly one of ``kernel`` and ``graph`` is given (``minify`` also works with neither);
        the report has no such kernel, graph, compilation or variant; the kernel or graph cannot run
        alone; or ``minify`` is set and the graph does not fail alone as it does in the report, or
        nothing failed there and no variant is given.

    Examples
    --------
    >>> program = cs.reproducer(report, graph="post_grad", run=False)
    >>> "import torch" in program.code
    True
    """
    from ..progress.progress import Progress
    from ..report.argument_checks import check_flag, check_report, check_text
    from ..reproducers.program import Request
    from ..reproducers.reproduce import reproduce
    from ..views.progress import Line

    check_report(report)
    names = {"kernel": kernel, "graph": graph, "compilation": compilation, "variant": variant}
    for parameter, name in names.items():
        check_text(parameter, name, f"the name of a {parameter}", optional=True)
    check_flag("run", run)
    check_flag("minify", minify)
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
