"""Exports a call, compiles it into a package with AOTInductor, and loads and calls the package.

Relies on ``torch.export`` (export), on ``torch._inductor``
(aoti_compile_and_package, aoti_load_package, ``AOTICompiledModel.loader``; ``package.package_aoti``
and ``cpp_builder.CppBuilder.build``, to time them) and on ``torch._inductor.cpu_vec_isa``
(valid_vec_isa_list, supported_vec_isa_list, VecISA): the same in 2.11 to 2.15.

Call the functions that export and compile in a separate process: they leave settings and caches
behind.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import torch._inductor.package as inductor_package
from torch import nn
from torch._inductor import cpp_builder, cpu_vec_isa
from torch.utils import _pytree as pytree

from ...report.problem import Problem
from ..failures import failures
from ..process.patching import patched
from .dynamic_shapes import dynamic_shapes

SOURCES = {"aot_inductor.package_cpp_only": True, "aot_inductor.precompile_headers": False}
"""Settings with which the package holds sources and build commands, and torch builds nothing."""


@dataclasses.dataclass(frozen=True)
class Exported:
    """A call as ``torch.export`` captured it."""

    program: Any
    strict: bool
    """Whether Dynamo traced it; otherwise Python ran it on fake tensors."""
    inputs: list[str]
    """One line per input."""
    outputs: list[str]
    dynamic: list[tuple[str, int, int | None]]
    """Symbols with their ranges; None means no limit."""
    state: list[str]
    """Names of the parameters and buffers that it reads."""


@dataclasses.dataclass(frozen=True)
class Loaded:
    """A loaded package and the ways to call it."""

    call: Callable[..., Any]
    """Called with the subject's arguments."""
    run: Callable[[], Any]
    """The loader alone, which takes a list of tensors, as C++ would call it."""


def export(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    modules: Mapping[str, nn.Module],
    *,
    dynamic: bool,
) -> Exported:
    """Exports a call for inference.

    Parameters
    ----------
    modules
        Modules that ``fn`` uses, by name, if it is not a module itself: their parameters stay
        parameters.
    dynamic
        Whether sizes of the tensors may change. Every size that can become dynamic does.

    Raises
    ------
    Exception
        Whatever ``torch.export`` raises, after both of its ways of tracing failed.
    """
    module = fn if isinstance(fn, nn.Module) else _as_module(fn, modules)
    first: Exception | None = None
    for strict in (False, True):
        try:
            with torch.no_grad():
                program = torch.export.export(
                    module,
                    tuple(args),
                    dict(kwargs),
                    dynamic_shapes=dynamic_shapes(args, kwargs) if dynamic else None,
                    strict=strict,
                )
        except Exception as error:  # noqa: BLE001 - it is raised below
            first = first or error
            continue
        return _exported(program, strict)
    assert first is not None, "it ended otherwise"
    raise first


def package(program: Any, path: Path, settings: Mapping[str, Any]) -> dict[str, float]:
    """Compiles an exported call into a package at ``path``, and times the parts (seconds)."""
    spans: dict[str, list[tuple[float, float]]] = {"C++ build": [], "packaging": []}

    def timed(name: str) -> Callable[..., Any]:
        def call(original: Any, *args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return original(*args, **kwargs)
            finally:
                spans[name].append((start, time.perf_counter()))

        return call

    start = time.perf_counter()
    with (
        patched(cpp_builder.CppBuilder, "build", timed("C++ build")),
        patched(inductor_package, "package_aoti", timed("packaging")),
    ):
        torch._inductor.aoti_compile_and_package(
            program, package_path=str(path), inductor_configs=dict(settings)
        )
    total = time.perf_counter() - start
    apart = {name: _union(intervals) for name, intervals in spans.items() if intervals}
    return {"code generation": max(total - sum(apart.values()), 0.0), **apart}


def load(path: Path, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Loaded:
    """Loads a package, ready for the call."""
    model: Any = torch._inductor.aoti_load_package(str(path))
    specification, _ = model.loader.get_call_spec()
    order = pytree.treespec_loads(specification)
    call_inputs = (tuple(args), _ordered(dict(kwargs), order))
    tensors = [leaf for leaf in pytree.tree_leaves(call_inputs) if isinstance(leaf, torch.Tensor)]
    run = model.loader.run
    return Loaded(call=model, run=lambda: run(tensors))


def refusal(error: BaseException) -> Problem:
    """Why ``torch.export`` refused a subject."""
    explanation = failures.explain(error)
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    return Problem(
        severity="error",
        what="torch.export refuses the subject.",
        why=" ".join(lines[:3]) or type(error).__name__,
        remedy="Compiled ahead of time, a call must be one graph whatever the values of its "
        "tensors: use torch.where or torch.cond in place of a branch, and tensors in place of "
        "numbers taken out of them.",
        where=explanation.where,
        detail=explanation.detail,
    )


def vector_sets() -> list[str]:
    """The vector instructions that the C++ compiler and this machine support, by torch's names."""
    return [type(vec_isa).__name__ for vec_isa in cpu_vec_isa.valid_vec_isa_list()]


def trust(sets: Sequence[str]) -> None:
    """Makes torch assume, for the rest of the process, exactly these vector instructions.

    Otherwise it builds a library for each to find out, once in every process with an empty cache.
    """
    kinds: set[Any] = {type(isa) for isa in cpu_vec_isa.supported_vec_isa_list}
    for kind in kinds:
        kind.__bool__ = _always(kind.__name__ in sets)


def _always(answer: bool) -> Callable[[Any], bool]:
    return lambda self: answer


def _as_module(fn: Callable[..., Any], modules: Mapping[str, nn.Module]) -> nn.Module:
    """A module that calls a function; ``torch.export`` accepts only modules."""

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    # A callable without a signature, or with an argument of this name, keeps plain names.
    with contextlib.suppress(TypeError, ValueError):
        self_parameter = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
        parameters = inspect.signature(fn).parameters.values()
        forward.__signature__ = inspect.Signature([self_parameter, *parameters])  # type: ignore[attr-defined]
    around: nn.Module = type("Subject", (nn.Module,), {"forward": forward})()
    for name, module in modules.items():
        around.add_module(name, module)
    return around


def _exported(program: Any, strict: bool) -> Exported:
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    signature = program.graph_signature
    return Exported(
        program=program,
        strict=strict,
        inputs=[
            _described(input_spec.arg, values)
            for input_spec in signature.input_specs
            if input_spec.kind.name == "USER_INPUT"
        ],
        outputs=[
            _described(output_spec.arg, values)
            for output_spec in signature.output_specs
            if output_spec.kind.name == "USER_OUTPUT"
        ],
        dynamic=[
            (str(symbol), _bound(bounds.lower) or 0, _bound(bounds.upper))
            for symbol, bounds in program.range_constraints.items()
        ],
        state=[
            input_spec.target
            for node, input_spec in zip(program.graph.nodes, signature.input_specs, strict=False)
            if input_spec.kind.name in ("PARAMETER", "BUFFER") and node.users
        ],
    )


def _described(argument: Any, values: Mapping[str, Any]) -> str:
    """Describes an input or an output in one line."""
    if hasattr(argument, "value"):
        return f"{argument.name}: {argument.value!r}, a constant from now on"
    value = values.get(argument.name)
    if not isinstance(value, torch.Tensor):
        return f"{argument.name}: {type(value).__name__}"
    sizes = ", ".join(str(size) for size in value.shape)
    dtype = str(value.dtype).removeprefix("torch.")
    return f"{argument.name}: {dtype}[{sizes}] {value.device.type}"


def _bound(value: Any) -> int | None:
    """A bound of a sympy range; None if there is none."""
    return int(value) if getattr(value, "is_Integer", False) else None


def _ordered(kwargs: dict[str, Any], specification: Any) -> dict[str, Any]:
    """Keyword arguments in the order in which the package takes them."""
    names = specification.children()[1].context
    return {name: kwargs[name] for name in names if name in kwargs}


def _union(spans: Sequence[tuple[float, float]]) -> float:
    """The total time that the union of some intervals covers (seconds)."""
    total, until = 0.0, 0.0
    for start, end in sorted(spans):
        total += max(end - max(start, until), 0.0)
        until = max(until, end)
    return total
