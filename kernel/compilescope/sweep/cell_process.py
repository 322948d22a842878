"""The process of a cell: creates the subject, compiles it under one variant, measures it."""

from __future__ import annotations

import pickle

import msgspec

from ..processes.child import ChildProcess, serve
from ..processes.device_lock import Device
from .worker import CellResult


def work(inside: ChildProcess) -> bytes:
    """Measures the cell; gives a `CellResult` as JSON."""
    cell, data, seconds, items, may_repeat = pickle.loads(inside.task())
    inside.step("waiting")
    # Loading torch would disturb other cells that measure on this machine.
    device = Device()
    inside.step("loading")
    from ..subject.pickled_subject import unpack

    must_repeat, raiser = False, ""

    def calling(what: str) -> None:
        nonlocal raiser
        raiser = what

    try:
        call = unpack(data, calling)
        raiser = ""
        from .measure_cell import measure

        must_repeat = not measure(
            cell, call, seconds, items, inside.step, device, may_repeat=may_repeat
        )
    except Exception as error:  # noqa: BLE001 - it is the subject's or torch's, and the cell's end
        from .failed_cell import fail

        fail(cell, error, raiser)
    return msgspec.json.encode(CellResult(cell=cell, must_repeat=must_repeat), enc_hook=repr)


if __name__ == "__main__":
    serve(work)
