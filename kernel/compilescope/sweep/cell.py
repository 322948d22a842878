"""The process of a cell: makes the subject, compiles it under one variant, measures it."""

from __future__ import annotations

import pickle

import msgspec

from ..compiler.inside import Inside, serve
from .alone import Device
from .worker import CellResult


def work(inside: Inside) -> bytes:
    """Measures the cell; gives a `CellResult` as JSON."""
    cell, data, seconds, items = pickle.loads(inside.task())
    inside.step("waiting")
    # Others measure on this machine: loading torch would disturb them.
    device = Device()
    inside.step("loading")
    from ..compiler.shipping import unpack

    built_headers = False
    try:
        call = unpack(data)
        from .measuring import measure

        built_headers = measure(cell, call, seconds, items, inside.step, device)
    except Exception as error:  # noqa: BLE001 - it is the subject's or torch's, and the cell's end
        from .failing import fail

        fail(cell, error)
    return msgspec.json.encode(CellResult(cell=cell, built_headers=built_headers), enc_hook=repr)


if __name__ == "__main__":
    serve(work)
