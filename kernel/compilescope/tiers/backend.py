"""``torch.compile(model, backend="compilescope")``."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..report.argument_checks import check_flag, check_function, check_mapping, check_text
from ..report.errors import CompilescopeError
from ..report.tiers import TierName, Tiers
from ..torch_api.dynamo import compile_arguments
from ..torch_api.inductor import graph_recording
from ..torch_api.inductor.both_wrappers import compiling, requirements
from ..torch_api.inductor.both_wrappers.compiling import InterceptedGraph, Traits
from ..torch_api.trace import compile_calls, log_compile_ids
from . import graphs
from .builder import builder
from .cuda_graphs_tier import why_not_recorded
from .partners import Partners
from .shared_graphs import shared_graphs
from .tier_warning import TierWarning
from .tiered_graph import WRITABLE, TieredGraph

NAME = "compilescope"
"""The name under which ``torch.compile`` finds the backend."""
TIERS: tuple[TierName, ...] = ("python", "cpp")
"""The tiers if none are named."""
ALL_TIERS: tuple[TierName, ...] = (*TIERS, "cuda_graphs")
OPTION = "tiers"
"""The option that names the tiers; it is not an Inductor setting."""

_CUDA_GRAPHS = "CUDA graphs replay its kernels: no wrapper runs."
_COLLECTIVES = (
    "It communicates with other ranks: comparing would run its collectives once more than they do."
)
_NO_GPU = "It uses no CUDA device: there is nothing to record."
_ONLY_PYTHON = (
    "no graph has tiers: the Python wrapper is the only one, as tiers=('python',) asks for."
)
_ONLY_CPP = (
    "no graph has tiers: with cpp_wrapper=True the first call compiles the C++ wrapper, as with "
    "the backend 'inductor'. Leave it out for a Python wrapper first."
)
_OTHER_BACKEND = (
    "no graph has tiers: torch.compile was called with the backend {!r}. Tiers need "
    'torch.compile(…, backend="compilescope") or compilescope.tiered.'
)
_EVICTED = (
    "torch had its Python wrapper in its caches, but the graph is no longer in the folder "
    "compilescope/tiers next to them: with an empty cache folder both are written again."
)


def compile_graph(
    graph: Any,
    inputs: Sequence[Any],
    *,
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Any:
    """Compiles a Dynamo graph with the Python wrapper, and requests a build of the C++ wrapper.

    ``torch.compile`` calls it.

    Parameters
    ----------
    graph, inputs
        As Dynamo gives them to a backend.
    mode, options
        As ``torch.compile`` was given them, for Inductor. The option ``tiers`` belongs to this
        backend: ``("python",)`` builds only the Python wrapper, and ``("python", "cpp",
        "cuda_graphs")`` records CUDA graphs of the C++ wrapper.

    Raises
    ------
    CompilescopeError
        The tiers do not exist.
    RuntimeError
        Inductor has no such mode or option.
    """
    inductor_options = dict(options or {})
    tiers = parse(inductor_options.pop(OPTION, TIERS))
    settings = compiling.settings_of(mode, inductor_options)
    # An inspection shows and times the first tier: nothing may swap it meanwhile.
    is_single = len(tiers) == 1 or compiling.is_cpp(settings) or log_compile_ids.is_inspection()
    if is_single or not _is_supported():
        return compiling.compile_plainly(graph, inputs, settings)
    records = tiers == ALL_TIERS
    why_not = graph_recording.overridden(graph) if records else ""
    return compiling.compile_noticing(
        graph, inputs, settings, _receiver(graph, records, why_not), records=records
    )


def parse(tiers: object) -> tuple[str, ...]:
    """The names of tiers.

    Raises
    ------
    CompilescopeError
        The tiers do not exist, or are in the wrong order.
    """
    names = tuple(tiers) if isinstance(tiers, (tuple, list)) else ()
    if not names or names != ALL_TIERS[: len(names)]:
        raise CompilescopeError(
            f"tiers is {tiers!r}.",
            "The first tier is the Python wrapper, the second the C++ wrapper, the third its CUDA "
            "graphs.",
            f"Give {TIERS!r}, {ALL_TIERS!r}, or {TIERS[:1]!r} for no second tier.",
        )
    return names


def tiered(
    model: Any,
    *,
    tiers: object = TIERS,
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> Any:
    """``torch.compile`` with this backend."""
    import torch

    check_function("model", model)
    if isinstance(model, type):
        raise CompilescopeError(
            f"model is the class {model.__name__}.", remedy="Give an instance of it, or a function."
        )
    for name in ("dynamic", "fullgraph"):
        if arguments.get(name) is not None:
            check_flag(name, arguments[name])
    if "backend" in arguments:
        raise CompilescopeError(
            "Tiers are a backend of their own.",
            remedy="Leave backend out, or call torch.compile(model, backend=…) without tiers.",
        )
    check_text("mode", mode, "a mode of torch.compile", optional=True)
    check_mapping("options", options, "settings of Inductor: {'max_autotune': True}", optional=True)
    names = parse(tiers)
    compiling.register(NAME, compile_graph)
    all_options: dict[str, Any] = dict(options or {})
    others = {OPTION, *compiling.NO_SETTINGS} & all_options.keys()
    # torch.compile checks them at once only for the backend "inductor".
    settings = compiling.settings_of(
        mode, {name: value for name, value in all_options.items() if name not in others}
    )
    if OPTION in others:
        parse(all_options[OPTION])
    if names != TIERS:
        # torch.compile takes a mode or options, and not both.
        kept = {name: all_options[name] for name in others}
        all_options, mode = {**settings, **kept, OPTION: names}, None
    return torch.compile(model, backend=NAME, mode=mode, options=all_options or None, **arguments)


def tiers_of(compiled: Any = None) -> Tiers:
    """The current state of the graphs: of a result of ``torch.compile``, or of this process.

    Raises
    ------
    CompilescopeError
        It is not a result of ``torch.compile``.
    """
    if compiled is None:
        return Tiers(graphs=[graph.report() for graph in graphs.every()])
    own, shared = _graphs_used(compiled)
    states = [graph.report() for graph in own]
    states += [graph.report(is_shared=True) for graph in shared]
    return Tiers(graphs=states, why="" if states else _why_none(compiled))


def _graphs_used(compiled: Any) -> tuple[list[TieredGraph], list[TieredGraph]]:
    """The graphs that were compiled for it, and those that it shares."""
    context = compile_calls.context_of(compiled)
    if context is None:
        raise CompilescopeError(
            f"This {type(compiled).__name__} is not compiled.",
            "Tiers belong to what torch.compile returned.",
            'Give what compilescope.tiered or torch.compile(…, backend="compilescope") returned.',
        )
    return graphs.graphs_of(context), shared_graphs(compiled, context)


def _why_none(compiled: Any) -> str:
    """Why no graph of a result of ``torch.compile`` can have tiers; empty if its graphs can."""
    arguments = compile_arguments.written(compiled)
    if arguments is None:
        return ""
    variant = arguments.variant
    if variant.backend != NAME:
        return _OTHER_BACKEND.format(variant.backend)
    if parse(variant.options.get(OPTION, TIERS)) == TIERS[:1]:
        return _ONLY_PYTHON
    return _ONLY_CPP if compiling.is_cpp(variant.options) else ""


def pin_tier(compiled: Any, tier: TierName | None) -> Tiers:
    """Pins graphs to a tier; see `compilescope.pin_tier`.

    Raises
    ------
    CompilescopeError
        The tier cannot be pinned, or ``compiled`` is not a result of ``torch.compile`` or has no
        graphs with tiers.
    """
    if tier not in (None, *TIERS):
        raise CompilescopeError(
            f"{tier!r} cannot be pinned.",
            "The last tier is used automatically once its results have been checked.",
            f"Give {TIERS[0]!r} to keep the Python wrapper, {TIERS[1]!r} to turn CUDA graphs off, "
            "or None to unpin.",
        )
    check_function("compiled", compiled)
    own, shared = _graphs_used(compiled)
    # A torch without support for tiers warns at the first call; a pin need not fail there, too.
    if not own and not shared and not requirements.missing():
        raise _nothing_to_pin(compiled)
    for graph in (*own, *shared):
        graph.pin(tier)
    return tiers_of(compiled)


def _nothing_to_pin(compiled: Any) -> CompilescopeError:
    why = _why_none(compiled)
    if why:
        return CompilescopeError(f"There is nothing to pin: {why}")
    return CompilescopeError(
        "There is nothing to pin: no graph with tiers is compiled.",
        "Graphs that are compiled later are not pinned.",
        "Call it first, so that its graphs are compiled.",
    )


def _receiver(graph: Any, records: bool, why_not: str) -> Callable[[InterceptedGraph], None]:
    """Collects the graphs of one call of the backend."""
    context = compile_calls.current_context()
    # torch keeps this function to compile a backward later: it must not keep the model alive.
    owner = weakref.ref(context) if context is not None else lambda: None
    partners = Partners(compiling.dynamo_name(graph))

    def receive(intercepted: InterceptedGraph) -> None:
        tiered_graph = TieredGraph(intercepted, partners, records=records)
        graphs.add(owner(), tiered_graph)
        if records:
            _plan_graphs(tiered_graph, intercepted, why_not)
        _plan(tiered_graph, intercepted)
        tiered_graph.notify()

    return receive


def _plan_graphs(graph: TieredGraph, intercepted: InterceptedGraph, why_not: str) -> None:
    """Decides about CUDA graphs as far as possible before the C++ wrapper is built."""
    if not graph_recording.is_on_gpu(intercepted.compiled):
        graph.cuda_graphs.refuse(_NO_GPU)
    elif lacks := graph_recording.missing():
        graph.cuda_graphs.fail(f"This torch lacks {lacks}. Another version of torch has it.")
    elif why_not:
        graph.cuda_graphs.refuse(why_not_recorded(why_not))
    else:
        graph.cuda_graphs.join_partners()


def _plan(graph: TieredGraph, intercepted: InterceptedGraph) -> None:
    """Decides where a graph's second tier comes from."""
    if intercepted.has_cuda_graphs:
        graph.decline(_CUDA_GRAPHS)
        return
    if intercepted.has_collectives:
        graph.decline(_COLLECTIVES)
        return
    if graph.files.is_checked and graph.serve_cached():
        return
    if graph.reject_as_before():
        return
    packed = intercepted.packed
    if packed is not None and not packed.data:
        graph.store(lambda: graph.files.note_unsendable(packed.why))
        graph.fail_to_send(packed.why)
        return
    try:
        if packed is not None:
            graph.files.write_job(packed.data, intercepted.traits or Traits())
    except OSError as error:
        graph.fail_to_build(f"Its graph cannot be saved: {error}.", remedy=WRITABLE)
        return
    if not graph.files.job.exists():
        graph.fail_to_send(graph.files.why_unsendable() or _EVICTED)
        return
    graph.prepare()
    builder().submit(graph)


_is_warned = False


def _is_supported() -> bool:
    """Whether this torch supports tiers; warns once if it does not."""
    global _is_warned
    lacks = requirements.missing()
    if lacks and not _is_warned:
        _is_warned = True
        warnings.warn(
            f"This torch cannot compile in tiers: it lacks {lacks}. The backend compilescope "
            "compiles as the backend inductor does. Another version of torch has it.",
            TierWarning,
            stacklevel=2,
        )
    return not lacks
