"""How float32 products may be rounded, by torch's older and by its newer interface.

Relies on ``torch._C`` (_get_fp32_precision_getter, _set_fp32_precision_setter,
_get_cudnn_allow_tf32, _set_cudnn_allow_tf32). The older interface raises an error where it is read
and only the newer one can express the values. ``torch.backends.mkldnn.fp32_precision`` cannot be
set by its name: torch then sets the value for all backends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

_NEWER = (
    ("generic", "all"),
    ("cuda", "all"),
    ("cuda", "matmul"),
    ("cuda", "conv"),
    ("cuda", "rnn"),
    ("mkldnn", "all"),
    ("mkldnn", "matmul"),
    ("mkldnn", "conv"),
    ("mkldnn", "rnn"),
)
"""Backend and operation. What is not set itself has the value of its backend, or else of all."""
_SETTABLE = {
    ("generic", "all"): "torch.backends",
    ("cuda", "all"): "torch.backends.cudnn",
    ("cuda", "matmul"): "torch.backends.cuda.matmul",
    ("cuda", "conv"): "torch.backends.cudnn.conv",
    ("cuda", "rnn"): "torch.backends.cudnn.rnn",
    ("mkldnn", "matmul"): "torch.backends.mkldnn.matmul",
    ("mkldnn", "conv"): "torch.backends.mkldnn.conv",
    ("mkldnn", "rnn"): "torch.backends.mkldnn.rnn",
}
"""The public name of each place whose precision can be set by it."""
_UNSET = "none"
_IN_A_NEW_PROCESS = {("cuda", "conv"): "tf32", ("cuda", "rnn"): "tf32"}
"""What is not `_UNSET` in a new process."""
_OLDER = 2
_UNREADABLE = ""


def float32_precisions() -> tuple[str, ...]:
    """All values, of the older interface first; an empty one could not be read."""
    older = (
        _readable(torch.get_float32_matmul_precision),
        _readable(lambda: str(torch._C._get_cudnn_allow_tf32())),
    )
    return (*older, *(_newer(*place) for place in _NEWER))


def set_float32_precisions(was: Sequence[str]) -> None:
    """Sets what differs from values of `float32_precisions`."""
    products, cudnn = was[:_OLDER]
    # The older interface also writes the newer one's values, which come last for that reason.
    if products not in (_UNREADABLE, _readable(torch.get_float32_matmul_precision)):
        torch.set_float32_matmul_precision(products)
    if cudnn not in (_UNREADABLE, _readable(lambda: str(torch._C._get_cudnn_allow_tf32()))):
        torch._C._set_cudnn_allow_tf32(cudnn == str(True))
    for place, value in zip(_NEWER, was[_OLDER:], strict=True):
        # A value that is the same by now may be inherited, and stays so.
        if _newer(*place) != value:
            torch._C._set_fp32_precision_setter(*place, value)


def rounds_float32() -> bool:
    """Whether products of float32 may be rounded to TF32 or bfloat16."""
    older = _readable(torch.get_float32_matmul_precision)
    if older != _UNREADABLE:
        return older != "highest"
    return any(_newer(backend, "matmul") in ("tf32", "bf16") for backend in ("cuda", "mkldnn"))


def changed_precisions() -> list[str]:
    """Code that sets, in a new process, the values that this process has.

    Examples
    --------
    >>> torch.set_float32_matmul_precision("high")
    >>> changed_precisions()
    ['torch.set_float32_matmul_precision("high")']
    """
    products, cudnn = float32_precisions()[:_OLDER]
    code, set_by_older = [], set()
    if products != _UNREADABLE:
        set_by_older = {("cuda", "matmul"), ("mkldnn", "matmul")}
        if products == "high" and _newer("mkldnn", "matmul") == _UNSET:
            code.append("torch.backends.cuda.matmul.allow_tf32 = True")
        elif products != "highest":
            code.append(f'torch.set_float32_matmul_precision("{products}")')
    if cudnn != _UNREADABLE:
        set_by_older |= {("cuda", "conv"), ("cuda", "rnn")}
        if cudnn == str(False):
            code.append("torch.backends.cudnn.allow_tf32 = False")
    return [
        *code,
        *(
            f'{name}.fp32_precision = "{_newer(*place)}"'
            for place, name in _SETTABLE.items()
            if place not in set_by_older and _newer(*place) != _inherited(*place)
        ),
    ]


def _inherited(backend: str, operation: str) -> str:
    """What a place has unless it is set itself."""
    above = [] if backend == "generic" else [("generic", "all")]
    if operation != "all" and (backend, "all") in _SETTABLE:
        above.append((backend, "all"))
    values = [_newer(*place) for place in reversed(above)]
    unset = _IN_A_NEW_PROCESS.get((backend, operation), _UNSET)
    return next((value for value in values if value != _UNSET), unset)


def _newer(backend: str, operation: str) -> str:
    return str(torch._C._get_fp32_precision_getter(backend, operation))


def _readable(read: Callable[[], str]) -> str:
    try:
        return read()
    except RuntimeError:
        return _UNREADABLE
