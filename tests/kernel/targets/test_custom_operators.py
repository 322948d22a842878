"""Definitions of operators, as they are sent to a target's process."""

from __future__ import annotations

import pickle

import pytest
import torch
from compilescope.torch_api.operators import custom

ops = torch.ops.sent_operators


def plus_one(x: torch.Tensor) -> torch.Tensor:
    return x + 1


def same(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def sent(name: str) -> custom.Definition:
    definition: custom.Definition = pickle.loads(pickle.dumps(custom.definition_of(name)))
    return definition


def test_tags_and_the_rule_of_autocast_are_sent() -> None:
    tag = torch.Tag.needs_fixed_stride_order
    operator = torch.library.custom_op(
        "sent_operators::plus_one", plus_one, mutates_args=(), tags=(tag,)
    )
    operator.register_autocast("cpu", torch.bfloat16)
    definition = sent("sent_operators::plus_one")
    del operator
    custom.define(definition)
    assert tag in ops.plus_one.default.tags
    with torch.autocast("cpu"):
        assert ops.plus_one(torch.ones(2)).dtype == torch.bfloat16


def test_the_tags_of_a_schema_are_sent() -> None:
    library = torch.library.Library("sent_operators", "FRAGMENT")
    library.define("same(Tensor x) -> Tensor", tags=(torch.Tag.needs_contiguous_strides,))
    torch.library.register_fake("sent_operators::same", same, lib=library)
    definition = sent("sent_operators::same")
    library._destroy()
    custom.define(definition)
    assert ops.same.default.tags == [torch.Tag.needs_contiguous_strides]


@pytest.mark.parametrize("order", [(0, 1, 0), (1, 0, 1)])
def test_a_definition_of_another_kind_replaces_one(order: tuple[int, ...]) -> None:
    name = "sent_operators::either"
    schema = custom.Definition(name=name, schema="either(Tensor x) -> Tensor", fake=same)
    whole = custom.Definition(name=name, schema="(Tensor x) -> Tensor", function=plus_one)
    for place in order:
        custom.define((schema, whole)[place])
    if order[-1]:
        assert torch.equal(ops.either(torch.ones(2)), torch.full((2,), 2.0))
    else:
        with pytest.raises(NotImplementedError):
            ops.either(torch.ones(2))
