"""Compares the ways to deploy a call, each in separate processes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import torch

from ...analysis.graphs.repeated_blocks import differing_value, is_torchs_own
from ...processes.folders import temporary
from ...report.measurements.deployment import BLOCKS, NESTED, WHOLE, DeployWay
from ...report.measurements.recommendation import judge
from ...report.problem import Problem
from ...subject.subject import describe
from ...torch_api.dynamo.compile_variant import modes
from ...torch_api.operators.tensors import has_other_values
from ..context import StudyContext
from ..first_calls.processes import first_call, packed, task
from .way_process import COMMAND, Phase, WayResult
from .ways import AOT, EAGER, Subject, ways

_LEAST = 4
"""Fewer equal blocks are not worth a change."""


def study_deploy(study: StudyContext) -> None:
    """Fills in the variant's ways, row by row: what was measured before a cancel stays.

    Raises
    ------
    CompilescopeError
        The subject cannot be sent to another process.
    """
    _study_ways(study, None)


def study_blocks(study: StudyContext) -> None:
    """Fills in the ways that compile a repeated block once, beside those that are there.

    The whole call is compiled in a new process, too: the first call in this process has less to do.

    Raises
    ------
    CompilescopeError
        The subject cannot be sent to another process.
    """
    has_whole = any(way.name == WHOLE and way.cold_s is not None for way in study.report.ways)
    _study_ways(study, (BLOCKS, NESTED) if has_whole else (WHOLE, BLOCKS, NESTED))


def _study_ways(study: StudyContext, names: Sequence[str] | None) -> None:
    variant = study.report.requested
    packed_task = task(variant, packed(study))
    subject = _subject(study)
    candidates = [way for way in ways(variant, subject) if names is None or way.name in names]
    anew = {way.name for way in candidates}
    rows = [way for way in study.report.ways if names and way.name not in anew]
    for place, way in enumerate(candidates):
        if not way.why:
            _measure(study, way, packed_task, subject.device, place / len(candidates))
        rows.append(way)
        study.report.best_way = judge(rows)
        study.report.ways = list(rows)
        study.changed()


def _subject(study: StudyContext) -> Subject:
    is_module = isinstance(study.fn, torch.nn.Module)
    features = set(dir(torch.compiler))
    if hasattr(torch.compile(lambda: None), AOT):
        features.add(AOT)
    blocks, torchs_own = (
        blocks_of(study.fn) if isinstance(study.fn, torch.nn.Module) else ("", False)
    )
    path = blocks.removeprefix("model").lstrip(".")
    differing = (
        differing_value(compilation, path) for compilation in study.report.compilations if blocks
    )
    return Subject(
        is_module=is_module,
        device=describe(study.fn, study.args, study.kwargs).device,
        blocks=blocks,
        blocks_are_torchs=torchs_own,
        blocks_differ=next(filter(None, differing), ""),
        modes=modes(),
        has_numbers=has_other_values(study.args, study.kwargs),
        features=frozenset(features),
        names_repeated=is_module and names_repeated_blocks(study.fn),
    )


def names_repeated_blocks(model: object) -> bool:
    """Whether a model has the method of diffusers' models, and names the blocks it compiles."""
    has_method = callable(getattr(model, "compile_repeated_blocks", None))
    return has_method and bool(getattr(model, "_repeated_blocks", True))


def blocks_of(model: torch.nn.Module) -> tuple[str, bool]:
    """The largest list of modules of one class, as code, and whether the class is torch's own.

    The code is empty where there is no such list.
    """
    best, torchs_own, most = "", False, 0
    for path, module in model.named_modules():
        children = list(module.children())
        kinds = {type(child) for child in children}
        is_list = isinstance(module, (torch.nn.ModuleList, torch.nn.Sequential))
        if not is_list or len(children) < _LEAST or len(kinds) != 1:
            continue
        size = sum(parameter.numel() for parameter in module.parameters())
        if size > most and all(name.isidentifier() for name in path.split(".") if path):
            best, most = ".".join(filter(None, ["model", path])), size
            torchs_own = is_torchs_own(f"{kinds.pop().__module__}.")
    return best, torchs_own


def _measure(
    study: StudyContext, way: DeployWay, packed_task: bytes, device: str, fraction: float
) -> None:
    """Takes a way in up to three processes."""

    def process(phase: Phase, code: str, caches: Path, folder: Path) -> WayResult:
        study.monitor.step(f"{way.name}, {phase}", variant=study.report.name, fraction=fraction)
        header = {
            "phase": phase,
            "code": code,
            "is_eager": way.name == EAGER,
            "ship": way.ship_code if phase == "cold" else "",
            "folder": str(folder),
            "device": device,
        }
        answer = first_call(study, COMMAND, packed_task, caches, header)
        if isinstance(answer, Problem):
            return WayResult(problem=answer)
        return msgspec.json.decode(answer, type=WayResult)

    with temporary("deploy") as place:
        caches, empty, folder = (place / name for name in ("caches", "empty", "shipped"))
        for directory in (caches, empty, folder):
            directory.mkdir()
        if way.name != EAGER:
            cold = process("cold", way.code, caches, folder)
            way.cold_s, way.problem = cold.first_s, cold.problem
            way.ships, way.ship_bytes = list(cold.ships), sum(cold.ships.values()) or None
            way.shipped_why = cold.ship_problem or way.shipped_why
            if way.problem is not None:
                return
            if cold.ships:
                shipped = process("shipped", way.load_code, empty, folder)
                way.shipped_s, way.shipped_accurate = shipped.first_s, shipped.accurate
                way.comparison = shipped.comparison and f"as shipped, {shipped.comparison}"
                if shipped.problem is not None:
                    way.shipped_why = shipped.problem.what
        cached = process("cached", way.code, caches, folder)
        if way.name == EAGER:
            way.cold_s = cached.first_s
        else:
            way.cached_s = cached.first_s
        way.problem = cached.problem
        way.call_us, way.call_interval_us = cached.call_us, cached.call_interval_us
        way.eager_us, way.memory_bytes = cached.eager_us, cached.memory_bytes
        way.speedup = cached.speedup if way.name != EAGER else None
        way.accurate = cached.accurate
        way.comparison = cached.comparison or way.comparison
