"""The operators that compute each element of the result by itself, beside torch's tags."""

from __future__ import annotations

import pytest
import torch
import torch._inductor.inductor_prims
from compilescope.analysis.graphs.operation_counts import operations


@pytest.mark.parametrize("namespace", ["aten", "prims"])
def test_each_operator_that_torch_tags_as_pointwise_has_a_formula(namespace):
    packets = getattr(torch.ops, namespace)
    schemas = torch._C._jit_get_all_schemas()
    names = {schema.name for schema in schemas if schema.name.startswith(f"{namespace}::")}
    without = []
    for name in sorted(name.removeprefix(f"{namespace}::") for name in names):
        packet = getattr(packets, name)
        overloads = [getattr(packet, overload) for overload in packet.overloads()]
        tagged = any(torch.Tag.pointwise in overload.tags for overload in overloads)
        target = f"torch.ops.{namespace}.{name}.default"
        if tagged and operations(target, (4, 8), [(4, 8), (4, 8)]) is None:
            without.append(name)
    # It compares whole tensors, and returns a bool of Python.
    assert without == (["equal"] if namespace == "aten" else [])
