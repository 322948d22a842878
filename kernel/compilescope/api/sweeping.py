"""Measures many variants and shapes, and inspects many ranks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ..report import Report, Sweep, SweepCell, Variant
    from ..report.devices import Device
    from ..sweep.plan import Plan
    from ..sweep.result import SweepResult
    from ..sweep.settings import Settings


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
    """Measures a call under many variants and shapes, each in a new process with cold caches.

    A cell compiles one variant for one shape and times it in turns with eager. It records latency,
    throughput, memory, compile time, accuracy, and settings that did not take effect. A cell that
    fails, crashes, or runs out of time or memory is reported as such. Ctrl-C ends the sweep: its
    finished cells are in the result, and the next sweep reuses them.

    Parameters
    ----------
    fn, args, kwargs
        The call, as for `inspect`. cloudpickle sends it to the processes.
    factory
        Returns ``(fn, args)`` or ``(fn, args, kwargs)`` in each process, in place of a call: for
        large models, and for calls that cannot be pickled.
    variants
        As for `inspect`; `grid` makes combinations of switches. None: every mode under both
        wrappers.
    shapes
        Name → ``(args, kwargs)``, or a function that returns them in the cell's process; every
        variant is measured on each. In place of ``args`` and ``kwargs``.
    executor
        Any executor of ``concurrent.futures``, as a Dask ``client.get_executor()``. None: this
        machine. ``"gpus"``: one process at a time on each of its GPUs, which sees only that GPU.
    workers
        Without an executor, how many cells compile at once. They are still timed one at a time,
        while nothing compiles on that device.
    timeout_s, memory_gb
        The limits of a cell: seconds, and GB of all its processes together. None: no limit.
    seconds
        How long a cell is timed, eager's share included.
    items, unit
        How many items a call processes, and what they are called, for the throughput.
    folder
        Where finished cells are stored. None: a folder for this call in torch's cache folder.
    resume
        Reuse the finished cells that are stored there.
    progress
        Called in this process with the sweep and each cell whose state or step has changed.

    Returns
    -------
    SweepResult
        Displays itself: a table, the winner and its code. Its ``report`` is saved and loaded like
        any other.

    Raises
    ------
    CompilescopeError
        The call cannot be pickled, a variant is invalid, or a number is out of range.

    Examples
    --------
    >>> variants = cs.grid(dynamic=(None, True))
    >>> result = cs.sweep(fn, (x,), variants=variants)          # doctest: +SKIP
    >>> print(result.code)                                    # doctest: +SKIP
    """
    from ..session.lazy import session
    from ..views.progress import Line

    the_session = session()
    from ..sweep.result import SweepResult
    from ..sweep.settings import Settings
    from ..sweep.wait import follow

    settings = Settings(
        timeout_s=timeout_s,
        memory_gb=memory_gb,
        seconds=seconds,
        items=items,
        unit=unit,
        folder=None if folder is None else Path(folder),
        resume=resume,
    )
    plan = _plan(fn, args, kwargs, factory, variants, shapes, settings)
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
    """Writes a sweep to a file that ``compilescope sweep`` runs, in parts on several machines.

    The file holds the call, pickled: run only plans that you trust.

    Parameters
    ----------
    path
        The file, ``plan.json``, in a folder that all of the machines see.
    fn, args, kwargs, factory, variants, shapes, timeout_s, memory_gb, seconds, items, unit
        As for `sweep`.
    folder
        Where finished cells are stored, relative to the file's own folder. None: ``plan-cells``.

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
    from ..sweep import plan_file
    from ..sweep.settings import Settings

    path = Path(path)
    settings = Settings(
        timeout_s=timeout_s,
        memory_gb=memory_gb,
        seconds=seconds,
        items=items,
        unit=unit,
        folder=Path(f"{path.stem}-cells" if folder is None else folder),
    )
    plan = _plan(fn, args, kwargs, factory, variants, shapes, settings)
    plan_file.write(plan, path)
    return path


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
    from ..session.lazy import session

    session()
    from ..inspection.variants import name_of, parse
    from ..report import Variant

    variants = {}
    for mode, cpp, sizes, whole, more in itertools.product(
        modes, cpp_wrapper, dynamic, fullgraph, options
    ):
        variant = Variant(
            mode=None if mode == "default" else mode,
            cpp_wrapper=cpp,
            dynamic=sizes,
            fullgraph=whole,
            options=dict(more),
        )
        variants[name_of(variant)] = variant
    return parse(variants)


def _plan(
    fn: Callable[..., Any] | None,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None,
    factory: Callable[[], Any] | None,
    variants: object,
    shapes: Mapping[str, Any] | None,
    settings: Settings,
) -> Plan:
    """Returns the plan of a sweep: of every mode under both wrappers if ``variants`` is None."""
    from ..inspection.variants import parse
    from ..sweep.plan import make
    from ..torch_api.dynamo import compile_variant

    return make(
        fn,
        args,
        kwargs,
        factory=factory,
        variants=grid(modes=compile_variant.modes()) if variants is None else parse(variants),
        shapes=shapes,
        settings=settings,
    )


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
        The factory cannot be pickled, or this machine lacks the backend or the devices.

    Examples
    --------
    >>> reports = cs.ranks(factory, size=2)                   # doctest: +SKIP
    >>> reports[0].rank.differences                           # doctest: +SKIP
    """
    from ..session.lazy import session
    from ..views.progress import Line

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
    from ..session.lazy import session

    session()
    from ..targets import known_devices

    return known_devices.add(name, like=like, **figures)
