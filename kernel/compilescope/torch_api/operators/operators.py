"""Finds where an operator's kernel for a device is defined: in C++ or Python.

Relies on ``torch._C._dispatch_dump``, which lists where each kernel was registered, and on
``torch._library.custom_ops.OPDEFS``, which knows the functions behind ``torch.library.custom_op``
(``_init_fn``, and in ``_backend_fns`` wrappers whose variable ``fn`` is a device's): the same from
2.11 to 2.15.
"""

from __future__ import annotations

import inspect
import re
import sys
import types
from pathlib import Path
from typing import Any

TORCH_NAMESPACES = frozenset(
    (
        *("aten", "prim", "prims", "rngprims", "inductor", "_inductor_test", "streams"),
        *("mkl", "mkldnn", "onednn", "quantized", "_quantized"),
        *("_c10d_functional", "c10d_functional", "c10d", "symm_mem"),
    )
)
"""The namespaces of torch's own operators."""
_ENTRY = re.compile(r"^(?P<key>\w+)(?:\[alias\])?: registered at (?P<place>.*?) :: ", re.M)
_PYTHON = re.compile(r"\.py:\d+$")
_COMPOSITE_KEYS = ("CompositeExplicitAutograd", "CompositeImplicitAutograd")
_KEYS = {"cpu": "CPU", "cuda": "CUDA", "xpu": "XPU", "mps": "MPS"}


def python_kernel(operator: str, device: str) -> str | None:
    """Where Python registers the kernel that runs an operator.

    Parameters
    ----------
    operator
        Its name with the overload, if any: ``demo::scale``, ``aten::sort.stable``.
    device
        ``cpu``, ``cuda``, …

    Returns
    -------
    str or None
        ``scale (model.py:12)``, or the line of the registration. Empty for a kernel in C++; None if
        the operator is not known in this process.
    """
    places = _places(operator)
    if places is None:
        return None
    place = _of_device(places, device)
    if place is None:
        return "" if places else None
    return _describe(operator, device, place) if _PYTHON.search(place) else ""


def place_of(operator: str, device: str) -> tuple[str, int, str] | None:
    """Where an operator's kernel for a device was defined or registered: file, line, function.

    None if the operator is not known in this process or its origin is unknown.
    """
    code = _code(operator, device)
    if code is not None:
        return code.co_filename, code.co_firstlineno, code.co_name
    place = _of_device(_places(operator) or {}, device)
    file, _, line = (place or "").rpartition(":")
    return (file, int(line), "") if file and line.isdigit() else None


def _places(operator: str) -> dict[str, str] | None:
    """Dispatch key → where the kernel was registered; None for an unknown operator."""
    # A trace of another process is read without torch, and then no operator is registered here.
    if "torch" not in sys.modules:
        return None
    import torch

    try:
        dump = torch._C._dispatch_dump(operator)
    except RuntimeError:
        return None
    return {match["key"]: match["place"] for match in _ENTRY.finditer(dump)}


def _of_device(places: dict[str, str], device: str) -> str | None:
    keys = (_KEYS.get(device, device.upper()), *_COMPOSITE_KEYS)
    return next((places[key] for key in keys if key in places), None)


def _code(operator: str, device: str) -> types.CodeType | None:
    """The code of the function that ``torch.library.custom_op`` knows for a device."""
    if "torch" not in sys.modules:
        return None
    from torch._library import custom_ops

    definition = custom_ops.OPDEFS.get(operator.partition(".")[0])
    if definition is None:
        return None
    functions: dict[str | None, Any] = getattr(definition, "_backend_fns", {})
    own = _registered(functions.get(device) or functions.get(None))
    code = getattr(own or definition._init_fn, "__code__", None)
    return code if isinstance(code, types.CodeType) else None


def _registered(wrapper: Any) -> Any:
    """The function around which ``CustomOpDef.register_kernel`` puts a wrapper."""
    inner = inspect.unwrap(wrapper) if wrapper is not None else None
    if not isinstance(inner, types.FunctionType):
        return None
    return inspect.getclosurevars(inner).nonlocals.get("fn")


def _describe(operator: str, device: str, place: str) -> str:
    code = _code(operator, device)
    if code is None:
        file, _, line = place.rpartition(":")
        return f"{Path(file).name}:{line}"
    return f"{code.co_name} ({Path(code.co_filename).name}:{code.co_firstlineno})"
