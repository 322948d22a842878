"""Runs a graph's wrapper on the CPU and compares each Triton kernel with its operators.

Each launch is checked by itself: its kernel runs under Triton's interpreter on its actual inputs,
and torch's operators compute its nodes from the same inputs. A result that is no node of the graph
(the partial sums of a split reduction) is checked through the launches that read it, and these
kernels share the verdict. If a kernel was not run or differs, its result is replaced by the
expected one, so that its error does not affect later launches.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch

from ...measure import numerics
from ...report.target import KernelCheck
from ...torch_api.targets.described_graphs import LoweredBuffer, LoweredGraph, LoweredNode, Shape
from ...torch_api.targets.interpreter import Kernel
from ...torch_api.targets.interpreter_errors import (
    CannotInterpretError,
    KernelFaultError,
    OutOfTimeError,
)
from ..check_request import Limits
from . import operators
from .buffers import last
from .cpu_wrapper import Wrapper
from .errors import first_sentence
from .examples import example, example_value, filled, refs, with_strides
from .reference import NoReferenceError, Reference
from .variables import Source, Variables, copied, same_bits
from .verdict import HOW, HOW_OWN, not_checked, verdict, worst

_OFTEN = "it was compared often enough"


class Judge:
    """Runs one graph, once.

    Parameters
    ----------
    folder
        Where kernel sources are written.
    until
        The deadline, by ``time.monotonic``.
    """

    def __init__(
        self,
        graph: LoweredGraph,
        folder: Path,
        limits: Limits,
        until: float,
        generator: torch.Generator,
        step: Callable[[str], None],
    ) -> None:
        self.checks: dict[str, list[KernelCheck]] = {}
        """Kernel → the verdicts on its launches."""
        self.doubtful: set[str] = set()
        """Kernels that other inputs would check better: most results are not numbers, or an index
        is out of range."""
        self.missing: dict[str, str] = {}
        """Library operators that this machine does not have, each with the reason if it is known.
        Random values stand in for their results."""
        self.wrapper = Wrapper(graph.wrapper)
        self._graph = graph
        self._folder = folder
        self._limits = limits
        self._until = until
        self._generator = generator
        self._step = step
        self._kernels: dict[str, Kernel | str] = {}
        self._launches: dict[str, int] = {}
        self._wide = Reference(graph, wide=True)
        self._own = Reference(graph, wide=False)
        self._variables = Variables(graph, {})

    def run(self, inputs: dict[str, Any]) -> tuple[Any, ...]:
        """The wrapper's results, from the graph's inputs by name."""
        self._variables = Variables(self._graph, inputs)
        return tuple(self.wrapper.call(self, [copied(value) for value in inputs.values()]))

    # What the wrapper asks for --------------------------------------------------------------

    def allocated(self, size: Any, stride: Any, dtype: torch.dtype) -> torch.Tensor:
        """Memory filled with values that no result has."""
        poison = math.nan if dtype.is_floating_point or dtype.is_complex else 0
        return filled(Shape(tuple(size), tuple(stride), dtype), poison)

    def renamed(self, name: str, old: str, value: Any) -> Any:
        """The memory of another variable, with what is in it."""
        source = self._graph.buffers.get(old)
        if source is not None and source.shape is None:
            # A library call's only result, under a name of its own.
            return self.library_result(name, [old], lambda: value)
        self._variables.rename(name, old)
        return value

    def library_result(self, name: str, names: Sequence[str], make: Callable[[], Any]) -> Any:
        """A library call's result, laid out as on the target.

        If the call fails here, random values stand in for it.
        """
        source = self._variables.read(names)
        buffer = self._graph.buffers.get(name)
        try:
            value = make()
        except Exception:
            node = self._node_behind(buffer)
            if buffer is None or node is None:
                raise
            # Its readers are checked with example values, whatever the cause.
            value = example_value(buffer.shape or node.value, self._generator)
            self._note_missing(node, source)
        if buffer is None or buffer.shape is None or not isinstance(value, torch.Tensor):
            self._variables.come_from(name, source)
            return value
        value = with_strides(value, buffer.shape)
        self._check_library_result(name, value, source)
        return value

    def called(self, names: Sequence[str], call: Callable[[], Any]) -> None:
        """A library call that writes to a variable: to its result's, the last that is expected."""
        source = self._variables.read(names)
        written = [name for name in names if self._variables.is_written(name)]
        result = call()
        if written and isinstance(result, torch.Tensor):
            self._check_library_result(written[-1], result, source)

    def launch(self, kernel: str, names: Sequence[str], args: Sequence[Any]) -> None:
        """A launch: run, compared, and put right where it was not."""
        self._launches[kernel] = self._launches.get(kernel, 0) + 1
        before = {at: copied(arg) for at, arg in enumerate(args) if isinstance(arg, torch.Tensor)}
        source = self._variables.read([names[at] for at in before])
        fault = ""
        why = self._why_not_interpreted(kernel, source)
        if not why:
            try:
                why = self._interpreted(kernel, args)
            except KernelFaultError as error:
                why = fault = str(error)
        changed = [at for at in before if not why and not same_bits(args[at], before[at])]
        written = self._written(kernel, names, list(before), changed)
        outputs = {name: args[at] for name, at in written.items()}
        verdicts = self._judged(kernel, outputs, source, why)
        if fault:
            verdicts = [self._attributed(kernel, fault, verdicts, source)]
        elif why:
            verdicts = [not_checked(why)] if why != _OFTEN else []
        self._record_verdicts(kernel, verdicts, source)

    # Launches -------------------------------------------------------------------------------

    def _why_not_interpreted(self, kernel: str, source: Source) -> str:
        """Why a launch is not interpreted, or nothing."""
        if self._launches[kernel] > self._limits.launches:
            return _OFTEN
        if source.unknown:
            return f"it reads the result of {source.unknown}, which was not made here"
        if time.monotonic() > self._until:
            return f"other kernels took the {self._limits.total_s:g} s that a check may take"
        loaded = self._loaded(kernel)
        return loaded if isinstance(loaded, str) else ""

    def _interpreted(self, name: str, args: Sequence[Any]) -> str:
        """Runs a launch; why it could not be, or nothing."""
        kernel = self._kernels[name]
        assert isinstance(kernel, Kernel), "it was loaded"
        self._step(f"running {name} under Triton's interpreter")
        seconds = max(0.0, min(self._until - time.monotonic(), self._limits.launch_s))
        try:
            config, blocks = kernel.plan(args)
            if blocks > self._limits.blocks:
                return f"a launch has {blocks:,} blocks; the limit is {self._limits.blocks:,}"
            kernel.run(args, config, seconds)
        except OutOfTimeError:
            return f"Triton's interpreter was not done within {seconds:.3g} s"
        except CannotInterpretError as error:
            return str(error)
        return ""

    def _loaded(self, name: str) -> Kernel | str:
        """A kernel, or why there is none that can be run."""
        if name not in self._kernels:
            definition = self.wrapper.kernels.get(name)
            if definition is None:
                maker = self.wrapper.others.get(name, "")
                self._kernels[name] = f"it is made by async_compile.{maker}"
            else:
                try:
                    self._kernels[name] = Kernel(definition.name, definition.source, self._folder)
                except Exception as error:  # noqa: BLE001 - any error of its source is its verdict
                    self._kernels[name] = f"it cannot be loaded: {first_sentence(error)}"
        return self._kernels[name]

    def _attributed(
        self, kernel: str, fault: str, verdicts: list[KernelCheck], source: Source
    ) -> KernelCheck:
        """Whose fault it is that a kernel could not go on: its own, or that of a random index."""
        failed = [verdict.why for verdict in verdicts if verdict.why]
        if failed or (not verdicts and self._variables.has_integers(source)):
            self.doubtful.add(kernel)
            return not_checked(f"with random inputs, {'; '.join([fault, *failed])}")
        return KernelCheck(outcome="differs", why=fault, how=HOW, launches=1)

    def _written(
        self, name: str, names: Sequence[str], tensors: Sequence[int], changed: Sequence[int]
    ) -> dict[str, int]:
        """Variable that a launch writes to → its place; by its parameter's name or its change."""
        kernel = self._kernels.get(name)
        parameters = kernel.parameters if isinstance(kernel, Kernel) else []
        result = {}
        for at in tensors:
            parameter = parameters[at] if at < len(parameters) else ""
            is_output = parameter.startswith(("out_ptr", "in_out_ptr")) and not _only_reads(
                self.wrapper.kernels[name].source, parameter
            )
            if not parameter and not isinstance(kernel, Kernel):
                # Its parameters are unknown: the tensors that should be written count.
                is_output = self._variables.is_written(names[at])
            if names[at] and (is_output or at in changed):
                result[names[at]] = at
        return result

    def _judged(
        self, kernel: str, outputs: dict[str, torch.Tensor], source: Source, why: str
    ) -> list[KernelCheck]:
        """The verdict on each result that is a node's."""
        definition = self.wrapper.kernels.get(kernel)
        self._own.lanes = definition is not None and "4x(" in definition.source
        self._wide.lanes = self._own.lanes
        verdicts: list[KernelCheck] = []
        for name, tensor in outputs.items():
            buffer = self._variables.write(name)
            argument = self._argument(buffer, tensor, source) if not why else ""
            if argument:
                self._variables.hold(name, argument, tensor)
                verdicts.append(self._check_and_correct(argument, tensor, source, ran=True))
                continue
            if buffer is None or not buffer.node:
                drawn_from = Source(set(source.nodes), {*source.kernels, kernel})
                drawn_from.unknown = kernel if why else ""
                self._variables.come_from(name, drawn_from)
                continue
            try:
                verdicts.append(self._check_and_correct(buffer.node, tensor, source, ran=not why))
            except NoReferenceError as error:
                verdicts.append(not_checked(str(error)))
                if why:
                    shape = Shape(tuple(tensor.shape), tensor.stride(), tensor.dtype)
                    tensor.copy_(example(shape, self._generator))
            if _is_nowhere_a_number(tensor):
                self.doubtful.add(kernel)
            self._variables.hold(name, buffer.node, tensor)
        return verdicts

    def _argument(self, buffer: LoweredBuffer | None, tensor: torch.Tensor, source: Source) -> str:
        """The argument of a library call that a result is, where it is no node's by its name.

        Such a copy is made where the library wants another layout. Only numbers tell which argument
        it is, so that a wrong one goes on unknown, and is judged by what the library makes of it.
        """
        if buffer is None or buffer.node:
            return ""
        nodes = {node.name: node for node in self._graph.nodes}
        values = self._variables.values(source)
        for origin in buffer.origins:
            for ref in refs((nodes[origin].args, nodes[origin].kwargs)) if origin in nodes else ():
                shape = nodes[ref.name].value
                if not isinstance(shape, Shape) or shape.size != tuple(tensor.shape):
                    continue
                try:
                    reference = self._own.value(ref.name, values)
                except NoReferenceError:
                    continue
                if reference.dtype == tensor.dtype and torch.equal(reference, tensor):
                    return ref.name
        return ""

    def _check_and_correct(
        self, node: str, tensor: torch.Tensor, source: Source, *, ran: bool
    ) -> KernelCheck:
        values = self._variables.values(source)
        reference = _like(self._own.value(node, values), tensor).to(tensor.dtype)
        if not ran:
            tensor.copy_(reference)
            return not_checked("")
        check = self._compared(node, reference, tensor, source, values)
        if check.outcome == "differs":
            tensor.copy_(reference)
        return check

    def _compared(
        self,
        node: str,
        reference: torch.Tensor,
        actual: torch.Tensor,
        source: Source,
        values: dict[str, Any],
    ) -> KernelCheck:
        how = HOW
        try:
            wide = _like(self._wide.value(node, values), actual)
        except NoReferenceError:
            wide, how = numerics.wide(reference), HOW_OWN
        check = verdict(node, reference, actual, wide, self._variables.largest(source))
        check.how, check.launches = how, 1
        return check

    def _check_library_result(self, name: str, value: torch.Tensor, source: Source) -> None:
        """A library call's result: kernels that worked for it alone are judged by it."""
        buffer = self._variables.write(name)
        if buffer is None or not buffer.node:
            self._variables.come_from(name, source)
            return
        if source.kernels and not source.unknown:
            values = self._variables.values(source)
            try:
                reference = _like(self._own.value(buffer.node, values), value).to(value.dtype)
                check = self._compared(buffer.node, reference, value, source, values)
            except NoReferenceError as error:
                check = not_checked(str(error))
            if check.outcome == "differs":
                # Libraries round differently, so this does not prove a fault in a kernel.
                check = not_checked(
                    f"its result only goes into a library call, of which {check.why}"
                )
            self._share(check, source.kernels, "the library call behind it")
        self._variables.hold(name, buffer.node, value)

    def _record_verdicts(self, kernel: str, verdicts: list[KernelCheck], source: Source) -> None:
        kernel_checks = self.checks.setdefault(kernel, [])
        if verdicts:
            kernel_checks.append(worst(verdicts))
            if kernel_checks[-1].outcome != "not checked":
                self._share(kernel_checks[-1], source.kernels - {kernel}, kernel)

    def _share(self, check: KernelCheck, kernels: set[str], other: str) -> None:
        """Applies a verdict also to the kernels that computed its inputs."""
        for kernel in sorted(kernels):
            shared = msgspec.structs.replace(check)
            if shared.outcome == "differs":
                shared.why = f"together with {other}: {shared.why}"
            elif shared.outcome == "agrees":
                shared.how = f"{shared.how}, together with {other}"
            self.checks.setdefault(kernel, []).append(shared)

    def _node_behind(self, buffer: LoweredBuffer | None) -> LoweredNode | None:
        """The node that a library call's variable was made for."""
        order = {node.name: place for place, node in enumerate(self._graph.nodes)}
        node = last([buffer.node, *buffer.origins], order) if buffer is not None else ""
        return self._graph.nodes[order[node]] if node else None

    def _note_missing(self, node: LoweredNode, source: Source) -> None:
        operator = f"{node.target.module}.{node.target.name}"
        failed = operators.why_missing(operator.rpartition(".")[0].replace(".", "::"))
        self.missing[operator] = f"{operator} ({failed})" if failed else operator
        source.unknown = operator
        for kernel in source.kernels:
            why = f"it works for {self.missing[operator]} alone, which is not on this machine"
            self.checks.setdefault(kernel, []).append(not_checked(why))


def _like(value: Any, tensor: torch.Tensor) -> torch.Tensor:
    """A node's value in the shape of the buffer that should hold it."""
    if not isinstance(value, torch.Tensor) or value.numel() != tensor.numel():
        raise NoReferenceError("its node's value is another than its buffer's")
    return value.reshape(tensor.shape)


def _only_reads(source: str, parameter: str) -> bool:
    """Whether a kernel loads from a parameter and does nothing else with it.

    Of a result that nobody reads, Inductor drops the store and keeps the parameter's name.
    """
    _, _, function = source.partition("@triton.jit")
    _, _, inside = function.partition("):\n")
    return not re.search(rf"(?<!tl\.load\()\b{parameter}\b", inside)


def _is_nowhere_a_number(tensor: torch.Tensor) -> bool:
    """Whether most of it is NaN."""
    if not tensor.dtype.is_floating_point or not tensor.numel():
        return False
    return tensor.double().isnan().double().mean().item() > 0.5
