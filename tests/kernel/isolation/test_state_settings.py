"""Random numbers and torch's modes are as before, whatever a call did to them."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
from compilescope.builds.eager_call import eager_call
from compilescope.isolation.global_state import SavedModes, changed_process_settings, in_force
from compilescope.isolation.user_state import preserved
from compilescope.torch_api.process.float32_precision import float32_precisions


def test_generators_of_random_numbers() -> None:
    own, numpy_own = torch.Generator().manual_seed(3), np.random.default_rng(3)

    def draw() -> list[float]:
        return [
            random.random(),
            float(np.random.rand()),
            torch.rand(1).item(),
            torch.rand(1, generator=own).item(),
            float(numpy_own.random()),
        ]

    with preserved(draw) as snapshot:
        first = draw()
        snapshot.restore()
        assert draw() == first
        draw()
    assert draw() == first


def test_modes() -> None:
    def call() -> None:
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.set_autocast_enabled("cpu", True)
        torch.set_autocast_dtype("cpu", torch.float16)
        torch.set_float32_matmul_precision("medium")

    with preserved(call):
        call()
    assert torch.is_grad_enabled()
    assert torch.get_default_dtype() == torch.float32
    assert not torch.are_deterministic_algorithms_enabled()
    assert not torch.is_autocast_enabled("cpu")
    assert torch.get_autocast_dtype("cpu") == torch.bfloat16
    assert torch.get_float32_matmul_precision() == "highest"


@pytest.mark.usefixtures("precision")
def test_precision_set_by_the_newer_api() -> None:
    def older() -> None:
        torch.set_float32_matmul_precision("high")

    def newer() -> None:
        torch.backends.mkldnn.matmul.fp32_precision = "bf16"

    for change in (older, newer):
        with preserved(change):
            change()
        assert torch.get_float32_matmul_precision() == "highest"
    torch.backends.cuda.matmul.fp32_precision = "tf32"
    for change in (older, newer):
        with preserved(change) as snapshot:
            change()
        assert torch.backends.cuda.matmul.fp32_precision == "tf32"
        assert torch.backends.mkldnn.matmul.fp32_precision != "bf16"
        assert snapshot.unsaved == []


@pytest.mark.usefixtures("precision")
def test_precision_set_by_both_interfaces_in_turn() -> None:
    def older() -> None:
        torch.set_float32_matmul_precision("medium")
        torch.backends.cudnn.allow_tf32 = False

    def newer() -> None:
        torch.backends.cudnn.conv.fp32_precision = "ieee"
        torch.backends.mkldnn.conv.fp32_precision = "bf16"
        torch.backends.fp32_precision = "tf32"

    def both() -> None:
        newer()
        older()

    before = float32_precisions()
    for change in (older, newer, both):
        with preserved(change) as snapshot:
            change()
        assert float32_precisions() == before
        assert snapshot.unsaved == []
    # What was not set itself still has the value that is set for all.
    torch.backends.fp32_precision = "tf32"
    assert torch.backends.cuda.matmul.fp32_precision == "tf32"
    assert torch.backends.mkldnn.conv.fp32_precision == "tf32"
    torch.backends.fp32_precision = "none"


@pytest.mark.usefixtures("precision")
@pytest.mark.parametrize(
    "settings",
    [
        [],
        ["torch.set_default_dtype(torch.float64)"],
        ["torch.use_deterministic_algorithms(True)"],
        ["torch.use_deterministic_algorithms(True, warn_only=True)"],
        ['torch.set_float32_matmul_precision("high")'],
        ['torch.set_float32_matmul_precision("medium")', "torch.backends.cudnn.allow_tf32 = False"],
        ["torch.backends.cuda.matmul.allow_tf32 = True"],
        ['torch.backends.fp32_precision = "tf32"'],
        ['torch.backends.cudnn.fp32_precision = "ieee"'],
        [
            'torch.backends.fp32_precision = "ieee"',
            'torch.backends.cuda.matmul.fp32_precision = "tf32"',
        ],
        ['torch.backends.mkldnn.conv.fp32_precision = "bf16"'],
    ],
    ids=" ".join,
)
def test_changed_settings_are_written_as_the_code_that_sets_them(settings: list[str]) -> None:
    def call() -> None:
        exec("\n".join(settings), {"torch": torch})

    with preserved(call) as snapshot:
        call()
        assert changed_process_settings() == settings
        precisions = float32_precisions()
        snapshot.restore()
        assert changed_process_settings() == []
        call()
        assert float32_precisions() == precisions


def layer_of_ones() -> torch.nn.Linear:
    """A layer whose results in bfloat16 are exact."""
    layer = torch.nn.Linear(4, 4)
    for parameter in layer.parameters():
        torch.nn.init.ones_(parameter)
    return layer


def test_casts_that_autocast_keeps_do_not_outlive_a_block_of_its_modes() -> None:
    """A later block would compute with the weights of before."""
    layer, x = layer_of_ones(), torch.ones(1, 4)
    with torch.autocast("cpu"):
        modes = SavedModes().now()
    with in_force(modes):
        before = layer(x)
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.mul_(3)
    with in_force(modes):
        assert torch.equal(layer(x), 3 * before)


def test_eager_casts_the_weights_in_each_call_as_the_user_does() -> None:
    layer, x = layer_of_ones(), torch.ones(1, 4)
    with torch.autocast("cpu"), preserved(layer, (x,)) as snapshot:
        call = eager_call(layer, (x,), {}, snapshot)
        before = call()
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.mul_(3)
        assert torch.equal(call(), 3 * before)
