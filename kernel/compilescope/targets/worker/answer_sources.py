"""The code of a variant for a target: captured and generated in the target's process."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import msgspec

from ...analysis.target.decisions import add_choices
from ...builds import sources
from ...builds.compile_warnings import remarks
from ...report.variant import Variant
from ...torch_api.dynamo import compile_variant
from ...torch_api.targets.failures import of_absence
from .. import packed_call
from ..sources_request import SourcesReply, SourcesRequest
from .captured_calls import captured_for
from .pretend_device import PretendDevice


def answer(world: PretendDevice, payload: bytes, step: Callable[[str], None]) -> bytes:
    """The answer to a `SourcesRequest`."""
    request = msgspec.msgpack.decode(payload, type=SourcesRequest)
    variant: Variant = pickle.loads(request.variant)
    # Also where the capture is there already: torch's settings count for the code too.
    packed_call.put_in_force(request.call)
    captured = captured_for(world, request.call, variant, step).captured
    step("generating code")
    generated = sources.generate(captured, request.name, variant, world.settings())
    assert world.target.build is not None, "else it would be no target"
    for compilation in generated.compilations:
        add_choices(compilation, world.target.build)
    problems = generated.problems
    if captured.problem is not None:
        problems.insert(0, of_absence(captured.problem))
    else:
        problems += remarks(
            generated.compilations, off=captured.off, suppressed=generated.suppressed
        )
    inductor = variant.uses_inductor
    response = SourcesReply(
        compilations=generated.compilations,
        problems=problems,
        effective=generated.effective,
        cuda_graphs=generated.cuda_graphs,
        config=compile_variant.differing_settings(compile_variant.settings_of(variant))
        if inductor
        else {},
    )
    return msgspec.msgpack.encode(response)
