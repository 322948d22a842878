"""Compares what each kernel of a Python wrapper writes with the values that its graph defines.

The wrapper runs unchanged and is traced line by line (``sys.settrace``): after each launch the
buffers that it wrote are available as local variables. Before that, the graph that Inductor
compiled is interpreted with the same inputs, together with the same computation in double
precision.

Relies on ``GraphLowering`` (``codegen``, ``module``, ``name_to_buffer``),
``Buffer.get_origin_node`` and ``get_mutation_names``: the node whose value a buffer has, and the
inputs that it aliases; on ``ir.NopKernel``, which writes nothing; and on ``CompiledFxGraph``
(``__call__``, ``source_code``), through which a compiled graph is called in all versions.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import fx

from ..operators.double_precision import WIDER, DoublePrecision, with_double_precision
from ..process.patching import patched

_NAME = re.compile(r"[A-Za-z_]\w*")
_PART = re.compile(r"\s*(\w+) = (\w+)\[\d+\]\s*$")


@dataclass
class Lowered:
    """A graph that Inductor turned into a Python wrapper."""

    graph: fx.GraphModule
    text: str
    """The wrapper."""
    origins: dict[str, str]
    """Buffer → the node whose value it holds."""
    written: dict[str, str]
    """Node that writes to an input → that input's name."""


@dataclass
class Site:
    """A launch in a wrapper."""

    start: int
    end: int
    key: str
    kernel: str = ""
    nodes: Sequence[str] = ()
    """The nodes that it computes; empty if unknown."""


@dataclass
class Value:
    """The expected value of a node of the graph."""

    own: torch.Tensor
    """Computed node by node, in the dtypes of the graph."""
    exact: torch.Tensor


@dataclass
class Result:
    """A buffer that a launch wrote."""

    wrapper: str
    """The whole text."""
    site: Site
    buffer: str
    node: str
    tensor: torch.Tensor
    expected: Value


@dataclass
class Findings:
    """The results of running the wrappers."""

    compared: int = 0
    """Buffers."""
    graphs: int = 0
    failures: list[str] = field(default_factory=list)
    """Why a graph was not compared, or only in part."""


@contextlib.contextmanager
def lowerings(lowered: list[Lowered]) -> Iterator[None]:
    """Collects the graphs that Inductor lowers to Python wrappers in the block."""
    from torch._inductor.graph import GraphLowering

    def codegen(original: Callable[..., Any], self: Any) -> Any:
        generated = original(self)
        lowered.append(_lowered(self, generated[0].value))
        return generated

    with patched(GraphLowering, "codegen", codegen):
        yield


@contextlib.contextmanager
def record_kernel_results(
    lowered: Sequence[Lowered],
    sites: Callable[[str], Sequence[Site]],
    see: Callable[[Result], bool],
    room: Callable[[torch.device], float],
) -> Iterator[Findings]:
    """Passes on what each launch writes, for the compiled graphs that are called in the block.

    Parameters
    ----------
    sites
        Returns the launches of a wrapper, given its text.
    see
        Called with each buffer, in the order in which they are written, while the wrapper waits.
        Returns True to stop the comparison.
    room
        The free bytes on a device; the nodes' values use at most half of them.
    """
    from torch._inductor.output_code import CompiledFxGraph

    findings = Findings()
    done = False

    def enough(result: Result) -> bool:
        nonlocal done
        findings.compared += 1
        done = see(result)
        return done

    def call(original: Callable[..., Any], self: Any, inputs: Any) -> Any:
        text = str(getattr(self, "source_code", ""))
        graph = next(
            (candidate for candidate in lowered if candidate.text and candidate.text in text), None
        )
        if done or graph is None:
            if not done:
                findings.failures.append("A graph has no Python wrapper to look into.")
            return original(self, inputs)
        findings.graphs += 1
        try:
            with torch.no_grad():
                values = _interpreted(graph, inputs, room)
        except Exception as error:  # noqa: BLE001 - told, and the graph runs unseen
            findings.failures.append(_first_line(error))
            return original(self, inputs)
        look = _TracedCall(graph, text, sites(text), values, enough, findings)
        with look.tracing():
            return original(self, inputs)

    with patched(CompiledFxGraph, "__call__", call):
        yield findings


class _TracedCall:
    """One call of a compiled graph, traced launch by launch."""

    def __init__(
        self,
        graph: Lowered,
        text: str,
        sites: Sequence[Site],
        values: dict[str, Value],
        see: Callable[[Result], bool],
        findings: Findings,
    ) -> None:
        self._graph = graph
        self._text = text
        self._values = values
        self._see = see
        self._findings = findings
        self._lines = text.split("\n")
        self._sites = {number: site for site in sites for number in range(site.start, site.end + 1)}
        self._files: dict[str, bool] = {}
        self._seen: set[str] = set()
        self._owners: dict[str, Site] = {}
        self._over = False

    @contextlib.contextmanager
    def tracing(self) -> Iterator[None]:
        """Traces the wrapper's lines that this thread runs in the block."""
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, event: str, _: Any) -> Any:
        if self._over or event != "call" or not self._is_own(frame.f_code.co_filename):
            return None
        line = 0

        def step(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal line
            if line and not self._over and event in ("line", "return"):
                now = frame.f_lineno if event == "line" else 0
                try:
                    with torch.no_grad():
                        self._after(line, now, frame.f_locals)
                except Exception as error:  # noqa: BLE001 - raised here, it would be the wrapper's
                    self._over = True
                    self._findings.failures.append(_first_line(error))
            line = frame.f_lineno
            return step

        return step

    def _is_own(self, path: str) -> bool:
        if path not in self._files:
            file = Path(path)
            self._files[path] = (
                path.endswith(".py")
                and file.is_file()
                and file.stat().st_size == len(self._text.encode())
                and file.read_text(encoding="utf-8") == self._text
            )
        return self._files[path]

    def _after(self, line: int, now: int, variables: dict[str, Any]) -> None:
        """Reads the buffers after a line; tracing may visit a statement's lines several times."""
        site = self._sites.get(line)
        if site is not None:
            if self._sites.get(now) is not site:
                self._launched(site, variables)
            return
        part = _PART.match(self._lines[line - 1])
        if part and part.group(2) in self._owners:
            name, whole = part.groups()
            self._owners[name] = self._owners[whole]
            self._check_variable(self._owners[whole], name, variables)

    def _launched(self, site: Site, variables: dict[str, Any]) -> None:
        text = "\n".join(self._lines[site.start - 1 : site.end])
        code = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("#"))
        for name in dict.fromkeys(_NAME.findall(code)):
            if name in variables and name not in self._owners:
                self._owners[name] = site
                self._check_variable(site, name, variables)
        for node in site.nodes:
            name = self._graph.written.get(node, "")
            if name in variables:
                self._compare(site, name, node, variables)

    def _check_variable(self, site: Site, name: str, variables: dict[str, Any]) -> None:
        node = self._graph.origins.get(name)
        if node is not None and (not site.nodes or node in site.nodes):
            self._compare(site, name, node, variables)

    def _compare(self, site: Site, name: str, node: str, variables: dict[str, Any]) -> None:
        tensor, expected = variables[name], self._values.get(node)
        if (
            not self._over
            and expected is not None
            and isinstance(tensor, torch.Tensor)
            and tensor.shape == expected.own.shape
            and tensor.dtype == expected.own.dtype
        ):
            result = Result(self._text, site, name, node, tensor.detach(), expected)
            self._over = self._see(result)


class _Interpreter(fx.Interpreter):
    """Runs a graph node by node, and keeps the values of the named nodes."""

    def __init__(
        self,
        graph: fx.GraphModule,
        names: set[str],
        mode: DoublePrecision,
        room: Callable[[torch.device], float],
    ) -> None:
        super().__init__(graph)
        self.names = names
        self.mode = mode
        self.room = room
        self.left: dict[torch.device, float] = {}
        self.values: dict[str, Value] = {}

    def run_node(self, n: fx.Node) -> Any:
        if isinstance(n.target, torch._ops.HigherOrderOperator):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            result = self.mode.run_higher_order(n.target, args, kwargs)
        else:
            result = super().run_node(n)
        if n.name in self.names and isinstance(result, torch.Tensor) and result.dtype in WIDER:
            exact = self.mode.value_of(result)
            if exact is not None:
                self._reserve(result.device, result.nbytes + exact.nbytes)
                self.values[n.name] = Value(result.detach().clone(), exact)
        return result

    def _reserve(self, device: torch.device, size: int) -> None:
        if device not in self.left:
            self.left[device] = self.room(device) / 2
        self.left[device] -= size
        if self.left[device] < 0:
            raise MemoryError("the values of the graph's nodes take more than half of what is free")


def _interpreted(
    graph: Lowered, inputs: Sequence[Any], room: Callable[[torch.device], float]
) -> dict[str, Value]:
    """The values of the nodes that buffers hold, for these inputs, which are not modified."""
    names = {*graph.origins.values(), *graph.written}
    copies = [value.clone() if isinstance(value, torch.Tensor) else value for value in inputs]
    devices = sorted({copy.device.index for copy in copies if _on_gpu(copy)})
    # The graph may draw random numbers; the wrapper must draw the same.
    with torch.random.fork_rng(devices), with_double_precision() as mode:
        interpreter = _Interpreter(graph.graph, names, mode, room)
        interpreter.run(*copies)
    return interpreter.values


def _on_gpu(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_cuda


def _lowered(graph: Any, text: str) -> Lowered:
    from torch._inductor import ir

    origins: dict[str, str] = {}
    written: dict[str, str] = {}
    for name, buffer in graph.name_to_buffer.items():
        node = buffer.get_origin_node() if hasattr(buffer, "get_origin_node") else None
        if node is None:
            continue
        inputs = [
            mutated for mutated in buffer.get_mutation_names() if mutated in graph.graph_inputs
        ]
        if inputs:
            written[node.name] = inputs[0]
        elif not isinstance(buffer, ir.NopKernel):
            origins[name] = node.name
    return Lowered(graph.module, text, origins, written)


def _first_line(error: Exception) -> str:
    first = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first}"
