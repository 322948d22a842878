"""The process as a whole, so that a test can say that nothing of it has changed."""

from __future__ import annotations

import copy
import gc
import logging
import os
import random
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import torch
import torch._dynamo.callback
import torch._dynamo.utils as dynamo_utils
import torch._functorch.config
import torch._inductor.config
from compilescope.targets.worker_pool import shared_pool
from torch._dynamo import convert_frame, eval_frame, pgo
from torch._inductor.graph import GraphLowering
from torch._logging import _internal
from torch.fx import GraphModule

from . import forked_process


def world() -> dict[str, Any]:
    """What an inspection must leave alone, as values that can be compared."""
    return {
        "inductor's config": torch._inductor.config.get_config_copy(),
        "Dynamo's config": torch._dynamo.config.get_config_copy(),
        "functorch's config": torch._functorch.config.get_config_copy(),
        "frame counter": convert_frame.FRAME_COUNTER,
        "frame compile counter": dict(convert_frame.FRAME_COMPILE_COUNTER),
        "counters": {name: dict(value) for name, value in dynamo_utils.counters.items() if value},
        "metrics": len(dynamo_utils.get_compilation_metrics()),
        "compile times": sorted(dynamo_utils.compilation_time_metrics),
        "guard failures": len(dynamo_utils.guard_failures),
        "remembered sizes": _sizes(),
        "backends": len(eval_frame.cached_backends),
        "bytecode hooks": list(convert_frame._bytecode_hooks.values()),
        "callbacks": [
            list(torch._dynamo.callback.callback_handler.start_callbacks),
            list(torch._dynamo.callback.callback_handler.end_callbacks),
        ],
        "frame callback": torch._C._dynamo.eval_frame.get_eval_frame_callback(),
        "trace handlers": [
            handler for handler in _internal.trace_log.handlers if not _removes_itself(handler)
        ],
        "root handlers": list(logging.getLogger().handlers),
        "print_readable": vars(GraphModule)["print_readable"],
        "compile_to_module": vars(GraphLowering)["compile_to_module"],
        "python random": random.getstate(),
        "torch random": torch.get_rng_state().tolist(),
        "modes": (
            torch.is_grad_enabled(),
            torch.is_inference_mode_enabled(),
            torch.get_default_dtype(),
            torch.get_num_threads(),
            torch.get_float32_matmul_precision(),
            torch.is_autocast_enabled("cpu"),
        ),
        "environment": {
            # torch passes this one on to its compile workers; it is the same for all of them.
            name: value
            for name, value in os.environ.items()
            if name != "_TORCHINDUCTOR_PYOBJECT_TENSOR_DATA_PTR"
        },
        "folder": Path.cwd(),
        "streams": (sys.stdout, sys.stderr, sys.displayhook, sys.excepthook),
        "tracing": (sys.gettrace(), sys.getprofile(), threading.gettrace()),
        "signals": signal.getsignal(signal.SIGINT),
        "warnings": list(warnings.filters),
        "gc": gc.isenabled(),
        "thread switches": sys.getswitchinterval(),
        "threads": sorted(thread.name for thread in threading.enumerate()),
        "children": _children(),
    }


@contextmanager
def unchanged() -> Iterator[None]:
    """Fails if the block leaves the world other than it was, also when the block raises."""
    before = copy.copy(world())
    try:
        yield
    finally:
        after = world()
        changed = [name for name in before if before[name] != after[name]]
        by_name = {name: _difference(before[name], after[name]) for name in changed}
        assert not changed, by_name


def _difference(before: Any, after: Any) -> Any:
    if not isinstance(before, dict):
        return before, after
    keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    return {key: (before.get(key), after.get(key)) for key in keys}


def _sizes() -> dict[Any, Any]:
    state = pgo._CODE_STATE or {}
    return {
        key: {source: entry.render() for source, entry in value.automatic_dynamic.items()}
        for key, value in state.items()
        if value.automatic_dynamic
    }


def _removes_itself(handler: logging.Handler) -> bool:
    """torch's own goes at the first compilation in a process, whoever asks for it."""
    return type(handler).__name__ == "LazyTraceHandler"


def _children() -> list[int]:
    """The children that stay; one that is just ending gets a moment.

    Processes for targets, which earlier tests may have left, are kept warm on purpose.
    """
    deadline = time.monotonic() + 600
    while True:
        warm = set(shared_pool().pids().values())
        alive = sorted(
            child.pid
            for child in psutil.Process().children()
            if child.pid not in warm and not _has_ended(child) and not _is_helper(child)
        )
        if not alive or time.monotonic() > deadline:
            return alive
        time.sleep(0.05)


def _has_ended(child: psutil.Process) -> bool:
    try:
        return child.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _is_helper(child: psutil.Process) -> bool:
    """Python's own tracker of resources, which a pool in some test leaves, or the tests' forks."""
    try:
        command = " ".join(child.cmdline())
        return "multiprocessing.resource_tracker" in command or forked_process.__file__ in command
    except psutil.NoSuchProcess:
        return False
