"""Decides by rule the choices that torch would make by measuring on the device.

Each rule is torch's own fallback without measurements: no padding, and the first library call among
the algorithms. Decisions are logged as an artifact of the trace (`DECISION`), which
`analysis.target.decisions` reads; algorithms are logged by `torch_api.inductor.autotuning`.

Relies on ``torch._inductor.fx_passes.pad_mm`` (_should_pad, get_cached_should_pad) and
``torch._inductor.select_algorithm.AlgorithmSelectorCache`` (__call__, do_autotuning,
make_precompile_fn), and ``torch._dynamo.repro.after_aot.save_graph_repro``: the same from 2.11 to
2.15.
"""

from __future__ import annotations

import inspect
import json
import threading
import time
from typing import Any

from ...report.devices import Build
from ..inductor import autotuning
from ..trace.artifact_names import DECISION
from ..trace.spans import identity
from ..trace.trace import Event, current_sink


def decide_by_rule(build: Build, *, is_here: bool = False) -> None:
    """Keeps torch from measuring during compilation, for the rest of the process.

    Parameters
    ----------
    is_here
        Whether torch's cache has measurements of this device.
    """
    _pad_nothing(is_measured=is_here)
    _select_without_timings()
    _print_no_constants()
    from . import kernels  # imports Triton, which the rest of compilescope does not need

    kernels.compile_without_running(build, _log_decision)


def _pad_nothing(*, is_measured: bool) -> None:
    from torch._inductor.fx_passes import pad_mm

    module: Any = pad_mm
    decide = inspect.unwrap(module._should_pad)

    def should_pad(match: Any, mat1: Any, mat2: Any, op: Any, *rest: Any, **more: Any) -> bool:
        # torch's answers without measuring come first; it would measure the remaining cases.
        cached = module.get_cached_should_pad
        unmeasured = []

        def no(key: str) -> bool:
            measured = cached(key) if is_measured else None
            if measured is not None:
                return bool(measured)
            unmeasured.append(key)
            return False

        module.get_cached_should_pad = no
        try:
            pads = bool(decide(match, mat1, mat2, op, *rest, **more))
        finally:
            module.get_cached_should_pad = cached
        if unmeasured:
            _log_decision(
                kind="padding",
                operator=f"{op.__name__}({_tensor(mat1)}, {_tensor(mat2)})",
                chosen="not padded",
                rule="torch pads a product only where it has measured that this is faster.",
                instead="torch times the product as it is and padded to a multiple of "
                f"{module.get_alignment_size(mat1)}, and takes the faster.",
                node=match.output_node().name,
            )
        return pads

    module._should_pad = should_pad


def _select_without_timings() -> None:
    from torch._inductor.select_algorithm import AlgorithmSelectorCache

    selector: Any = AlgorithmSelectorCache
    select = selector.__call__

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        # Otherwise torch defers the choice until the scheduler has measured its fusions.
        return select(self, *args, **{**kwargs, "return_multi_template": False})

    selector.__call__ = call
    # Without timings torch takes the first library call, otherwise the first candidate.
    selector.do_autotuning = lambda self, *args, **kwargs: {}
    selector.make_precompile_fn = lambda self, *args, **kwargs: dict
    autotuning.say_why_unmeasured(
        "There is no device to measure on: torch's own rule takes the first library call, else the "
        "first candidate."
    )


def _print_no_constants() -> None:
    """Keeps torch from writing a repro program of each graph with its constants' values.

    It is not read here, and in a build for the device it would read the values from the device.
    """
    from torch._dynamo.repro import after_aot

    module: Any = after_aot
    module.save_graph_repro = lambda *_, **__: None


def _log_decision(*, node: str, **facts: str) -> None:
    sink = current_sink()
    if sink is not None:
        _, metadata = identity("artifact", {"name": DECISION, "encoding": "json"})
        payload = json.dumps({**facts, "node": node})
        sink(Event(metadata, payload, time.time(), threading.get_ident()))


def _tensor(fake: Any) -> str:
    sizes = ", ".join(str(size) for size in fake.shape)
    return f"{str(fake.dtype).removeprefix('torch.')}[{sizes}]"
