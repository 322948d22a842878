"""Reads graphs, code and guards from the result of ``torch.compile(...).aot_compile(...)``.

Relies on ``torch._dynamo.aot_compile`` (``AOTCompiledFunction``: ``_artifacts``, ``fn``,
``_extra_globals``, ``guard_check``, ``prepare_f_locals``; ``AOTCompiledModel``: ``model``,
``compiled_results``) as read in 2.13. Of ``_artifacts``: ``original_code``, ``backend_name``,
``guard_manager``, ``runtime_env`` (``closure``, ``argdefs``, ``kwdefaults``), and ``compiled_fn``.
The last holds a graph module if the backend is ``eager``; otherwise its ``serialize()`` returns
AOTAutograd's cache entry: ``aot_…_graph_str``, ``compiled_fw`` and ``compiled_bw``, whose
``result`` has ``source_code`` and ``inductor_post_grad_graph_str``. Attributes that a version lacks
are left out.
"""

from __future__ import annotations

import builtins
import dis
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import torch

from .record_names import DYNAMO_GRAPH, GUARDS, OUTPUT_CODE


class AotCompiled(msgspec.Struct, frozen=True):
    """The result of ``aot_compile``."""

    call: Callable[..., Any]
    """The callable itself, which takes the subject's arguments."""
    functions: tuple[Any, ...]
    """One compiled function for each input that a module was compiled for; otherwise a single
    one."""

    @property
    def backend(self) -> str:
        """The backend's name; empty if torch does not report it."""
        return str(getattr(self.functions[0]._artifacts, "backend_name", ""))

    @property
    def has_cpp_wrapper(self) -> bool:
        """Whether Inductor wrote a C++ wrapper for it."""
        codes = (
            text
            for function in self.functions
            for event, text in events(function)
            if event == OUTPUT_CODE
        )
        return any("cpp_wrapper_src" in code for code in codes)

    def original(self) -> Callable[..., Any]:
        """The function, or the module, that it was compiled from.

        A function is rebuilt from its code with the globals that it was compiled or loaded with.
        Some globals may be missing, see `lacking`.
        """
        if isinstance(module := getattr(self.call, "model", None), torch.nn.Module):
            return module
        compiled = self.functions[0]
        environment: Any = getattr(compiled._artifacts, "runtime_env", None)
        code: types.CodeType = compiled._artifacts.original_code
        cells = _cells(compiled)
        original = types.FunctionType(
            code,
            _globals(compiled),
            argdefs=getattr(environment, "argdefs", None),
            closure=tuple(cells.get(name, types.CellType()) for name in code.co_freevars),
        )
        original.__kwdefaults__ = getattr(environment, "kwdefaults", None)
        return original

    def lacking(self) -> list[str]:
        """Names that the original function needs and that the loaded globals lack."""
        if isinstance(getattr(self.call, "model", None), torch.nn.Module):
            return []
        function = self.functions[0]
        code = function._artifacts.original_code
        present, cells = _globals(function), _cells(function)
        names = [
            name
            for name in dict.fromkeys(_global_names(code))
            if name not in present and not hasattr(builtins, name)
        ]
        return [*names, *(name for name in code.co_freevars if name not in cells)]

    def refusal(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        """The guard that fails for a call, in torch's words; empty if the call can run."""
        reason = ""
        model_argument = (self.call.model,) if hasattr(self.call, "model") else ()
        for function in self.functions:
            manager = function._artifacts.guard_manager
            if manager is None or not getattr(function, "_guard_check_enabled", True):
                return ""
            # check_verbose does not count failures in the live tree.
            answer = manager.check_verbose(
                function.prepare_f_locals(*model_argument, *args, **kwargs)
            )
            if answer.result:
                return ""
            reason = reason or "; ".join(map(str, answer.verbose_code_parts)) or _UNNAMED
        return reason


def aot_compiled(fn: object) -> AotCompiled | None:
    """``fn`` as an `AotCompiled`; None if ``aot_compile`` did not return it."""
    module: Any = sys.modules.get("torch._dynamo.aot_compile")
    if module is None:
        return None
    # For a module, torch stores the compiled function in the compiled module as its forward.
    if isinstance(fn, torch.nn.Module) and "forward" in vars(fn):
        fn = vars(fn)["forward"]
    call: Any = fn
    if isinstance(fn, getattr(module, "AOTCompiledFunction", ())):
        return AotCompiled(call, (fn,))
    if isinstance(fn, getattr(module, "AOTCompiledModel", ())) and call.compiled_results:
        return AotCompiled(call, tuple(call.compiled_results))
    return None


def events(function: Any) -> Iterator[tuple[str, str]]:
    """The artifacts of a compiled function: names and texts, as in torch's trace."""
    held = function._artifacts.compiled_fn
    graph = getattr(held, "graph_module", None)
    if isinstance(graph, torch.fx.GraphModule):
        yield DYNAMO_GRAPH, graph.print_readable(print_output=False, include_stride=True)
    serialize = None if graph is not None else getattr(held, "serialize", None)
    if callable(serialize):
        entry = serialize()
        trains = bool(getattr(entry, "aot_backward_graph_str", None))
        forward = "aot_forward_graph" if trains else "aot_inference_graph"
        yield from _texts(
            entry,
            aot_joint_graph_str="aot_joint_graph",
            aot_forward_graph_str=forward,
            aot_backward_graph_str="aot_backward_graph",
        )
        for direction in ("compiled_fw", "compiled_bw"):
            yield from _texts(
                getattr(getattr(entry, direction, None), "result", None),
                inductor_post_grad_graph_str="inductor_post_grad_graph",
                source_code=OUTPUT_CODE,
            )
    if function._artifacts.guard_manager is not None:
        yield GUARDS, str(function._artifacts.guard_manager)


def _texts(value: Any, **named: str) -> Iterator[tuple[str, str]]:
    for attribute, event in named.items():
        text = getattr(value, attribute, None)
        if isinstance(text, str) and text:
            yield event, text


_UNNAMED = "torch does not say which"


def _globals(function: Any) -> dict[str, Any]:
    """The globals it was compiled or loaded with; without those, the ones stored with its code."""
    extra_globals: dict[str, Any] | None = getattr(function, "_extra_globals", None)
    held: dict[str, Any] = function.fn.__globals__
    return held if extra_globals is None else extra_globals


def _cells(function: Any) -> dict[str, types.CellType]:
    """The closure's cells by name."""
    names = function.fn.__code__.co_freevars
    return dict(zip(names, function.fn.__closure__ or (), strict=False))


def _global_names(code: types.CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _global_names(constant)
