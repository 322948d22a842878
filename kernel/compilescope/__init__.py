"""What torch.compile made of your code, inside the notebook where you wrote it.

>>> import compilescope as cs
>>> report = cs.inspect(fn, (x,), run=False)
>>> "async_compile" in report.compilation("0/0").code.python
True
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

# Python puts a package's name here when it is first imported, over a function of that name: so the
# packages come first. They are there for `from compilescope.measure import …` all the same.
from . import measure as _measure  # noqa: F401
from . import sweep as _sweep  # noqa: F401
from . import tiers as _tiers  # noqa: F401
from .studies.table import lists_studies
from .version import __version__

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from IPython.core.interactiveshell import InteractiveShell
    from plotly.graph_objects import Figure

    from .report import CompilescopeError, Report, Sweep, SweepCell, Variant
    from .report.checkup import Checkup
    from .report.devices import Device
    from .report.saving.storage import load
    from .report.tiers import Tiers
    from .report.what_if import WhatIf
    from .reproducers.program import Reproducer
    from .sweep.result import SweepResult

__all__ = [
    "CompilescopeError",
    "Report",
    "Variant",
    "__version__",
    "add_target",
    "budget",
    "chart",
    "configure",
    "doctor",
    "grid",
    "inspect",
    "load",
    "measure",
    "open_package",
    "pin_tier",
    "plan_sweep",
    "ranks",
    "read_trace",
    "reproducer",
    "study",
    "sweep",
    "tiered",
    "tiers",
    "watch",
    "what_if",
]

_LATE = {
    "CompilescopeError": ".report.errors",
    "Report": ".report",
    "Variant": ".report",
    "load": ".report.saving.storage",
}
"""Names that are imported on first use, so that a command can choose how its imports are made."""


def __getattr__(name: str) -> Any:
    if name in _LATE:
        globals()[name] = getattr(importlib.import_module(_LATE[name], __name__), name)
        return globals()[name]
    if name == "report":
        return importlib.import_module(".report", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *_LATE, "report"]


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
        Displays itself. What went wrong in compiling is in its problems.

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
    from .report.callers import line_of
    from .session.lazy import session  # torch is loaded here, not when a saved report is opened

    call = line_of(sys._getframe(1))
    here = session()
    return here.inspect(
        fn, args, kwargs, variants=variants, run=run, breakdown=here.is_shown(), call=call
    )


def measure(report: Report, *, variants: object = None, seconds: float = 10.0) -> Report:
    """Times variants of a report in turns with eager, for longer than `inspect` does.

    Builds those that are not built. Measuring again goes on with the samples that there are, as
    long as the same builds are kept. Ctrl-C ends it early and loses none. Where a panel shows the
    report, the time of a call is broken down too if that is a matter of seconds.

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

    Examples
    --------
    >>> report = cs.inspect(fn, (x,), variants="python", run=False)
    >>> report = cs.measure(report, seconds=0.1)
    >>> len(report.variant("python").timing.samples_us) > 1
    True
    """
    from .session import requests
    from .session.lazy import session
    from .views.progress import Line

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
        Any report with times, also a loaded one.
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
    from .views.charts import chart as draw

    return draw(report, what)


@lists_studies
def study(report: Report, *studies: str, variants: object = None) -> Report:
    """Makes extra measurements of variants of a report.

    Parameters
    ----------
    report
        Of an inspection made in this kernel.
    *studies
        Their names; if none is given, all that apply and are not "made only if named":

        {studies}
    variants
        As for `measure`; all that are built if None.

    Returns
    -------
    Report
        The same, completed. A study that fails is a problem of its variant.

    Raises
    ------
    CompilescopeError
        The report's call is not in this kernel, or there is no such study or variant.

    Examples
    --------
    >>> report = cs.inspect(fn, (x,), variants="python")
    >>> report = cs.study(report, "routes")
    >>> "routes" in report.variant("python").studied
    True
    """
    from .session import requests
    from .session.lazy import session
    from .views.progress import Line

    with Line() as line:
        return requests.study(session(), report, studies, variants=variants, progress=line.show)


def sweep(
    fn: Callable[..., Any] | None = None,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    factory: Callable[[], Any] | None = None,
    variants: object = None,
    shapes: Mapping[str, Any] | None = None,
    executor: Executor | Literal["gpus"] | None = None,
    workers: int = 1,
    timeout_s: float | None = 300.0,
    memory_gb: float | None = None,
    seconds: float = 2.0,
    items: float = 1.0,
    unit: str = "calls",
    folder: str | Path | None = None,
    resume: bool = True,
    progress: Callable[[Sweep, SweepCell], None] | None = None,
) -> SweepResult:
    """Measures a call under many variants and shapes, each cold in a process of its own.

    A cell compiles one variant with empty caches, and is measured there in turns with eager:
    latency, throughput, memory, compile time, accuracy, settings that torch carried out otherwise.
    One that fails, crashes, or runs out of time or memory is a row that says so. Ctrl-C ends the
    sweep: the cells that are finished are in the result, and kept for the next time.

    Parameters
    ----------
    fn, args, kwargs
        The call, as for `inspect`. It goes to the processes by cloudpickle.
    factory
        Makes ``(fn, args)`` or ``(fn, args, kwargs)`` in each process, in place of a call: for
        large models, and for what cannot be pickled.
    variants
        As for `inspect`; `grid` makes combinations of switches. Every mode under both wrappers if
        None.
    shapes
        Name → ``(args, kwargs)``, or a function that makes them where they are needed; every
        variant is measured on each. In place of ``args`` and ``kwargs``.
    executor
        Any of ``concurrent.futures``: a Dask ``client.get_executor()``. This machine if None;
        ``"gpus"`` is a process at a time on each of its GPUs, and each sees its GPU alone.
    workers
        Without an executor, how many cells are compiled at once. They are measured one at a time
        all the same, while nothing compiles on that device.
    timeout_s, memory_gb
        What a cell may take, in seconds and in GB of all its processes together; None is no limit.
    seconds
        How long a cell is timed, eager's share included.
    items, unit
        How many things a call works on, and what they are called, for the throughput.
    folder
        Where finished cells are kept; a folder of this call in torch's cache folder if None.
    resume
        Take over the finished cells that are kept there.
    progress
        Called here with the sweep and each cell that has moved on.

    Returns
    -------
    SweepResult
        Displays itself: a table, the winner and its code. Its ``report`` saves and loads as all do.

    Raises
    ------
    CompilescopeError
        The call cannot be pickled, a variant is none, or a number is out of range.

    Examples
    --------
    >>> variants = cs.grid(dynamic=(None, True))
    >>> result = cs.sweep(fn, (x,), variants=variants)          # doctest: +SKIP
    >>> print(result.code)                                    # doctest: +SKIP
    """
    from .session.lazy import session
    from .views.progress import Line

    the_session = session()
    from .inspection.variants import parse
    from .processes.runner import Limits
    from .sweep.grid import every_mode
    from .sweep.grid import grid as combinations
    from .sweep.plan import make
    from .sweep.result import SweepResult
    from .sweep.wait import follow

    plan = make(
        fn,
        args,
        kwargs,
        factory=factory,
        variants=combinations(modes=every_mode()) if variants is None else parse(variants),
        shapes=shapes,
        limits=Limits(
            timeout_s=timeout_s, memory_bytes=None if memory_gb is None else memory_gb * 1e9
        ),
        seconds=seconds,
        items=items,
        unit=unit,
        folder=None if folder is None else Path(folder),
        resume=resume,
    )
    report, running = the_session.sweep(plan, executor=executor, workers=workers)
    with Line() as line:
        follow(running, line.show, progress)
    return SweepResult(report)


def plan_sweep(
    path: str | Path,
    fn: Callable[..., Any] | None = None,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    factory: Callable[[], Any] | None = None,
    variants: object = None,
    shapes: Mapping[str, Any] | None = None,
    timeout_s: float | None = 300.0,
    memory_gb: float | None = None,
    seconds: float = 2.0,
    items: float = 1.0,
    unit: str = "calls",
    folder: str | Path | None = None,
) -> Path:
    """Writes a sweep to a file, for ``compilescope sweep`` to run, in parts on several machines.

    The file holds the call, pickled: run only plans that you trust.

    Parameters
    ----------
    path
        The file, ``plan.json``, in a folder that all of the machines see.
    fn, args, kwargs, factory, variants, shapes, timeout_s, memory_gb, seconds, items, unit
        As for `sweep`.
    folder
        Where finished cells are kept; relative to the file's own folder. ``plan-cells`` if None.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    CompilescopeError
        As for `sweep`.

    Examples
    --------
    >>> cs.plan_sweep("plan.json", factory=make, variants=cs.grid())       # doctest: +SKIP
    PosixPath('plan.json')
    """
    from .inspection.variants import parse
    from .processes.runner import Limits
    from .sweep import plan_file
    from .sweep.grid import every_mode
    from .sweep.grid import grid as combinations
    from .sweep.plan import make

    path = Path(path)
    plan = make(
        fn,
        args,
        kwargs,
        factory=factory,
        variants=combinations(modes=every_mode()) if variants is None else parse(variants),
        shapes=shapes,
        limits=Limits(
            timeout_s=timeout_s, memory_bytes=None if memory_gb is None else memory_gb * 1e9
        ),
        seconds=seconds,
        items=items,
        unit=unit,
        folder=Path(f"{path.stem}-cells" if folder is None else folder),
    )
    plan_file.write(plan, path)
    return path


def ranks(
    factory: Callable[[], Any],
    size: int = 2,
    *,
    backend: str = "gloo",
    variants: object = ("python", "cpp"),
    run: bool = True,
    timeout_s: float = 300.0,
) -> list[Report]:
    """Inspects what ``torch.compile`` generates for a distributed call on every rank.

    Each rank is a separate process on this machine, with the variables that ``torchrun`` sets and
    the default process group. All ranks make the same calls in step, so none waits forever. Ctrl-C
    ends all of them. In a script that torchrun started, on one host or several, each of its
    processes inspects its own rank, and the reports of all ranks come back in each.

    Parameters
    ----------
    factory
        Makes ``(fn, args)`` or ``(fn, args, kwargs)`` in each process, where
        ``torch.distributed.get_rank()`` is known: wrap a model in ``DistributedDataParallel`` here.
        It goes to the processes by cloudpickle.
    size
        How many ranks; under torchrun, as many as it has started.
    backend
        Of ``torch.distributed``: ``gloo`` on the CPU, ``nccl`` with a GPU for each rank.
    variants
        As `inspect` takes them.
    run
        Build every variant, check it against eager and time it in step with the other ranks.
        False: the sources only.
    timeout_s
        How long the processes may take, and how long a rank waits for the others in a collective.

    Returns
    -------
    list of Report
        One per rank, in rank order. ``report.rank`` has the collectives that the rank's code calls
        and where it differs from the other ranks.

    Raises
    ------
    CompilescopeError
        The factory cannot be pickled, or there is no such backend or number of devices here.

    Examples
    --------
    >>> reports = cs.ranks(factory, size=2)                   # doctest: +SKIP
    >>> reports[0].rank.differences                           # doctest: +SKIP
    """
    from .session.lazy import session
    from .views.progress import Line

    with Line() as line:
        return session().ranks(
            factory,
            size=size,
            backend=backend,
            variants=variants,
            run=run,
            timeout_s=timeout_s,
            progress=line.show,
        )


def grid(
    *,
    modes: Sequence[str | None] = (None,),
    cpp_wrapper: Sequence[bool] = (False, True),
    dynamic: Sequence[bool | None] = (None,),
    fullgraph: Sequence[bool] = (False,),
    options: Sequence[Mapping[str, Any]] = ({},),
) -> dict[str, Variant]:
    """Combines values of switches into variants, for `sweep`.

    Switches that are not given keep torch's default, except that both wrappers are included.

    Parameters
    ----------
    modes
        Names from ``torch._inductor.list_mode_options()``, or None for no mode.
    cpp_wrapper, dynamic, fullgraph
        Values of these switches.
    options
        Sets of further settings: ``({}, {"max_autotune": True})``.

    Returns
    -------
    dict
        Name → variant.

    Examples
    --------
    >>> len(cs.grid(dynamic=(None, True)))
    4
    """
    from .session.lazy import session

    session()
    from .sweep.grid import grid as every

    return every(
        modes=modes, cpp_wrapper=cpp_wrapper, dynamic=dynamic, fullgraph=fullgraph, options=options
    )


def add_target(name: str, *, like: str, **figures: Any) -> Device:
    """Adds a GPU to the targets of ``Variant(target=...)``, for this process.

    Parameters
    ----------
    name
        The name of the target. A target that was added earlier under the name is replaced.
    like
        The target whose figures are copied, except for those that are given: ``h100``.
    **figures
        ``multiprocessors``, ``shared_per_block_bytes``, ``l2_bytes``, ``bandwidth_bytes_per_s``
        and the other fields of `compilescope.report.devices.Build`; ``products`` and ``vector`` are
        operations per second by dtype.

    Returns
    -------
    Device
        The target with all its figures.

    Raises
    ------
    CompilescopeError
        The name is taken, there is no such figure, or its value is out of range.

    Examples
    --------
    >>> cs.add_target("h100-mig", like="h100", multiprocessors=60).build.multiprocessors
    60
    """
    from .session.lazy import session

    session()
    from .targets import known_devices

    return known_devices.add(name, like=like, **figures)


def configure(*, ahead_mb: float) -> None:
    """Changes a setting of this process.

    Parameters
    ----------
    ahead_mb
        How many megabytes of wrapper code may be generated ahead, together with the wrapper that
        was requested (32). Code beyond that is generated on request. 0 turns this off.

    Raises
    ------
    CompilescopeError
        ``ahead_mb`` is negative or not a number.

    Examples
    --------
    >>> cs.configure(ahead_mb=32)
    """
    from .report.errors import CompilescopeError

    if not 0 <= ahead_mb < float("inf"):
        raise CompilescopeError(
            f"ahead_mb is {ahead_mb!r}.", remedy="Give megabytes: 32, or 0 for nothing."
        )
    from .session.lazy import session

    session()
    from .builds import ahead

    ahead.limit(ahead_mb)


def doctor() -> Checkup:
    """Checks that everything that ``torch.compile`` depends on is installed and works.

    Tries the C++ compiler, OpenMP, headers, Triton, the GPU's toolkit, cache folders, versions, the
    notebook and the environment's settings, in separate processes and within a time limit. Nothing
    is changed, installed or kept.

    Returns
    -------
    Checkup
        Displays the result of each check and, where something is wrong, what to do.

    Raises
    ------
    CompilescopeError
        torch cannot be loaded because its cache folder cannot be made.

    Examples
    --------
    >>> print(cs.doctor())                                    # doctest: +SKIP
    """
    from .session.lazy import session
    from .views.progress import Line

    session()
    from .checks.examination import Examination, kernel_info
    from .progress.progress import Progress

    examination = Examination(kernel_info=kernel_info())
    with Line() as line:
        while not examination.wait(0.2):
            now = examination.checkup()
            line.show(Progress(step=f"looking at {', '.join(now.waiting[:2])}"))
    return examination.checkup()


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
        Any report, also a loaded one: its call is not needed.
    kernel
        A kernel's name: generated (C++, Triton) or a library's. The report must have its Python
        wrapper.
    graph
        A stage: ``"post_grad"``, ``"dynamo"``, …; it is compiled and compared with eager. Of a
        trace also ``"fx_graph_runnable"``, as torch wrote it.
    compilation, variant
        Which compilation's, by torch's compile id, and which variant's; the first that has it if
        None.
    run
        Whether to run the program once.
    minify
        Of a graph that fails to compile: whether to look, for five minutes at most, for a smaller
        graph that fails in the same way. Without ``graph`` it is the last graph that torch logged
        before it failed.

    Returns
    -------
    Reproducer
        ``code`` is the program, ``tried`` the outcome of its run; ``save`` writes it to a file.

    Raises
    ------
    CompilescopeError
        The report has no such kernel or graph, or it cannot run alone, or it is to be made smaller
        and does not fail; the message says why.

    Examples
    --------
    >>> program = cs.reproducer(report, graph="post_grad", run=False)
    >>> "import torch" in program.code
    True
    """
    from .progress.progress import Progress
    from .reproducers.reproduce import reproduce
    from .views.progress import Line

    with Line() as line:
        return reproduce(
            report,
            kernel=kernel,
            graph=graph,
            compilation=compilation,
            variant=variant,
            run=run,
            minify=minify,
            stepped=lambda step: line.show(Progress(step=step)),
        )


def tiered(
    model: Callable[..., Any],
    *,
    tiers: Sequence[str] = ("python", "cpp"),
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
    **given: Any,
) -> Any:
    """``torch.compile`` that begins with the Python wrapper and goes on to the C++ wrapper.

    The C++ wrapper of each graph is built in a process of its own. Once it is ready, a call
    compares both on its inputs, and the next calls take it. If it cannot be had, or gives another
    result, the Python wrapper stays and a warning says why. ``torch.compile(model,
    backend="compilescope")`` is the same.

    Parameters
    ----------
    model
        What ``torch.compile`` takes: a module or a function.
    tiers
        ``("python",)`` builds no C++ wrapper.
    mode, options
        As ``torch.compile`` takes them.
    **given
        ``dynamic``, ``fullgraph`` and whatever else ``torch.compile`` takes.

    Returns
    -------
    Callable or Module
        What ``torch.compile`` returns.

    Raises
    ------
    CompilescopeError
        There are no such tiers.

    Examples
    --------
    >>> compiled = cs.tiered(fn, tiers=("python",))
    >>> torch.allclose(compiled(x), fn(x))
    True
    """
    from .tiers.backend import tiered as compile_tiered

    return compile_tiered(model, tiers=tiers, mode=mode, options=options, **given)


def tiers(compiled: Any = None) -> Tiers:
    """Says which wrapper serves each graph of a tiered compilation, and why.

    Parameters
    ----------
    compiled
        What `tiered` returned, or ``torch.compile`` with the backend ``compilescope``; every graph
        of this process if None.

    Returns
    -------
    Tiers
        One `GraphTiers` per graph: forward, backward and each recompile. Prints as a table.

    Raises
    ------
    CompilescopeError
        ``compiled`` is not a result of ``torch.compile``.

    Examples
    --------
    >>> compiled = cs.tiered(fn)                              # doctest: +SKIP
    >>> result = compiled(x)                                  # doctest: +SKIP
    >>> print(cs.tiers(compiled))                             # doctest: +SKIP
    """
    from .tiers.backend import tiers_of

    return tiers_of(compiled)


def pin_tier(compiled: Any, tier: str | None) -> Tiers:
    """Has the graphs of a tiered compilation stay with the Python wrapper, or ends that.

    >>> cs.pin_tier(compiled, "python")                       # doctest: +SKIP

    The C++ wrapper is built all the same. Graphs that are compiled later are not pinned.

    Parameters
    ----------
    compiled
        What `tiered` returned, or ``torch.compile`` with the backend ``compilescope``.
    tier
        ``"python"``; or None: the C++ wrapper serves as soon as it is built and checked.

    Returns
    -------
    Tiers
        The graphs as they stand now.

    Raises
    ------
    CompilescopeError
        The tier cannot be pinned, or ``compiled`` is nothing that ``torch.compile`` returned.
    """
    from .tiers.backend import pin_tier as pin

    return pin(compiled, tier)


@contextmanager
def watch(*, memory_mb: float = 256.0) -> Iterator[Report]:
    """Records everything that ``torch.compile`` compiles while the block runs.

    Compilations, recompiles and graph breaks of every thread and library appear in the report's
    ``compilations`` as soon as they are complete. The report is complete when the block ends, with
    or without an exception. The compilations are not changed, and calls of code that is already
    compiled cost nothing.

    Parameters
    ----------
    memory_mb
        The memory limit of the report, in MB. Beyond it, the oldest compilations lose their texts
        and say so.

    Yields
    ------
    Report
        The compilations so far.

    Raises
    ------
    CompilescopeError
        ``memory_mb`` is not a positive number.

    Examples
    --------
    >>> with cs.watch() as report:
    ...     result = torch.compile(fn)(x)
    >>> len(report.compilations)
    1
    """
    from .jobs.watch_switch import caller
    from .session.lazy import session

    with session().watcher.block(memory_mb, caller()) as report:
        yield report


@contextmanager
def budget(
    *,
    compilations: int | None = None,
    recompiles: int | None = None,
    graph_breaks: int | None = None,
    kernels: int | None = None,
    guards: int | None = None,
    compile_seconds: float | None = None,
    page: str | Path | None = None,
) -> Iterator[Report]:
    """Raises an error if the block compiles more than its budget.

    Records the block as `watch` does. Code that was compiled earlier and is only called in the
    block does not count. The pytest plugin does the same for tests marked ``compilescope``.

    Parameters
    ----------
    compilations, recompiles, graph_breaks, kernels, guards, compile_seconds
        Upper limits; None is no limit. A graph break counts once for each place in the code;
        kernels, guards and seconds are summed over all compilations.
    page
        An ``.html`` file that is written if a limit is exceeded.

    Yields
    ------
    Report
        What is compiled, as it happens.

    Raises
    ------
    BudgetError
        An ``AssertionError`` that says which limit is exceeded, by how much, and where in the code.
    CompilescopeError
        A limit is negative or no number.

    Examples
    --------
    >>> compiled = torch.compile(fn)
    >>> with cs.budget(recompiles=0, graph_breaks=0):
    ...     result = compiled(x)
    """
    from .budgets.budget import Budget, check

    limits = Budget(
        compilations=compilations,
        recompiles=recompiles,
        graph_breaks=graph_breaks,
        kernels=kernels,
        guards=guards,
        compile_seconds=compile_seconds,
    )
    with watch() as report:
        yield report
    check(limits, report, None if page is None else Path(page))


def read_trace(path: str | Path) -> Report:
    """Reads a report from torch's structured trace of another process.

    Parameters
    ----------
    path
        A file that torch wrote because ``TORCH_TRACE`` was set, plain or compressed with gzip. Or
        the folder that ``TORCH_TRACE`` named: each ``.log`` in it, such as that of a rank, becomes
        a variant. Or an address of either (``s3://…``), if fsspec is installed.

    Returns
    -------
    Report
        Its problems say what could not be read.

    Raises
    ------
    CompilescopeError
        There is no such file, or no trace in the folder.

    Examples
    --------
    >>> cs.read_trace(trace).subject.kind
    'trace'
    """
    from .readers.remote import located
    from .readers.trace import report_of

    with located(path) as local:
        return report_of(local)


def open_package(path: str | Path) -> Report:
    """Reads the contents of a package that AOTInductor compiled.

    The file is read as an archive: nothing in it is loaded, unpickled or run.

    Parameters
    ----------
    path
        A ``.pt2`` file that ``torch._inductor.aoti_compile_and_package`` wrote, built or of sources
        alone.

    Returns
    -------
    Report
        Each model of the package is a variant: its code, kernels, files, constants and metadata.

    Raises
    ------
    CompilescopeError
        The file does not exist, is not a package, or is damaged.

    Examples
    --------
    >>> report = cs.open_package("model.pt2")                 # doctest: +SKIP
    """
    from .readers.package import report_of

    return report_of(path)


def what_if(call: Report | Callable[..., Any], /, *args: Any, **kwargs: Any) -> WhatIf:
    """Predicts whether a call would reuse a compilation or recompile, without making the call.

    Nothing is run or compiled. The guards of the existing compilations are evaluated in the order
    in which torch tries them; this changes neither them nor their counters.

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
        The compilation that the call would reuse; or for each compilation the guard that fails
        first, the value it expects and the value it would find. Torch's modes count as they are
        now, or for a report as they were at its inspection.

    Raises
    ------
    CompilescopeError
        The arguments do not fit the call, or the report's subject is not in this kernel.

    Examples
    --------
    >>> compiled = torch.compile(fn)
    >>> result = compiled(x)
    >>> cs.what_if(compiled, x).verdict
    'reuse'
    """
    from .session.lazy import session
    from .session.what_if import ask_call

    return ask_call(session(), call, args, kwargs)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """``%load_ext compilescope``: registers the magics and connects the panel."""
    from .notebook import magic

    magic.load_ipython_extension(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """``%unload_ext compilescope``."""
    from .notebook import magic

    magic.unload_ipython_extension(shell)
