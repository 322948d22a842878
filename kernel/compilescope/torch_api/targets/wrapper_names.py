"""The globals of a generated Python wrapper's module, as far as a CPU build has them.

Relies on ``torch._C._dynamo.guards``, ``torch._inductor.select_algorithm.extern_kernels``,
``torch._inductor.runtime.runtime_utils`` and ``torch._inductor.lowering``, which adds Inductor's
own library functions there.
"""

from __future__ import annotations

import functools
from typing import Any


@functools.cache
def _names() -> dict[str, Any]:
    import torch
    import torch._inductor.lowering
    from torch._inductor.runtime import runtime_utils
    from torch._inductor.select_algorithm import extern_kernels

    guards: Any = torch._C._dynamo.guards
    result = {
        "aten": torch.ops.aten,
        "inductor_ops": torch.ops.inductor,
        "_quantized": torch.ops._quantized,
        "alloc_from_pool": torch.ops.inductor._alloc_from_pool,
        "assert_size_stride": guards.assert_size_stride,
        "reinterpret_tensor": guards._reinterpret_tensor,
        "extern_kernels": extern_kernels,
    }
    # Since torch 2.15.
    for name, room in (
        ("assert_size_stride_grouped", guards),
        ("assert_tensor_metadata", runtime_utils),
    ):
        if hasattr(room, name):
            result[name] = getattr(room, name)
    return result


def names() -> dict[str, Any]:
    """Name → its value."""
    return dict(_names())
