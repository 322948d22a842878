"""What decides, beside guards, whether a call is served by a compilation: wrapper, stance, skips.

Stands on ``torch._dynamo.eval_frame`` (``_stance``, ``innermost_backend``, the ``self`` in the
closure of what ``torch.compile`` returns, ``OptimizedModule.dynamo_ctx``) and
``torch._dynamo.convert_frame`` (``input_codes``, ``FRAME_COMPILE_COUNTER``) and
``trace_rules.check``, as read in 2.13.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import torch
from torch._dynamo import convert_frame, eval_frame, trace_rules

from ..guards.keeping import KeptGuards

_TRIED = (
    "torch has looked at {name} and kept nothing that it compiled: it may run in eager from now "
    "on, without being compiled again."
)
_LIBRARYS = (
    "{name} is code of a library that torch leaves to eager where a call enters it: only functions "
    "of yours that it calls are compiled."
)
_LEFT = (
    "torch's last attempt to compile {name} left nothing: it may run in eager from now on, "
    "whatever was compiled before."
)


class Wrapper(NamedTuple):
    """One ``torch.compile``: what it compiles with, and where it keeps what it compiled."""

    backend: Any
    region: int
    """-1 for the cache that all wrappers share; see ``isolate_recompiles``."""

    def may_use(self, kept: KeptGuards) -> bool:
        """Whether torch tries this compilation for a call of the wrapper."""
        if kept.region not in (-1, self.region):
            return False
        return kept.backend is self.backend or bool(kept.backend == self.backend)


def wrapper_of(fn: Callable[..., Any]) -> Wrapper | None:
    """The ``torch.compile`` that a call enters; None where there is none, or it cannot be told."""
    if isinstance(fn, functools.partial):
        return wrapper_of(fn.func)
    if isinstance(fn, types.MethodType):
        return wrapper_of(fn.__func__)
    context: Any = None
    if isinstance(fn, eval_frame.OptimizedModule):
        context = fn.dynamo_ctx
    elif isinstance(fn, torch.nn.Module):
        inside = vars(fn).get("_compiled_call_impl")
        return wrapper_of(inside) if inside is not None else None
    elif isinstance(fn, types.FunctionType) and fn.__code__.co_filename == eval_frame.__file__:
        context = inspect.getclosurevars(fn).nonlocals.get("self")
    callback = getattr(context, "callback", None)
    if callback is None:
        return None
    return Wrapper(
        eval_frame.innermost_backend(callback), getattr(context, "_isolate_recompiles_id", -1)
    )


def stance() -> str:
    """What ``torch.compiler.set_stance`` makes of a call, in words; empty for the default."""
    now = eval_frame._stance
    if now.stance == "default":
        return "" if now.backend is None else "Another backend is forced by torch's stance."
    return {
        "force_eager": "torch's stance is force_eager: the call runs in eager.",
        "eager_on_recompile": (
            "torch's stance is eager_on_recompile: a call that no compilation serves runs in eager."
        ),
        "fail_on_recompile": (
            "torch's stance is fail_on_recompile: a call that no compilation serves is an error."
        ),
    }.get(now.stance, f"torch's stance is {now.stance}.")


def serves_in_stance() -> bool:
    """Whether compilations that are there serve calls under the present stance."""
    now = eval_frame._stance
    return now.backend is None and now.stance in (
        "default",
        "eager_on_recompile",
        "fail_on_recompile",
    )


def skipped(name: str, codes: Sequence[types.CodeType], kept: Iterable[KeptGuards]) -> str:
    """Why torch may run a function's frames in eager without looking; empty where nothing says so.

    torch marks a frame that it could not compile, or whose graph was empty, and does not tell; but
    it counts its attempts.
    """
    last: dict[int, int] = {}
    for guards in kept:
        # Behind compiled autograd's number, if there is one: !0/3/1
        frame, _, attempt = guards.compile_id.rpartition("/")
        number = frame.rpartition("/")[2]
        if number.isdigit() and attempt.isdigit():
            last[int(number)] = max(last.get(int(number), 0), int(attempt))
    if not last:
        if codes and all(trace_rules.check(code) for code in codes):
            return _LIBRARYS.format(name=name)
        tried = any(code in convert_frame.input_codes for code in codes)
        return _TRIED.format(name=name) if tried else ""
    counts = convert_frame.FRAME_COMPILE_COUNTER
    failed = any(counts.get(frame, 0) > attempt + 1 for frame, attempt in last.items())
    return _LEFT.format(name=name) if failed else ""
