"""Where an operator's kernel for a device comes from: C++ or Python.

Stands on ``torch._C._dispatch_dump``, which names the place of each registration, and on
``torch._library.custom_ops.OPDEFS``, which knows the functions behind ``torch.library.custom_op``:
the same from 2.11 to 2.15.
"""

from __future__ import annotations

import re
from pathlib import Path

import torch
from torch._library import custom_ops

_ENTRY = re.compile(r"^(?P<key>\w+)(?:\[alias\])?: registered at (?P<place>.*?) :: ", re.M)
_PYTHON = re.compile(r"\.py:\d+$")
_FOR_ALL = ("CompositeExplicitAutograd", "CompositeImplicitAutograd")
_KEYS = {"cpu": "CPU", "cuda": "CUDA", "xpu": "XPU", "mps": "MPS"}


def python_kernel(operator: str, device: str) -> str | None:
    """Where the kernel that runs an operator is registered in Python.

    Parameters
    ----------
    operator
        With its overload, if it has one: ``demo::scale``, ``aten::sort.stable``.
    device
        ``cpu``, ``cuda``, …

    Returns
    -------
    str or None
        ``scale (model.py:12)``, or the line of the registration. Empty for a kernel in C++; None
        where the operator is not known in this process.
    """
    try:
        dump = torch._C._dispatch_dump(operator)
    except RuntimeError:
        return None
    places = {match["key"]: match["place"] for match in _ENTRY.finditer(dump)}
    for key in (_KEYS.get(device, device.upper()), *_FOR_ALL):
        if key in places:
            return _told(operator, places[key]) if _PYTHON.search(places[key]) else ""
    return "" if places else None


def _told(operator: str, place: str) -> str:
    definition = custom_ops.OPDEFS.get(operator.partition(".")[0])
    code = getattr(getattr(definition, "_init_fn", None), "__code__", None)
    if code is None:
        file, _, line = place.rpartition(":")
        return f"{Path(file).name}:{line}"
    return f"{code.co_name} ({Path(code.co_filename).name}:{code.co_firstlineno})"
