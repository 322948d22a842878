"""The capture of a variant that the kernel has not captured, of a call that it has."""

from __future__ import annotations

import pickle
from collections.abc import Callable

from ...builds.capture_fingerprint import fingerprint
from ...report.variant import Variant
from .. import packed_call
from ..local_sources_request import KnownCall
from .captured_calls import CapturedCall, captured_for
from .world import ThisMachine


def captured_like(
    world: ThisMachine, known: KnownCall, step: Callable[[str], None]
) -> tuple[Variant, CapturedCall] | None:
    """The variant and its capture; None if this process does not capture what the kernel does.

    The call's modes and settings are in force afterwards.
    """
    reference, variant = pickle.loads(known.variants)
    packed_call.put_in_force(known.call)
    same = captured_for(world, known.call, reference, step).captured
    if fingerprint(same) != known.fingerprint:
        return None
    captured_call = captured_for(world, known.call, variant, step)
    captured = captured_call.captured
    if captured.problem is not None or len(captured.graphs) != 1:
        return None  # it has to run with these settings
    return variant, captured_call
