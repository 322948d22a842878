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
from .run_calls import Answered, Reply, Tell
from .world import World

_RUNNING = "running the call in another process"

Work = Callable[[Variant, CapturedCall, Tell], bytes | None]
"""Makes an answer from a variant and its capture, and reports its steps."""

_OTHER_STATE = "what the call depends on is not the same in the other process"
_OTHER_CAPTURE = "the other process does not capture what the kernel has captured"
_HAS_TO_RUN = "the call would have to run with these settings"
_NO_CODE = "the code cannot be generated in another process"


def answered(world: World, known: KnownCall, tell: Tell, work: Work) -> Answered:
    """What ``work`` answers, if this process captures what the kernel does.

    The call's modes and settings are in force meanwhile.
    """
    if world.runs_calls:
        return _answered_by_forks(world, known, tell, work)
    reference, variant = pickle.loads(known.variants)
    packed_call.put_in_force(known.call)
    same = captured_for(world, known.call, reference, tell).captured
    if fingerprint(same) != known.fingerprint:
        return Answered(None, _OTHER_CAPTURE)
    captured_call = captured_for(world, known.call, variant, tell)
    captured = captured_call.captured
    if captured.problem is not None or len(captured.graphs) != 1:
        return Answered(None, _HAS_TO_RUN)
    payload = work(variant, captured_call, tell)
    return Answered(payload, "" if payload is not None else _NO_CODE)


def _answered_by_forks(world: World, known: KnownCall, tell: Tell, work: Work) -> Answered:
    surroundings = packed_call.surroundings(known.call)

    def answer(of_known: bool, tell: Tell, reply: Reply) -> str:
        variants: tuple[Variant, Variant] = pickle.loads(known.variants)
        variant = variants[0 if of_known else 1]
        packed_call.put_in_force(known.call)
        call = packed_call.unpack_whole(known.call, world)
        if call is None:
            return _OTHER_STATE
        tell(_RUNNING)
        captured_call = captured_in(world, call, variant)
        problem = captured_call.captured.problem
        if problem is not None:
            return problem.what
        if of_known:
            reply(fingerprint(captured_call.captured, ran=True).encode())
        payload = work(variant, captured_call, tell)
        return _NO_CODE if payload is None else reply(payload)

    def fork(*, of_known: bool) -> Answered:
        return run_calls.answer_of_fork(
            surroundings.restore_environment,
            functools.partial(answer, of_known),
            tell,
            known.limit_s,
        )

    same = fork(of_known=True)
    if same.payload is None:
        return same
    if same.payload != known.fingerprint.encode():
        return Answered(None, _OTHER_CAPTURE)
    return fork(of_known=False)
