"""Keys of cells: what makes two modules, or two variants, different."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import compilescope as cs
import numpy as np
import pytest
import torch
from compilescope.report import references
from compilescope.sweep import cell_ids
from torch import nn

from .other_processes import printed

TEXT = """
import functools
from torch import nn
class Config:
    def __init__(self, by):
        self.by = by
    @functools.cached_property
    def twice(self):
        return 2 * self.by
class Base(nn.Module):
    scale = 2
    def forward(self, x):
        return self.twice(x) + self.more
    @staticmethod
    def twice(x):
        return x * 2
    @property
    def more(self):
        return 1
    @classmethod
    def kind(cls):
        return "a"
class Net(Base):
    def __init__(self, it, by=0):
        super().__init__()
        self.it, self.config = it, Config(by)
        self.inner = nn.Sequential(nn.Linear(2, 2))
def hook(module, args, result):
    return result + 1
def compiles(graph, inputs):
    return graph.forward
"""


def defined(text: str = TEXT) -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(text, space)
    return space


def net(it: int = 2, by: int = 0, text: str = TEXT) -> nn.Module:
    result: nn.Module = defined(text)["Net"](it, by)
    return result


def test_equal_modules_have_the_same_key() -> None:
    assert cell_ids.identity(net()) == cell_ids.identity(net())


def test_what_a_model_computes_at_its_first_call_does_not_count() -> None:
    called: Any = net()
    assert called.config.twice == 0
    assert cell_ids.identity(called) == cell_ids.identity(net())


@pytest.mark.parametrize("type_of", [np.float32, Path, Fraction, Decimal, str])
def test_numbers_and_paths_count_by_their_value(type_of: Callable[[str], Any]) -> None:
    def holding(value: str) -> str:
        held = type_of(value)
        hash(held)  # which a path keeps, and which differs between processes
        result = net()
        result.held = held
        return cell_ids.identity(result)

    assert holding("1") == holding("1")
    assert holding("1") != holding("2")


@pytest.mark.parametrize(
    "other",
    [
        lambda: net(100),
        lambda: net(by=1),
        lambda: net(text=TEXT.replace("self.twice(x) +", "self.twice(x) -")),
        lambda: net(text=TEXT.replace("x * 2", "x * 3")),
        lambda: net(text=TEXT.replace("return 1", "return 3")),
        lambda: net(text=TEXT.replace('"a"', '"b"')),
        lambda: net(text=TEXT.replace("scale = 2", "scale = 3")),
    ],
    ids=["state", "nested state", "base", "static", "property", "class method", "class attribute"],
)
def test_a_module_with_other_code_or_state_has_another_key(other: Callable[[], nn.Module]) -> None:
    assert cell_ids.identity(other()) != cell_ids.identity(net())


def test_a_hook_counts_and_its_number_does_not() -> None:
    hook = defined()["hook"]
    keys = []
    for _ in range(2):
        hooked = net()
        hooked.get_submodule("inner.0").register_forward_hook(hook)
        keys.append(cell_ids.identity(hooked))
    assert keys[0] == keys[1]
    assert keys[0] != cell_ids.identity(net())


def test_an_inner_module_that_is_in_evaluation_mode_counts() -> None:
    part = net()
    part.get_submodule("inner.0").eval()
    assert cell_ids.identity(part) != cell_ids.identity(net())


def test_a_function_in_a_variant_counts_by_its_code() -> None:
    def keyed(text: str) -> set[str]:
        function = defined(text)["compiles"]
        backend = cs.Variant(backend=references.refer(function))
        option = cs.Variant(options={"guard_filter_fn": references.refer(function)})
        return {cell_ids.key("", variant, "", ()) for variant in (backend, option)}

    first = keyed(TEXT)
    assert keyed(TEXT) == first, "that it was defined again does not count"
    assert not first & keyed(TEXT.replace("graph.forward", "graph"))


def test_a_deep_module_counts_to_its_end() -> None:
    def nested(last: int) -> nn.Module:
        result = net(last)
        for _ in range(20):
            result = nn.Sequential(result)
        return result

    assert cell_ids.identity(nested(1)) == cell_ids.identity(nested(1))
    assert cell_ids.identity(nested(1)) != cell_ids.identity(nested(2))


def test_an_object_that_refuses_to_be_looked_at_does_no_harm() -> None:
    class Refuses:
        @property
        def shape(self) -> int:
            raise RuntimeError("closed")

    assert cell_ids.identity((Refuses(), 1)) != cell_ids.identity((Refuses(), 2))


def test_keys_are_the_same_in_another_process() -> None:
    program = (
        "from compilescope.sweep import cell_ids\n"
        "from tests.kernel.sweep import subjects, test_cell_ids as tests\n"
        "from torch import nn\n"
        "for _ in range({seed}): nn.Linear(1, 1).register_forward_hook(print)\n"
        "net = tests.net()\n"
        "net.names, net.place = {'a', 'b', 'c'}, tests.Path('a')\n"
        "hash(net.place)\n"
        "net.register_forward_hook(tests.defined()['hook'])\n"
        "inner = nn.TransformerEncoderLayer(4, 2), nn.LSTM(2, 2)\n"
        "print(cell_ids.identity(net, *inner))\n"
        "print(cell_ids.identity(subjects.double, subjects.make, subjects.Counting()))"
    )
    assert len(printed(program)) == 1


def test_tensors_count_by_their_layout_wherever_they_are() -> None:
    def holding(size: int) -> nn.Module:
        result = net()
        result.held = [torch.zeros(size)]  # type: ignore[assignment]
        return result

    assert cell_ids.identity(holding(2)) == cell_ids.identity(holding(2))
    assert cell_ids.identity(holding(2)) != cell_ids.identity(holding(3))
