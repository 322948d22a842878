"""What ``torch.compile(...).aot_compile(...)`` returned, opened: its graphs, code and guards.

Stands on ``torch._dynamo.aot_compile`` (``AOTCompiledFunction``: ``_artifacts``, ``fn``,
``_extra_globals``, ``guard_check``, ``prepare_f_locals``; ``AOTCompiledModel``: ``model``,
``compiled_results``) as read in 2.13. Of ``_artifacts``: ``original_code``, ``backend_name``,
``guard_manager``, ``runtime_env`` (``closure``, ``argdefs``, ``kwdefaults``), and ``compiled_fn``.
That one holds a graph module, where the backend is ``eager``; else its ``serialize()`` gives what
AOTAutograd's cache would keep: ``aot_…_graph_str``, ``compiled_fw`` and ``compiled_bw``, whose
``result`` has ``source_code`` and ``inductor_post_grad_graph_str``. What a torch does not have is
left out.
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


class AotCompiled(msgspec.Struct, frozen=True):
    """What ``aot_compile`` returned."""

    call: Callable[..., Any]
    """As it was given: called with the subject's arguments."""
    functions: tuple[Any, ...]
    """One compiled function for each input that a module was compiled for, else one."""

    @property
    def backend(self) -> str:
        """The backend's name; empty where torch does not say it."""
        return str(getattr(self.functions[0]._artifacts, "backend_name", ""))

    @property
    def has_cpp_wrapper(self) -> bool:
        """Whether Inductor wrote a C++ wrapper for it."""
        codes = (
            text for function in self.functions for event, text in events(function) if event == CODE
        )
        return any("cpp_wrapper_src" in code for code in codes)

    def original(self) -> Callable[..., Any]:
        """The function, or the module, that it was compiled from.

        The function is made anew of its code: with the globals that it was compiled with or loaded
        with. Those may lack some, see `lacking`.
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
        """Names that the original function needs and that are not in what was loaded."""
        if isinstance(getattr(self.call, "model", None), torch.nn.Module):
            return []
        function = self.functions[0]
        code = function._artifacts.original_code
        known, cells = _globals(function), _cells(function)
        names = [
            name
            for name in dict.fromkeys(_global_names(code))
            if name not in known and not hasattr(builtins, name)
        ]
        return [*names, *(name for name in code.co_freevars if name not in cells)]

    def refusal(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        """Which guard does not hold for a call, in torch's words; empty where one function's do."""
        reason = ""
        model_argument = (self.call.model,) if hasattr(self.call, "model") else ()
        for function in self.functions:
            manager = function._artifacts.guard_manager
            if manager is None or not getattr(function, "_guard_check_enabled", True):
                return ""
            # Asked as torch words it, which counts nothing in the live tree.
            answer = manager.check_verbose(
                function.prepare_f_locals(*model_argument, *args, **kwargs)
            )
            if answer.result:
                return ""
            reason = reason or "; ".join(map(str, answer.verbose_code_parts)) or _UNNAMED
        return reason


def aot_compiled(fn: object) -> AotCompiled | None:
    """``fn`` as what ``aot_compile`` returned; None if it is something else."""
    module: Any = sys.modules.get("torch._dynamo.aot_compile")
    if module is None:
        return None
    # torch puts that of a module into the compiled module, in the place of its forward.
    if isinstance(fn, torch.nn.Module) and "forward" in vars(fn):
        fn = vars(fn)["forward"]
    call: Any = fn
    if isinstance(fn, getattr(module, "AOTCompiledFunction", ())):
        return AotCompiled(call, (fn,))
    if isinstance(fn, getattr(module, "AOTCompiledModel", ())) and call.compiled_results:
        return AotCompiled(call, tuple(call.compiled_results))
    return None


CODE = "inductor_output_code"


def events(function: Any) -> Iterator[tuple[str, str]]:
    """What a compiled function holds: names and texts, as in torch's trace of compiling it."""
    held = function._artifacts.compiled_fn
    graph = getattr(held, "graph_module", None)
    if isinstance(graph, torch.fx.GraphModule):
        yield "dynamo_output_graph", graph.print_readable(print_output=False, include_stride=True)
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
                source_code=CODE,
            )
    if function._artifacts.guard_manager is not None:
        yield "dynamo_cpp_guards_str", str(function._artifacts.guard_manager)


def _texts(value: Any, **named: str) -> Iterator[tuple[str, str]]:
    for attribute, event in named.items():
        text = getattr(value, attribute, None)
        if isinstance(text, str) and text:
            yield event, text


_UNNAMED = "torch does not say which"


def _globals(function: Any) -> dict[str, Any]:
    """The globals it was compiled with or loaded with; without those, what its code holds."""
    extra_globals: dict[str, Any] | None = getattr(function, "_extra_globals", None)
    held: dict[str, Any] = function.fn.__globals__
    return held if extra_globals is None else extra_globals


def _cells(function: Any) -> dict[str, types.CellType]:
    """The closure by names."""
    names = function.fn.__code__.co_freevars
    return dict(zip(names, function.fn.__closure__ or (), strict=False))


def _global_names(code: types.CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _global_names(constant)
