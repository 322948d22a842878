"""Records what torch measures before it chooses a kernel, in an inspection's compilations.

Two places choose by measuring. Inductor's algorithm selector times library calls and templates for
a matrix product or a convolution, while it compiles. A Triton kernel's autotuner times launch
configurations, at the kernel's first call. Both are logged as artifacts of the trace
(`torch_api.trace.artifact_names.AUTOTUNING`); `analysis.settings.autotune` reads them.

Relies on ``torch._inductor.select_algorithm`` (AlgorithmSelectorCache.__call__ and
feedback_saver_fns, whose functions are called with the timings also where these come from a cache;
ChoiceCaller.name, .description, .info_dict) and
``torch._inductor.runtime.triton_heuristics.CachingAutotuner`` (benchmark_all_configs,
coordinate_descent_tuning, inductor_meta, compile_id; benchmark_failure_reasons from 2.13 on).
"""

from __future__ import annotations

import contextlib
import json
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any

from torch._inductor import config

from ..dynamo.process_state import uncounted
from ..process import triton_autotuner
from ..process.patching import patched
from ..trace.artifact_names import AUTOTUNING
from ..trace.spans import identity
from ..trace.trace import Event, current_sink

_MS = 1e3
"""Microseconds per unit of torch's timings."""


@contextlib.contextmanager
def logging_autotuning() -> Iterator[None]:
    """Logs what torch measures in the block to this context's trace."""
    # This imports Inductor's lowerings, so it waits until something is compiled.
    from torch._inductor.select_algorithm import (
        AlgorithmSelectorCache,
        get_algorithm_selector_cache,
    )

    with uncounted():  # on first use it queries the machine
        savers = get_algorithm_selector_cache().feedback_saver_fns
    with contextlib.ExitStack() as stack:
        stack.enter_context(_saving(savers))
        stack.enter_context(patched(AlgorithmSelectorCache, "__call__", _select))
        tuner = triton_autotuner.autotuner()
        for name, observer in (
            ("benchmark_all_configs", _configurations),
            ("coordinate_descent_tuning", _descent),
        ):
            if tuner is not None and name in vars(tuner):
                stack.enter_context(patched(tuner, name, observer))
        yield


_lock = threading.Lock()
_savings = 0


@contextlib.contextmanager
def _saving(savers: list[Any]) -> Iterator[None]:
    """Torch calls `_feedback` in the block; once for each result, however many blocks are open."""
    global _savings
    with _lock:
        _savings += 1
        if _savings == 1:
            savers.append(_feedback)
    try:
        yield
    finally:
        with _lock:
            _savings -= 1
            if not _savings:
                savers.remove(_feedback)


_why_unmeasured = ""


def say_why_unmeasured(why: str) -> None:
    """Logs this reason with every choice that is not measured, for the rest of the process."""
    global _why_unmeasured
    _why_unmeasured = why


class _Selection:
    """A running call of the algorithm selector."""

    def __init__(self, node: str) -> None:
        self.node = node
        self.is_reported = False
        self.start = time.perf_counter()


_current: ContextVar[_Selection | None] = ContextVar("compilescope_selection", default=None)
_nodes: dict[tuple[str, ...], str] = {}
"""For choices that torch defers to the scheduler: the inputs' names → the graph node."""


def _select(original: Any, self: Any, name: str, choices: Any, *args: Any, **kwargs: Any) -> Any:
    if current_sink() is None or not (config.max_autotune or config.max_autotune_gemm):
        return original(self, name, choices, *args, **kwargs)
    selection = _Selection(_node_name())
    inputs = list(args[0] if args else kwargs.get("input_nodes", ()))
    listed = list(choices)
    token = _current.set(selection)
    _nodes[_names(inputs)] = selection.node
    try:
        result = original(self, name, choices, *args, **kwargs)
    finally:
        _current.reset(token)
    if selection.is_reported or _is_deferred(result):
        return result
    _nodes.pop(_names(inputs), None)
    if _why_unmeasured:
        # torch's default comes first: a library call.
        listed.sort(key=lambda choice: type(choice).__name__ != "ExternKernelCaller")
    _log_choice(
        {
            "operator": name,
            "kind": "algorithm",
            "node": selection.node,
            "inputs": [_describe(node) for node in inputs],
            "choices": [_choice(choice, None) for choice in listed],
            "device": _device(inputs),
            "measured": False,
            "why": _why_unmeasured if len(listed) > 1 else "",
        }
    )
    return result


def _feedback(timings: Any, name: str, inputs: Any, choices: Any, *_: Any, **__: Any) -> None:
    """A feedback saver: torch calls it with every result."""
    if current_sink() is None:
        return
    selection = _current.get()
    node = _nodes.pop(_names(inputs), "") or (selection.node if selection else "")
    if selection is not None:
        selection.is_reported = True
    listed = [_choice(choice, time_ms) for choice, time_ms in timings.items()]
    timed = {id(timing) for timing in timings}
    listed += [_choice(choice, None) for choice in choices if id(choice) not in timed]
    _log_choice(
        {
            "operator": name,
            "kind": "algorithm",
            "node": node,
            "inputs": [_describe(node) for node in inputs],
            "choices": listed,
            "device": _device(inputs),
            "measured": True,
            "seconds": time.perf_counter() - selection.start if selection else None,
        }
    )


def _configurations(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    """Logs the timings of a Triton kernel's launch configurations."""
    start = time.perf_counter()
    timings = original(self, *args, **kwargs)
    if current_sink() is not None and isinstance(timings, dict):
        reasons = getattr(self, "benchmark_failure_reasons", None) or {}
        choices = [
            {
                **_configuration(launcher),
                "time_us": _microseconds(time_ms),
                "why": _reason(reasons.get(launcher)),
            }
            for launcher, time_ms in timings.items()
        ]
        _log_kernel(self, choices, time.perf_counter() - start, "")
    return timings


def _descent(original: Any, self: Any, launcher: Any, *args: Any, **kwargs: Any) -> Any:
    """Logs the timings of coordinate descent; torch itself reports only the best configuration."""
    start = time.perf_counter()
    best = original(self, launcher, *args, **kwargs)
    if current_sink() is not None and best is not launcher:
        choices = [_configuration(best), {**_configuration(launcher), "why": "where it began"}]
        _log_kernel(self, choices, time.perf_counter() - start, "coordinate descent")
    return best


def _log_kernel(tuner: Any, choices: list[dict[str, Any]], seconds: float, how: str) -> None:
    kernel = str((getattr(tuner, "inductor_meta", None) or {}).get("kernel_name") or "")
    _log_choice(
        {
            "operator": kernel,
            "kind": "config",
            "kernel": kernel,
            "choices": choices,
            "measured": True,
            "seconds": seconds,
            "how": how,
        },
        getattr(tuner, "compile_id", None),
    )


def _log_choice(facts: dict[str, Any], owner: Any = None) -> None:
    sink = current_sink()
    if sink is not None:
        _, metadata = identity("artifact", {"name": AUTOTUNING, "encoding": "json"}, owner)
        payload = json.dumps(facts, default=str)
        sink(Event(metadata, payload, time.time(), threading.get_ident()))


def _choice(choice: Any, time_ms: float | None) -> dict[str, Any]:
    inner = choice
    while hasattr(inner, "_wrapped"):  # a template whose inputs are packed first
        inner = inner._wrapped
    try:
        info = dict(choice.info_dict())
    except (AttributeError, NotImplementedError, TypeError):
        info = {}
    return {
        "name": str(getattr(choice, "name", choice)),
        "type": type(inner).__name__,
        "description": str(getattr(choice, "description", "") or ""),
        "config": {str(key): str(value) for key, value in info.items()},
        "time_us": _microseconds(time_ms),
        "failed": time_ms is not None and not math.isfinite(time_ms),
    }


def _configuration(launcher: Any) -> dict[str, Any]:
    launch_config = getattr(launcher, "config", None)
    settings = dict(getattr(launch_config, "kwargs", None) or {})
    for name in ("num_warps", "num_stages", "num_ctas", "maxnreg"):
        if getattr(launch_config, name, None) is not None:
            settings[name] = getattr(launch_config, name)
    resources = {
        name: getattr(launcher, name)
        for name in ("n_regs", "n_spills", "shared")
        if getattr(launcher, name, None) is not None
    }
    return {
        "name": ", ".join(f"{key}={value}" for key, value in settings.items()),
        "type": "config",
        "config": {str(key): str(value) for key, value in (settings | resources).items()},
        "time_us": None,
    }


def _reason(reason: Any) -> str:
    return "" if reason is None else str(getattr(reason, "value", reason)).replace("_", " ")


def _microseconds(time_ms: float | None) -> float | None:
    return time_ms * _MS if time_ms is not None and math.isfinite(time_ms) else None


def _node_name() -> str:
    from torch._inductor.virtualized import V

    return str(getattr(getattr(V.graph, "current_node", None), "name", "") or "")


def _is_deferred(result: Any) -> bool:
    """Whether torch defers the choice to the scheduler, which measures it with its fusions."""
    buffer = result[0] if isinstance(result, tuple) and result else result
    for _ in range(4):
        if type(buffer).__name__ == "MultiTemplateBuffer":
            return True
        buffer = getattr(buffer, "data", None)
    return False


def _names(nodes: Iterable[Any]) -> tuple[str, ...]:
    return tuple(_text_or_empty(node, _name) for node in nodes)


def _device(nodes: Iterable[Any]) -> str:
    return next((_text_or_empty(node, _device_type) for node in nodes), "")


def _describe(node: Any) -> str:
    return _text_or_empty(node, _tensor)


def _text_or_empty(node: Any, text: Callable[[Any], str]) -> str:
    """Some kinds of Inductor's nodes lack this; then the text is empty."""
    try:
        return text(node)
    except (AttributeError, NotImplementedError):
        return ""


def _name(node: Any) -> str:
    return str(node.get_name())


def _device_type(node: Any) -> str:
    return str(node.get_device().type)


def _tensor(node: Any) -> str:
    dtype = str(node.get_dtype()).removeprefix("torch.")
    sizes = ", ".join(str(size) for size in node.get_size())
    return f"{dtype}[{sizes}] {node.get_device()}"
