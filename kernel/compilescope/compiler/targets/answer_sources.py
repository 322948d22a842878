"""The code of a variant for a target: captured and generated in the target's process."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable

import msgspec

from ...analysis.target_decisions import add_choices
from ...torch_api import compiling
from ...torch_api.target_failures import of_absence
from ...variant import Variant
from .. import sources
from ..callees import functions_of
from ..capturing import Captured, Key, capture, key_of
from ..remarks import remarks
from ..wardrobe import Wardrobe
from . import packing
from .exchange import SourcesAsked, SourcesGiven
from .world import World

_KEPT = 4
"""Captures that are kept: the next variant of the same call needs no other."""

_captures: dict[tuple[str, Key], Captured] = {}


def answer(world: World, payload: bytes, step: Callable[[str], None]) -> bytes:
    """The answer to a `SourcesAsked`."""
    asked = msgspec.msgpack.decode(payload, type=SourcesAsked)
    variant: Variant = pickle.loads(asked.variant)
    # Also where the capture is there already: torch's settings count for the code too.
    packing.put_in_force(asked.call)
    captured = captured_for(world, asked.call, variant, step)
    step("generating code")
    made = sources.generate(captured, asked.name, variant, world.settings())
    assert world.device.build is not None, "else it would be no target"
    for compilation in made.compilations:
        add_choices(compilation, world.device.build)
    problems = made.problems
    if captured.problem is not None:
        problems.insert(0, of_absence(captured.problem))
    else:
        problems += remarks(made.compilations)
    inductor = variant.backend == "inductor"
    given = SourcesGiven(
        compilations=made.compilations,
        problems=problems,
        effective=made.effective,
        cuda_graphs=made.cuda_graphs,
        config=compiling.differing_settings(compiling.settings_of(variant)) if inductor else {},
    )
    return msgspec.msgpack.encode(given)


def captured_for(
    world: World, call: bytes, variant: Variant, step: Callable[[str], None]
) -> Captured:
    """The subject's graphs; nothing runs but Dynamo, on tensors without data."""
    key = hashlib.sha256(call).hexdigest(), key_of(variant)
    found = _captures.pop(key, None)
    if found is None:
        step("running the subject under Dynamo")
        made = packing.unpack(call, world)
        wardrobe = Wardrobe(functions_of(made.fn, made.args, made.kwargs))
        # So that what a graph makes on the device takes no memory either.
        found = capture(
            made.fn, made.args, made.kwargs, variant, wardrobe, within=lambda: world.mode
        )
    _captures[key] = found
    for oldest in list(_captures)[:-_KEPT]:
        del _captures[oldest]
    return found
