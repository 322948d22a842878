"""What a compiled function does with a number: whether a tensor, or a symbol, can replace it.

Some operators take a number only as a Python number, such as ``alpha`` of ``torch.add``: torch
compiles such a float as a constant, and a tensor in its place is a graph break.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from ....report import Advice, Failure, Node, SourceLine
from ...figures.wording import place
from ...text.brackets import split_list
from ..conditions import as_written
from ..reasons.recompile_words import describe

_ARITHMETIC = re.compile(r"_operator\.|item$|torch\.sym_\w+$")
_WITH_TENSORS = re.compile(
    r"(?:.*\.)?(?:add|sub|subtract|mul|multiply|div|divide|true_divide|floor_divide|remainder|fmod|"
    r"pow|float_power|clamp|clip|clamp_min|clamp_max|lerp|masked_fill|where|maximum|minimum|"
    r"eq|ne|lt|le|gt|ge)_?$"
)
"""Operators that take a tensor of one element in place of a number."""
_NUMBERS_ONLY = ("alpha", "rounding_mode")
"""Their arguments for which that does not hold."""
_KEYWORD = re.compile(r"(\w+)=(?!=)(.*)$", re.S)
_FLOAT = re.compile(r"-?\d+(?:\.\d*)?(?:e[+-]?\d+)?$")
_DERIVED = re.compile(r"\(.*\) == \(?-?\d+\.[\de+.-]*\)?$")
"""The guard on a float that was computed from a symbol and became a constant."""
_CUSTOM = re.compile(r"torch\.ops\.(?!aten\.|prims\.|higher_order\.)")
"""Operators that torch does not define itself."""
OPTIMIZER = re.compile(r"[/\\]torch[/\\]optim[/\\]")
_LEARNING_RATE = re.compile(r"\.param_groups\[\d+\]\['lr'\]")
_MOMENTUM = re.compile(r"\.param_groups\[\d+\]\['(?:betas|momentum)'\]")
_AS_ARITHMETIC = {
    "add": "x + {0} * y",
    "sub": "x - {0} * y",
    "leaky_relu": "torch.where(x > 0, x, {0} * x)",
    "dropout": "x * (torch.rand_like(x) >= {0}) / (1 - {0})",
}
"""Operators that need a number → the same in operators that also take a tensor."""

_TENSOR_LR = (
    "Create the optimizer with a tensor as its learning rate, lr=torch.tensor(\u2026): its value "
    "is not guarded, and schedulers change it in place. This optimizer compiles a number as a "
    "constant: dynamic=True does not avoid the recompile."
)
_CYCLE_MOMENTUM = (
    "If the momentum need not change, pass cycle_momentum=False to the scheduler (OneCycleLR, "
    "CyclicLR). The optimizer compiles {0} as a constant: dynamic=True does not avoid the "
    "recompile."
)


class Use(NamedTuple):
    """An operator that a number is an argument of."""

    operator: str
    takes_tensors: bool
    is_direct: bool
    """Whether the argument is the number itself, not what is computed from it."""
    where: SourceLine | None


class NumberUses:
    """What a compilation does with the numbers that it was given.

    Parameters
    ----------
    constants
        Sources that torch made symbols of, and then constants.
    derived
        Expressions of guards on what was computed from symbols: ``((-1.0)*L['lr']) == -0.1``.
    nodes
        The nodes of Dynamo's graph.
    symbols
        Source → the name of its symbol.
    known
        Source → its uses in the graph of an earlier compilation, for one that has no graph: beyond
        the recompile limit nothing is traced.
    """

    def __init__(
        self,
        constants: Collection[str] = (),
        derived: Sequence[str] = (),
        nodes: Sequence[Node] = (),
        symbols: Mapping[str, str] | None = None,
        known: Mapping[str, Sequence[Use]] | None = None,
    ) -> None:
        self.constants = constants
        self.derived = derived
        self.nodes = nodes
        self.symbols = symbols or {}
        self._known = known or {}

    def uses(self, failure: Failure) -> Sequence[Use] | None:
        """The operators that take a number; None if no graph shows them."""
        if self.nodes:
            return list(self._uses(failure))
        return self._known.get(failure.source)

    def is_constant(self, failure: Failure) -> bool:
        """Whether torch compiles a number or a size as a constant even where it may be a symbol.

        ``dynamic=True`` then changes nothing.
        """
        source = failure.source
        if failure.kind == "size":
            source += f".size()[{failure.dimension}]"
        return (
            source in self.constants
            or source.startswith("(")
            or (failure.kind == "value" and self._is_in_constant(source))
            or self._is_number_only(failure)
        )

    def _is_in_constant(self, source: str) -> bool:
        return bool(source) and any(
            source in expression and _DERIVED.match(expression) for expression in self.derived
        )

    def _is_number_only(self, failure: Failure) -> bool:
        """Whether an operator needs a float that was no symbol, as with ``dynamic=False``."""
        return (
            _is_float(failure.new or failure.old)
            and failure.source not in self.symbols
            and not all(use.takes_tensors for use in self.uses(failure) or ())
        )

    def takes_tensor(self, failure: Failure) -> bool:
        """Whether a tensor can replace the number, as far as the graph shows."""
        uses = self.uses(failure)
        if not uses:
            return uses is not None and not self.is_constant(failure)
        return all(use.takes_tensors for use in uses)

    def on_constant(self, failure: Failure, frame: SourceLine | None) -> Advice | None:
        """Advice on what torch compiles as a constant; None if a tensor can replace it."""
        lines = [line for line in (failure.where, frame) if line is not None]
        if any(OPTIMIZER.search(line.file) for line in lines):
            if _LEARNING_RATE.search(failure.source):
                return Advice(kind="tensor_lr", what=_TENSOR_LR)
            if _MOMENTUM.search(failure.source):
                return Advice(
                    kind="cycle_momentum", what=_CYCLE_MOMENTUM.format(as_written(failure.source))
                )
        if failure.kind != "size" and self.takes_tensor(failure):
            return None
        changed = describe(failure).subject
        use = next((use for use in self.uses(failure) or () if not use.takes_tensors), None)
        if use is None or failure.kind == "size":
            return Advice(
                kind="constant",
                what=(
                    f"The code that torch traces makes {changed} a constant, so that dynamic=True "
                    "does not avoid the recompile."
                ),
            )
        if _CUSTOM.match(use.operator):
            return Advice(
                kind="scalar_argument",
                what=(
                    f"{use.operator}{_at(use)} takes a Python number, which torch compiles as a "
                    "constant, even with dynamic=True. If the operator is yours, declare that "
                    f"parameter as a Tensor, and pass {changed} as a tensor: its value is not "
                    "guarded."
                ),
            )
        arithmetic = _AS_ARITHMETIC.get(use.operator.rpartition(".")[2].rstrip("_"), "")
        instead = f": {arithmetic.format(changed)}" if arithmetic and use.is_direct else ""
        return Advice(
            kind="scalar_argument",
            what=(
                f"Replace {use.operator}{_at(use)} by arithmetic{instead}, and pass {changed} as a "
                "tensor. The operator takes only a Python number, which torch compiles as a "
                "constant, even with dynamic=True."
            ),
        )

    def _uses(self, failure: Failure) -> Iterator[Use]:
        """The operators of the graph that take the number, or what is computed from it alone."""
        source = failure.source
        names = {re.sub(r"[^a-zA-Z0-9]+", "_", source), self.symbols.get(source, "")} - {""}
        value = float(failure.new) if _is_float(failure.new) else None
        itself = {
            node.name for node in self.nodes if node.op == "placeholder" and node.target in names
        }
        derived: set[str] = set()
        for node in self.nodes:
            if node.op not in ("call_function", "call_method"):
                continue
            taken: list[tuple[str, bool]] = []
            for argument in split_list(node.args):
                keyword = _KEYWORD.match(argument)
                name, text = keyword.groups() if keyword else ("", argument)
                is_value = value is not None and _is_float(text) and float(text) == value
                if is_value or text in itself or text in derived:
                    taken.append((name, text not in derived))
            if not taken:
                continue
            is_arithmetic = _ARITHMETIC.match(node.target) is not None
            if is_arithmetic and node.dtype is None:
                (itself if node.target == "item" else derived).add(node.name)
                continue
            takes_tensors = is_arithmetic or (
                _WITH_TENSORS.match(node.target) is not None
                and not any(name in _NUMBERS_ONLY for name, _ in taken)
            )
            called = node.target if node.op == "call_function" else f"Tensor.{node.target}"
            yield Use(
                called.replace("torch._C._nn.", ""),
                takes_tensors,
                all(is_direct for _, is_direct in taken),
                node.sources[-1] if node.sources else None,
            )


def _at(use: Use) -> str:
    return f" ({place(use.where)})" if use.where is not None else ""


def _is_float(text: str) -> bool:
    return "." in text and _FLOAT.match(text) is not None
