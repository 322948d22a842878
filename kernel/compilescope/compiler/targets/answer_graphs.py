"""The graphs of a variant for a target with their Python wrappers, whatever wrapper it asks for.

A C++ wrapper cannot be run where there is no device; its kernels are those of the Python wrapper.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import msgspec

from ...measure.collection import resting
from ...torch_api import codegen, compiling, workers
from ...torch_api.autotuning import tuned
from ...torch_api.target_lowered import LoweredGraph, collecting
from ...variant import Variant
from ..capturing import Captured
from . import packing
from .answer_sources import captured_for
from .exchange_check import GraphsAsked, GraphsGiven
from .world import World


def answer(world: World, payload: bytes, step: Callable[[str], None]) -> bytes:
    """The answer to a `GraphsAsked`."""
    asked = msgspec.msgpack.decode(payload, type=GraphsAsked)
    variant: Variant = pickle.loads(asked.variant)
    packing.put_in_force(asked.call)
    captured = captured_for(world, asked.call, variant, step)
    step("generating the Python wrapper")
    with resting():
        given = captured.context.copy().run(_generate, captured, variant, world)
    return msgspec.msgpack.encode(given)


def _generate(captured: Captured, variant: Variant, world: World) -> GraphsGiven:
    settings = {**compiling.settings_of(variant), **world.settings(), "cpp_wrapper": False}
    graphs: list[LoweredGraph] = []
    why = ""
    for graph in captured.graphs:
        failed = _attempt(graph, settings, graphs)
        if failed is not None:
            why = f"torch generates no Python wrapper for it: {_first_line(failed)}"
    return GraphsGiven(graphs=pickle.dumps(graphs), why=why)


def _attempt(
    graph: codegen.Capture, settings: dict[str, Any], graphs: list[LoweredGraph]
) -> Exception | None:
    """Generates a graph's code, and adds what it was made from; or gives what went wrong."""
    made: list[LoweredGraph] = []
    with workers.borrowed(), tuned(), collecting(made):
        try:
            codegen.generate(graph, settings)
        except Exception as error:  # noqa: BLE001 - the sources tell it; here it is a reason
            return error
    graphs += made
    return None


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
