"""Measures many variants and shapes, and inspects many ranks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .compiled_callers import not_in_compiled_code

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ..report import Report, Sweep, SweepCell, Variant
    from ..report.devices import Device
    from ..sweep.plan import Plan
    from ..sweep.result import SweepResult
    from ..sweep.settings import Settings


@not_in_compiled_code
def sweep(
    fn: Callable[..., Any] | None = None,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    factory: Callable[[], Any] | None = None,
    variants: object = None,
    shapes: Mapping[str, Any] | None = None,
    executor: Executor | str | None = None,
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

    Each combination of a variant and a shape is a cell. A cell compiles the variant and times it,
    interleaved with eager. It records latency, throughput, memory, compile time, accuracy, and
    settings that did not take effect. A cell that fails, crashes, or exceeds its time or memory
    limit is reported as such. Ctrl-C ends the sweep: its finished cells are in the result, and the
    next sweep reuses them.

    Parameters
    ----------
    fn, args, kwargs
        The call, as for `inspect`. It is pickled with cloudpickle.
    factory
        Instead of a call: returns ``(fn, args)`` or ``(fn, args, kwargs)`` in each process. For
        large models, and for calls that cannot be pickled.
    variants
        As for `inspect`; `grid` combines values of switches. None: every mode under both wrappers.
    shapes
        Instead of ``args`` and ``kwargs``: name → ``(args, kwargs)``, or a function that returns
        them in the cell's process. Every variant is measured with each.
    executor
        Any executor of ``concurrent.futures``, such as Dask's ``client.get_executor()``, or the
        name that `configure` gave it. None: this machine. ``"gpus"``: one cell at a time on each of
        its GPUs; its process sees only that GPU.
    workers
        Without an executor: how many cells compile at once (at least 1). They are still timed one
        at a time, while nothing compiles on that device.
    timeout_s
        The time limit of a cell (s). None: no limit.
    memory_gb
        The memory limit of all processes of a cell together (GB). None: no limit.
    seconds
        How long a cell is timed (s), including the interleaved calls of eager.
    items, unit
        How many items a call processes, and their name, for the throughput: ``32, "images"``.
    folder
        Where finished cells are stored. None: a folder for this call in torch's cache folder.
    resume
        Whether to reuse the finished cells that are stored there.
    progress
        Called in this process with the sweep and each cell whose state or step has changed.

    Returns
    -------
    SweepResult
        Displays itself: a table of all cells, the fastest one and its code. Its ``report`` is saved
        and loaded like any other.

    Raises
    ------
    CompilescopeError
        Not exactly one of ``fn`` and ``factory`` is given, the call cannot be pickled or does not
        accept the arguments, ``shapes`` is empty, a variant is invalid or has a target, there is no
        executor of that name, it is ``"gpus"`` without a GPU, or a number is not positive.

    Examples
    --------
    >>> variants = cs.grid(dynamic=(None, True))
    >>> result = cs.sweep(fn, (x,), variants=variants)          # doctest: +SKIP
    >>> print(result.code)                                    # doctest: +SKIP
    """
    from ..session.lazy import session
    from ..views.progress import Line

    the_session = session()
    from ..report.argument_checks import check_function
    from ..report.saving.path_checks import given_path
    from ..sweep.result import SweepResult
    from ..sweep.settings import Settings
    from ..sweep.wait import follow

    if progress is not None:
        check_function("progress", progress, what="a function, called with the sweep and a cell")

    settings = Settings(
        timeout_s=timeout_s,
        memory_gb=memory_gb,
        seconds=seconds,
        items=items,
        unit=unit,
        folder=None if folder is None else given_path(folder, _FOLDER),
        resume=resume,
    )
    plan = _plan(fn, args, kwargs, factory, variants, shapes, settings, "sweep({}, {})")
    report, running = the_session.sweep(plan, executor=executor, workers=workers)
    with Line() as line:
        follow(running, line.show, progress)
    return SweepResult(report)


@not_in_compiled_code
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
    """Writes a sweep to a file. ``compilescope sweep`` runs it, also in parts on several machines.

    The file contains the pickled call, which is code: run only plans that you trust.

    Parameters
    ----------
    path
        The file to write, ``plan.json``, in a folder that all of these machines can access.
    fn, args, kwargs, factory, variants, shapes, timeout_s, memory_gb, seconds, items, unit
        As for `sweep`.
    folder
        Where finished cells are stored, relative to the folder of the file. None: ``plan-cells``.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    CompilescopeError
        As for `sweep`; or the file cannot be written.

    Examples
    --------
    >>> cs.plan_sweep(folder / "plan.json", fn, (x,), variants=cs.grid()).name
    'plan.json'
    """
    from ..report.saving.path_checks import given_path
    from ..sweep import plan_file
    from ..sweep.settings import Settings

    path = given_path(path, "the file to write")
    settings = Settings(
        timeout_s=timeout_s,
        memory_gb=memory_gb,
        seconds=seconds,
        items=items,
        unit=unit,
        folder=given_path(f"{path.stem}-cells" if folder is None else folder, _FOLDER),
    )
    plan = _plan(fn, args, kwargs, factory, variants, shapes, settings, "plan_sweep(path, {}, {})")
    plan_file.write(plan, path)
    return path


@not_in_compiled_code
def grid(
    *,
    modes: Sequence[str | None] = (None,),
    cpp_wrapper: Sequence[bool] = (False, True),
    dynamic: Sequence[bool | None] = (None,),
    fullgraph: Sequence[bool] = (False,),
    options: Sequence[Mapping[str, Any]] = ({},),
) -> dict[str, Variant]:
    """Combines values of ``torch.compile``'s switches into variants, for `sweep`.

    Without arguments: the two wrappers, with torch's defaults for all other switches.

    Parameters
    ----------
    modes
        Names from ``torch._inductor.list_mode_options()``, or None for no mode.
    cpp_wrapper, dynamic, fullgraph
        Values of these switches, as in `Variant`.
    options
        Inductor settings, a dict for each set: ``({}, {"max_autotune": True})``.

    Returns
    -------
    dict
        Name → variant, for every combination.

    Raises
    ------
    CompilescopeError
        A mode or option does not exist in the installed torch, or a switch has no values.

    Examples
    --------
    >>> len(cs.grid(dynamic=(None, True)))
    4
    """
    from ..session.lazy import session

    session()
    from ..inspection.variants import check, name_of, parse
    from ..report import CompilescopeError, Variant
    from ..report.argument_checks import check_mapping, listed

    values = {
        "modes": modes,
        "cpp_wrapper": cpp_wrapper,
        "dynamic": dynamic,
        "fullgraph": fullgraph,
        "options": options,
    }
    lists = [
        listed(name, value, f"the values to combine, as a list: [{_VALUES[name]}]")
        for name, value in values.items()
    ]
    for name, switch_values in zip(values, lists, strict=True):
        if not switch_values:
            raise CompilescopeError(
                f"{name} is empty.",
                "Every variant needs a value of it.",
                f"Leave it out, or give values: [{_VALUES[name]}].",
            )
    for settings in lists[-1]:
        check_mapping("A set of options", settings, f"settings of Inductor: {_VALUES['options']}")
    variants = {}
    for mode, cpp, sizes, whole, more in itertools.product(*lists):
        variant = Variant(
            mode=None if mode == "default" else mode,
            cpp_wrapper=cpp,
            dynamic=sizes,
            fullgraph=whole,
            options=dict(more),
        )
        check(variant)
        variants[name_of(variant)] = variant
    return parse(variants)


_VALUES = {
    "modes": "None, 'max-autotune'",
    "cpp_wrapper": "False, True",
    "dynamic": "None, True",
    "fullgraph": "False, True",
    "options": "{'max_autotune': True}",
}
"""Values of a switch, as an error shows them."""


_FOLDER = "the folder for finished cells"


def _plan(
    fn: Callable[..., Any] | None,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None,
    factory: Callable[[], Any] | None,
    variants: object,
    shapes: Mapping[str, Any] | None,
    settings: Settings,
    written: str,
) -> Plan:
    """Returns the plan of a sweep; if ``variants`` is None, of every mode under both wrappers."""
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
        written=written,
    )


@not_in_compiled_code
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

    Each rank is a separate process on this machine, with the environment variables of ``torchrun``
    and a default process group. All ranks make the same calls in the same order, so that no
    collective waits for a rank that does not call it. Ctrl-C ends all ranks. In a script that
    torchrun started, on one host or several, each process inspects its own rank and returns the
    reports of all ranks.

    Parameters
    ----------
    factory
        Returns ``(fn, args)`` or ``(fn, args, kwargs)`` in each process, after the process group is
        initialized: wrap a model in ``DistributedDataParallel`` here. It is pickled with
        cloudpickle.
    size
        The number of ranks, 1 to 16. Ignored under torchrun, which sets it.
    backend
        The backend of ``torch.distributed``: ``gloo`` on the CPU, ``nccl`` with one GPU per rank.
    variants
        As for `inspect`.
    run
        True: build every variant, compare its results with eager's and time it, at the same time on
        all ranks. False: generate the sources only.
    timeout_s
        How long the processes may run (s), and how long a rank waits for the others in a
        collective.

    Returns
    -------
    list of Report
        One per rank, in rank order. ``report.rank`` has the collectives that the rank's code calls
        and its differences from the other ranks. A rank that fails has problems in its report.

    Raises
    ------
    CompilescopeError
        The factory cannot be pickled, a variant is invalid, ``size`` or ``timeout_s`` is out of
        range, torch does not have the backend, or ``nccl`` has fewer GPUs than ranks.

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


@not_in_compiled_code
def add_target(name: str, *, like: str, **figures: Any) -> Device:
    """Adds a GPU to the targets of ``Variant(target=...)``, in this process.

    Parameters
    ----------
    name
        The name of the target, such as ``"my-gpu"``. It replaces a target that was added under this
        name before.
    like
        The target from which all other figures are copied: ``"h100"``.
    **figures
        ``multiprocessors``, ``shared_per_block_bytes``, ``l2_bytes``, ``bandwidth_bytes_per_s``
        and the other fields of `compilescope.report.devices.Build`; ``products`` (matrix products)
        and ``vector`` (everything else): operations per second by dtype.

    Returns
    -------
    Device
        The target with all its figures.

    Raises
    ------
    CompilescopeError
        The name is invalid or that of a built-in target, ``like`` is not a target, a figure does
        not exist, or its value has the wrong type or is not positive.

    Examples
    --------
    >>> cs.add_target("h100-mig", like="h100", multiprocessors=60).build.multiprocessors
    60
    """
    from ..session.lazy import session

    current = session()
    from ..targets import known_devices

    added = known_devices.add(name, like=like, **figures)
    current.note_choices()
    return added
