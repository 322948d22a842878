"""A graph as Dynamo captured it, with everything needed to compile it again.

Relies on ``torch._library.fake_class_registry.FakeScriptObject``, the memo of a fake tensor's item
(``item_memo``), ``torch._dynamo.symbolic_convert.TensorifyState``, the types of symbols
(``torch.utils._sympy.symbol``) and their values (``ShapeEnv.backed_var_to_val``, in some versions
``var_to_val``), and on AOTAutograd's behavior at a graph's first backward
(``_get_current_graph_task_keep_graph``); the same from 2.11 to 2.15.
"""

from __future__ import annotations

import contextlib
import dataclasses
import types
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import fx
from torch._dynamo.symbolic_convert import TensorifyState
from torch._library.fake_class_registry import FakeScriptObject
from torch.utils._pytree import tree_leaves
from torch.utils._sympy.symbol import SymT, symbol_is_type


@dataclasses.dataclass
class FirstBackward:
    """How a graph's backward was first called, which is when torch compiles it."""

    keeps_graph: bool | None = None
    """Whether the call used ``retain_graph`` or ``create_graph``: the saved tensors may then be
    needed again, so the backward must not reuse their memory. None: it was not called."""

    def watch(self, outputs: Sequence[Any], *, but: set[Any]) -> None:
        """Records the first backward through one of these tensors, unless by a node in ``but``."""
        nodes = {output.grad_fn for output in outputs if isinstance(output, torch.Tensor)}
        # Otherwise Dynamo compiles the hook together with the code that calls the backward.
        disable: Any = torch.compiler.disable
        note = disable(self._record_keeps_graph)
        for node in nodes - but:
            if node is not None:
                node.register_prehook(note)

    def _record_keeps_graph(self, gradients: Any) -> None:
        if self.keeps_graph is None:
            self.keeps_graph = torch._C._autograd._get_current_graph_task_keep_graph()


@dataclasses.dataclass(frozen=True)
class Capture:
    """A graph as Dynamo passed it to the backend, with everything needed to compile it again.

    The example inputs are fake: no tensor of the user is kept.
    """

    graph: fx.GraphModule
    inputs: list[Any]
    fake_mode: Any
    compile_id: str
    grad: bool
    inference: bool
    autocast: tuple[tuple[str, bool, torch.dtype], ...]
    constants: frozenset[str]
    """The symbols of floats that Inductor needed as constants, and that Dynamo specialized."""
    backward: FirstBackward
    tracked_fakes: list[Any]
    """The inputs that Dynamo's guards on sizes are about."""
    is_whole_call: bool
    """Whether nothing of the user's runs before or after the graph in the call."""
    traced: frozenset[types.CodeType]
    """The code that Dynamo traced for it, called functions included."""

    @property
    def is_on_cpu(self) -> bool:
        """Whether no input is on another device."""
        tensors = [value for value in self.inputs if isinstance(value, torch.Tensor)]
        return all(tensor.device.type == "cpu" for tensor in tensors)

    @property
    def devices(self) -> frozenset[str]:
        """The devices of all tensors with data in the graph, such as ``cuda:0``."""
        values = [node.meta.get("example_value") for node in self.graph.graph.nodes]
        leaves = tree_leaves([self.inputs, values])
        devices = {leaf.device for leaf in leaves if isinstance(leaf, torch.Tensor)}
        return frozenset(str(device) for device in devices if device.type != "meta")


def tracked_fakes_of(fake_mode: Any) -> list[Any]:
    """The inputs that Dynamo's guards on sizes are about."""
    return getattr(fake_mode.shape_env, "tracked_fakes", None) or []


def fake_of(example: Any, value: Any, mode: Any) -> Any:
    """A placeholder's fake value; sizes of dynamic shapes are already plain numbers or symbols."""
    if example is None or isinstance(example, FakeScriptObject):
        # A process group or a device mesh: torch fakes it itself, and rejects a fake one.
        return value
    number = number_of(example)
    if number is None:
        return example
    # A dynamic float: a tensor whose item() is a symbol that only its own fake mode knows.
    with mode:
        fake: Any = torch.empty((), dtype=example.dtype)
    fake.item_memo = number
    return fake


def undecided_floats(fake_mode: Any) -> list[str]:
    """The symbols of floats that torch may yet replace with constants.

    One that Dynamo needed only for a comparison is not an input of the graph: ``if x.item() > 0``.
    """
    return [
        str(symbol)
        for symbol in symbol_values(fake_mode.shape_env)
        if symbol_is_type(symbol, SymT.FLOAT) and not TensorifyState.should_specialize(str(symbol))
    ]


def symbol_values(shape_env: Any) -> dict[Any, Any]:
    """The values that symbols of sizes and numbers have in the example."""
    values = getattr(shape_env, "backed_var_to_val", None)
    return getattr(shape_env, "var_to_val", {}) if values is None else values


def number_of(fake: Any) -> torch.SymFloat | None:
    """The symbol that Dynamo passes to the graph as this tensor, if any."""
    number = getattr(fake, "item_memo", None)
    return number if isinstance(number, torch.SymFloat) else None


def tensor_with_value(number: float, like: torch.Tensor) -> torch.Tensor:
    """A tensor of the active fake mode whose value is known."""
    fake: Any = torch.empty((), dtype=like.dtype)
    fake.item_memo = number
    return fake  # type: ignore[no-any-return]


def autocast_state() -> tuple[tuple[str, bool, torch.dtype], ...]:
    """Whether autocast is enabled, and with which dtype, for each kind of device."""
    return tuple(
        (device, torch.is_autocast_enabled(device), torch.get_autocast_dtype(device))
        for device in ("cpu", "cuda")
    )


@contextlib.contextmanager
def modes_of(capture: Capture) -> Iterator[None]:
    """The global modes under which the graph was captured."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.inference_mode(capture.inference))
        stack.enter_context(torch.set_grad_enabled(capture.grad))
        for device, enabled, dtype in capture.autocast:
            if enabled:
                stack.enter_context(torch.autocast(device, dtype=dtype))
        yield
