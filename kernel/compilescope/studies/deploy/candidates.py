"""The ways to deploy a call that can be selected, and how long measuring them may take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ...analysis.graphs.repeated_blocks import differing_value, is_torchs_own
from ...isolation.global_state import changed_process_settings, contexts
from ...report import VariantReport
from ...report.measurements.deployment import BLOCKS, NESTED, DeployWay
from ...report.measurements.study_choice import StudyChoice
from ...report.variant import Variant
from ...subject.subject import describe
from ...torch_api.dynamo.compile_variant import modes
from ...torch_api.inductor.dynamic_shapes import has_nested_tensors
from ...torch_api.operators.tensors import has_other_values
from .ways import AOT, AOTI, EAGER, OTHER_WRAPPERS, REPEATED, Subject, ways

_MIN_BLOCKS = 4
"""Fewer equal blocks are not worth a change."""
_LESS_COMPILED = frozenset({EAGER, BLOCKS, REPEATED, NESTED, "lite"})
"""Ways that may compile in less time than the whole call with the settings of the variant."""


def candidates(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    report: VariantReport,
) -> list[DeployWay]:
    """Every way to deploy a call with a variant's settings, in the order of measuring."""
    return ways(report.requested, _subject(fn, args, kwargs, report))


def every_name() -> list[str]:
    """The names of the ways, of whatever call and variant."""
    subject = Subject(
        is_module=True,
        device="cpu",
        blocks="model",
        modes=modes(),
        features=frozenset(),
        names_repeated=True,
    )
    variants = (Variant(), Variant(cpp_wrapper=True))
    return list(dict.fromkeys(way.name for of in variants for way in ways(of, subject)))


def choices(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    report: VariantReport,
) -> list[StudyChoice]:
    """The ways that can be selected, with estimates; none where the study does not apply."""
    if not report.requested.uses_inductor or report.requested.target is not None:
        return []
    return [
        StudyChoice(
            name=way.name,
            title=way.title,
            why=way.why,
            estimate_s=least_s(way, report) if before is None else before,
            is_least=before is None,
        )
        for way in candidates(fn, args, kwargs, report)
        for before in [last_s(way, report)]
    ]


def last_s(way: DeployWay, report: VariantReport) -> float | None:
    """How long the last measurement of a way took (s); None if there is none."""
    return next((known.took_s for known in report.ways if known.name == way.name), None)


def least_s(way: DeployWay, report: VariantReport) -> float | None:
    """A lower bound of how long measuring a way takes (s): a compilation with empty caches.

    None if no such first call was timed, or the way may compile less than it did.
    """
    less = set(_LESS_COMPILED)
    if report.requested.cpp_wrapper:
        less |= {*OTHER_WRAPPERS.values(), AOTI}  # the first call includes building the wrapper
    first = report.compile_time
    if way.why or way.name in less or first is None or not first.cold:
        return None
    return first.total_s


def _subject(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    report: VariantReport,
) -> Subject:
    is_module = isinstance(fn, torch.nn.Module)
    features = set(dir(torch.compiler))
    if hasattr(torch.compile(lambda: None), AOT):
        features.add(AOT)
    blocks, torchs_own = blocks_of(fn) if isinstance(fn, torch.nn.Module) else ("", False)
    path = blocks.removeprefix("model").lstrip(".")
    differing = (
        differing_value(compilation, path) for compilation in report.compilations if blocks
    )
    return Subject(
        is_module=is_module,
        device=describe(fn, args, kwargs).device,
        blocks=blocks,
        blocks_are_torchs=torchs_own,
        blocks_differ=next(filter(None, differing), ""),
        modes=modes(),
        has_numbers=has_other_values(args, kwargs),
        has_nested_tensors=has_nested_tensors(args, kwargs),
        features=frozenset(features),
        contexts=contexts(),
        process_settings=changed_process_settings(),
        names_repeated=is_module and names_repeated_blocks(fn),
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
        if not is_list or len(children) < _MIN_BLOCKS or len(kinds) != 1:
            continue
        size = sum(parameter.numel() for parameter in module.parameters())
        if size > most and all(name.isidentifier() for name in path.split(".") if path):
            best, most = ".".join(filter(None, ["model", path])), size
            torchs_own = is_torchs_own(f"{kinds.pop().__module__}.")
    return best, torchs_own
