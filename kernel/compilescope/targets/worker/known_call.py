"""The capture of a variant that the kernel has not captured, of a call that it has."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable

from ...builds.capture_fingerprint import fingerprint
from ...report.variant import Variant
from .. import packed_call
from ..local_sources_request import KnownCall
from . import run_calls
from .captured_calls import CapturedCall, captured_for, captured_in
from .run_calls import Answering, Tell
from .world import World

_RUNNING = "running the call in another process"

Work = Callable[[Variant, CapturedCall, Tell], bytes | None]
"""Makes an answer from a variant and its capture, and reports its steps."""


def answered(world: World, known: KnownCall, tell: Tell, work: Work) -> bytes | None:
    """What ``work`` answers; None if this process does not capture what the kernel does.

    The call's modes and settings are in force meanwhile.
    """
    if world.runs_calls:
        return _answered_by_forks(world, known, tell, work)
    reference, variant = pickle.loads(known.variants)
    packed_call.put_in_force(known.call)
    same = captured_for(world, known.call, reference, tell).captured
    if fingerprint(same) != known.fingerprint:
        return None
    captured_call = captured_for(world, known.call, variant, tell)
    captured = captured_call.captured
    if captured.problem is not None or len(captured.graphs) != 1:
        return None  # it has to run with these settings
    return work(variant, captured_call, tell)


def _answered_by_forks(world: World, known: KnownCall, tell: Tell, work: Work) -> bytes | None:
    surroundings = packed_call.surroundings(known.call)

    def captured(of_known: bool, tell: Tell) -> Answering:
        variants: tuple[Variant, Variant] = pickle.loads(known.variants)
        variant = variants[0 if of_known else 1]
        packed_call.put_in_force(known.call)
        call = packed_call.unpack_whole(known.call, world)
        if call is None:
            return lambda tell: None
        tell(_RUNNING)
        captured_call = captured_in(world, call, variant)
        # It also keeps the call, whose objects must not be deleted.
        return functools.partial(_answer, of_known, work, variant, captured_call, call)

    def fork(*, of_known: bool) -> bytes | None:
        return run_calls.answer_of_fork(
            surroundings.restore_environment,
            functools.partial(captured, of_known),
            tell,
            known.limit_s,
        )

    if fork(of_known=True) != known.fingerprint.encode():
        return None
    return fork(of_known=False)


def _answer(
    of_known: bool,
    work: Work,
    variant: Variant,
    captured_call: CapturedCall,
    call: object,
    tell: Tell,
) -> bytes | None:
    captured = captured_call.captured
    if captured.problem is not None:
        return None
    if of_known:
        return fingerprint(captured, ran=True).encode()
    return work(variant, captured_call, tell)
