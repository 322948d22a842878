"""The places of the flag, against torch's own schemas."""

from __future__ import annotations

import pytest
import torch
from compilescope.analysis.graphs.causal_attention import is_causal

SCHEMAS = [
    schema
    for schema in torch._C._jit_get_all_schemas()
    if schema.name.startswith("aten::")
    and "attention" in schema.name
    and any(argument.name == "is_causal" for argument in schema.arguments)
]


@pytest.mark.parametrize(
    "schema", SCHEMAS, ids=lambda schema: f"{schema.name}.{schema.overload_name}"
)
def test_the_flag_is_where_torchs_schema_has_it(schema: torch.FunctionSchema) -> None:
    name = schema.name.removeprefix("aten::")
    target = f"torch.ops.aten.{name}.{schema.overload_name or 'default'}"
    names = [argument.name for argument in schema.arguments if not argument.kwarg_only]
    for causal in (True, False):
        # All others are the opposite.
        texts = [str(causal == (name == "is_causal")) for name in names]
        assert is_causal(target, texts) is causal
        by_name = [str(not causal)] * names.index("is_causal") + [f"is_causal={causal}"]
        assert is_causal(target, by_name) is causal


def test_an_operator_without_the_flag_is_not_known() -> None:
    assert SCHEMAS
    assert is_causal("torch.ops.aten._efficient_attention_forward.default", ["True"]) is None
