"""What a launch is compared with, from its nodes."""

from __future__ import annotations

from compilescope.analysis.wrapper.launches import Meaning, meaning_of
from compilescope.report import Node


def test_attention_computes_in_the_type_of_its_input() -> None:
    """Its node gives a tuple, which has no type: without one its share of the peak was unknown."""
    nodes = {
        "q": Node(name="q", op="placeholder", target="q", dtype="float32", device="cpu"),
        "attention": Node(
            name="attention",
            op="call_function",
            target="torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default",
            inputs=["q"],
        ),
    }
    expected = Meaning(device="cpu", dtype="float32", product=True)
    assert meaning_of(["attention"], nodes, "cpu") == expected
