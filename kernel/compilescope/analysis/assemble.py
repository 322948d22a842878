"""Converts records to compilations: the entry point of `analysis`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..capture.records import Record
from ..report import CacheEvent, Compilation, Node, SourceLine
from ..torch_api.trace.record_names import CHROMIUM_EVENT, DYNAMO_GRAPH, GUARDS, RECOMPILE_REASONS
from .absent_artifacts import explain, uncached
from .generated_code import Generated, generate
from .graphs.decompositions import find_decompositions
from .graphs.origins import find_origins
from .graphs.stages import GraphReader, read_stages
from .guards.conditions import add_conditions
from .guards.frames import files_of, first_of_frame, frame_of
from .guards.guard_tree import GuardMemory
from .guards.reasons.logged_reasons import parse_recompile
from .guards.recompiles import Memory, follow
from .guards.symbolic_shapes.shapes import add_shapes
from .guards.symbolic_shapes.size_guards import read_size_guards, replace
from .guards.symbolic_shapes.symbol_ranges import complete_symbols
from .kernels.descriptors import add_descriptors
from .kernels.estimates.layout_copies import estimate_copies
from .kernels.inductor_units import gather
from .kernels.modules import add_modules
from .kernels.tiling import add_chosen
from .memory.layouts import find_layouts
from .memory.usage import find_memory
from .packages.ahead_of_time import add_dumped
from .parts import Parts
from .phases.caches import parse_cache
from .phases.compilations import compile_groups, epochs
from .phases.compile_time import add_phases
from .phases.phases import build_phases
from .problems.breaks import read_breaks
from .problems.failed_records import outcome_of
from .settings.autotune import add_compile_times, read_autotunings
from .target.decisions import read_decisions
from .text.sizes import read_hints
from .unread_records import unread
from .wrapper.crossings import find_crossings
from .wrapper.routes import find_routes
from .wrapper.steps import find_steps


def assemble(
    records: Sequence[Record],
    *,
    variant: str,
    nodes: Mapping[str, list[Node]] | None = None,
    memory: Memory | None = None,
    raw: bool = False,
    files: Sequence[str] = (),
    same_graphs: Mapping[str, Compilation] | None = None,
    guards: GuardMemory | None = None,
) -> list[Compilation]:
    """Make what torch did out of what it logged.

    Parameters
    ----------
    records
        In the order in which torch emitted them.
    variant
        The name of the variant they were recorded under; launches carry it.
    nodes
        Graph text → its nodes, where a live hook collected them (with module paths). Other graphs'
        nodes are read from their text.
    memory
        What earlier calls learned of frames, where one follows a process by pieces.
    raw
        Whether to keep what no view reads (`Compilation.raw`).
    files
        Full names of files that guards may come from, besides those that the records name.
    same_graphs
        Compile id → a compilation of the same lowering, for the other wrapper. Graphs with the same
        text are not read again: both compilations then share their nodes.
    guards
        Has the guards that were read before, and keeps those that are read now.

    Returns
    -------
    list of Compilation
        In the order in which torch began them. A frame that was compiled several times because of
        graph breaks shows its last attempt, with the breaks of all. After
        ``torch._dynamo.reset()`` compile ids start again, so an id may occur more than once.
    """
    reader = GraphReader(nodes or {})
    guards = guards or GuardMemory()
    compilations = []
    for epoch in epochs(records):
        phases = build_phases(epoch)
        known = [*files_of(epoch), *files]
        groups = dict(compile_groups(epoch))
        assembled = []
        for compile_id, group in groups.items():
            frame = frame_of(group) or frame_of(groups.get(first_of_frame(compile_id), ()))
            same = (same_graphs or {}).get(compile_id)
            compilation = _compilation(
                compile_id, frame, group, variant, reader, known, guards, same
            )
            add_phases(compilation, phases.pop(compile_id, []))
            if raw:
                compilation.raw = unread(group, compilation, _final(group, compilation.attempt))
            assembled.append(compilation)
        follow(assembled, groups, memory)
        compilations += assembled
    return compilations


def assemble_times(records: Sequence[Record]) -> list[Compilation]:
    """Make only the phases and the caches' answers of compilations, without code or graphs.

    Parameters
    ----------
    records
        In the order in which torch emitted them.
    """
    compilations = []
    for epoch in epochs(records):
        phases = build_phases(epoch)
        for compile_id, group in compile_groups(epoch):
            compilation = Compilation(id=compile_id, cache=_caches(group))
            add_phases(compilation, phases.pop(compile_id, []))
            if not compilation.cache:
                compilation.absent["cache"] = uncached(group)
            compilations.append(compilation)
    return compilations


def _compilation(
    compile_id: str,
    frame: SourceLine | None,
    records: Sequence[Record],
    variant: str,
    reader: GraphReader,
    files: Sequence[str],
    guard_memory: GuardMemory,
    same_graphs: Compilation | None,
) -> Compilation:
    compilation = Compilation(id=compile_id, frame=frame)
    attempt = max((r.attempt for r in records if r.event != CHROMIUM_EVENT), default=0)
    compilation.attempt = attempt
    final = _final(records, attempt)
    if same_graphs is not None:
        reader = reader.beside(same_graphs.graphs)
    graphs = read_stages(final, reader)
    units = gather(final)
    hints = read_hints(records)
    generated = generate(units, graphs, reader, variant=variant, hints=hints)
    parts = Parts(compile_id)
    with parts.analyzing("decompositions"):
        if same_graphs is not None and reader.is_same:
            compilation.decompositions = list(same_graphs.decompositions)
        else:
            mapping = next((unit.mapping for unit in units if unit.mapping), None)
            find_origins(generated.graphs, reader.collected, mapping)
            compilation.decompositions = find_decompositions(generated.graphs, reader.collected)
    _add_code(compilation, generated)
    add_dumped(compilation, records, units, variant)
    known_files = [*files, *_graph_files(compilation)]
    with parts.analyzing("guards"):
        _add_guards(compilation, records, known_files, guard_memory)
    with parts.analyzing("symbols"):
        add_shapes(compilation, records, final)
        complete_symbols(compilation)
    with parts.analyzing("autotunings"):
        compilation.autotunings = read_autotunings(records, compilation.kernels)
        add_compile_times(compilation.kernels, records)
        add_chosen(compilation.kernels, compilation.autotunings)
    with parts.analyzing("modules"):
        add_modules(compilation, generated.computed)
    with parts.analyzing("memory"):
        compilation.memory = find_memory(compilation, hints)
    with parts.analyzing("copies"):
        estimate_copies(compilation)
    with parts.analyzing("layouts"):
        compilation.layouts = find_layouts(compilation)
    with parts.analyzing("decisions"):
        compilation.decisions = read_decisions(records, compilation)
    with parts.analyzing("crossings"):
        compilation.crossings = find_crossings(compilation)
    with parts.analyzing("steps"):
        compilation.steps = find_steps(compilation)
        compilation.routes = find_routes(compilation)
    with parts.analyzing("descriptors"):
        add_descriptors(compilation)
    with parts.analyzing("breaks"):
        compilation.breaks = read_breaks(records, compilation.frame)
    compilation.outcome = outcome_of(records)
    with parts.analyzing("recompile"):
        for record in records:
            if record.name == RECOMPILE_REASONS and record.payload:
                compilation.recompile = parse_recompile(record.payload, known_files)
    compilation.cache = _caches(records)
    compilation.absent.update(explain(compilation, records))
    compilation.absent.update(parts.absent)
    return compilation


def _add_guards(
    compilation: Compilation,
    records: Sequence[Record],
    files: Sequence[str],
    memory: GuardMemory,
) -> None:
    guards = [r for r in records if r.event == GUARDS and r.payload]
    if not guards:
        return
    text = guards[-1].payload or ""
    sizes = read_size_guards(records).get(compilation.id)
    parsed = memory.parse(text if sizes is None else replace(text, sizes), files)
    compilation.guards, compilation.guard_tree = parsed.guards, parsed.managers
    add_conditions(compilation)


def _caches(records: Sequence[Record]) -> list[CacheEvent]:
    answers = (parse_cache(r.name, r.payload) for r in records if r.event == "artifact")
    return [answer for answer in answers if answer is not None]


def _final(records: Sequence[Record], attempt: int) -> Sequence[Record]:
    """The records of the last attempt's graph.

    What follows Dynamo's graph belongs to it whatever attempt it names: a backward pass that is
    compiled at its first call, and code that is generated from a capture, begin at 0 again.
    """
    for index in range(len(records) - 1, -1, -1):
        if records[index].event == DYNAMO_GRAPH:
            if records[index].attempt == attempt:
                return records[index:]
            break
    return [record for record in records if record.attempt == attempt]


def _add_code(compilation: Compilation, generated: Generated) -> None:
    compilation.graphs = generated.graphs
    compilation.code = generated.code
    compilation.kernels = generated.kernels
    compilation.absent.update(generated.absent)


def _graph_files(compilation: Compilation) -> list[str]:
    return list(
        dict.fromkeys(
            line.file
            for graph in compilation.graphs.values()
            for node in graph.nodes
            for line in node.sources
        )
    )
