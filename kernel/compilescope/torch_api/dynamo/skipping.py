"""Whether a call runs compiled code, apart from guards: wrapper, stance, skipped frames.

Relies on ``torch._dynamo.eval_frame`` (``_stance``, ``innermost_backend``, the ``self`` in the
closure of ``torch.compile``'s result, ``OptimizedModule.dynamo_ctx``) and
``torch._dynamo.convert_frame`` (``input_codes``, ``FRAME_COMPILE_COUNTER``, the ``_one_graph`` and
``_recompile_limit`` of what its ``CatchErrorsWrapper`` wraps) and ``trace_rules.check``, as read in
2.13.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import torch
from torch._dynamo import convert_frame, eval_frame, trace_rules

from ..guards.guard_managers import KeptGuards, recompile_limit

_TRIED = (
    "torch traced {name} and kept no compiled code: it may run in eager from now on, without being "
    "compiled again."
)
_LIBRARY_CODE = (
    "{name} is code of a library that torch leaves to eager where a call enters it: only functions "
    "of yours that it calls are compiled."
)
_NO_COMPILED_CODE = (
    "torch's last attempt to compile {name} left nothing: it may run in eager from now on, "
    "whatever was compiled before."
)


class Wrapper(NamedTuple):
    """One call of ``torch.compile``: its backend, and the cache that holds its compilations."""

    backend: Any
    region: int
    """-1 for the cache that all wrappers share; see ``isolate_recompiles``."""
    is_whole: bool
    """Whether it was made with ``fullgraph=True``: beyond the recompile limit a call is an
    error."""
    limit: int
    """How many compilations the cache takes."""

    def may_use(self, guards: KeptGuards) -> bool:
        """Whether torch tries this compilation for a call of the wrapper."""
        if guards.region not in (-1, self.region):
            return False
        return guards.backend is self.backend or bool(guards.backend == self.backend)


def wrapper_of(fn: Callable[..., Any]) -> Wrapper | None:
    """The ``torch.compile`` that a call enters; None if there is none or it is unknown."""
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
    convert = getattr(callback, "_torchdynamo_orig_backend", None)
    limit = getattr(convert, "_recompile_limit", None)
    return Wrapper(
        eval_frame.innermost_backend(callback),
        getattr(context, "_isolate_recompiles_id", -1),
        bool(getattr(convert, "_one_graph", False)),
        recompile_limit() if limit is None else limit,
    )


def stance() -> str:
    """The stance that ``torch.compiler.set_stance`` set; ``another backend`` if it forces one."""
    now = eval_frame._stance
    return now.stance if now.backend is None else "another backend"


def stance_in_words() -> str:
    """How the stance changes a call, in words; empty for the default."""
    return {
        "default": "",
        "another backend": "Another backend is forced by torch's stance.",
        "force_eager": "torch's stance is force_eager: the call runs in eager.",
        "eager_on_recompile": (
            "torch's stance is eager_on_recompile: a call that no compilation serves runs in eager."
        ),
        "eager_then_compile": "torch's stance is eager_then_compile: the first call runs in eager.",
        "aot_eager_then_compile": (
            "torch's stance is aot_eager_then_compile: the first call is compiled by the backend "
            "aot_eager."
        ),
        "fail_on_recompile": (
            "torch's stance is fail_on_recompile: a call that no compilation serves is an error."
        ),
    }.get(stance(), f"torch's stance is {stance()}.")


def is_torchs_alone(module: Any, values: Sequence[Any]) -> bool:
    """Whether a call of the module certainly runs no code but torch's.

    False if that is uncertain: for a module with hooks or with functions in its attributes, for
    arguments that are not plain values, and while a mode is active.
    """
    if not isinstance(module, torch.nn.Module) or _has_modes() or not all(map(_is_plain, values)):
        return False
    return all(_is_torchs(submodule, submodule is module) for submodule in module.modules())


def _is_torchs(module: torch.nn.Module, is_entered: bool) -> bool:
    if not type(module).__module__.startswith("torch.nn."):
        return False
    for name, value in vars(module).items():
        if name == "_modules" or (name == "_compiled_call_impl" and is_entered):
            continue
        if isinstance(value, dict):
            # Hooks, their flags for keyword arguments, parameters and buffers.
            if value and (
                name not in ("_parameters", "_buffers") or not _is_plain([*value.values()])
            ):
                return False
        elif not _is_plain(value) and not _is_torchs_function(value):
            return False
    return True


def _is_torchs_function(value: Any) -> bool:
    if isinstance(value, types.FunctionType):
        return bool(trace_rules.check(value.__code__)) and value.__module__.startswith("torch.")
    return isinstance(value, types.BuiltinFunctionType)


def _is_plain(value: Any) -> bool:
    """Whether a value carries no code of its own."""
    if type(value) in (list, tuple, set, torch.Size):
        return all(map(_is_plain, value))
    return type(value) in _PLAIN


_PLAIN = (
    *(type(None), bool, int, float, complex, str),
    *(torch.Tensor, torch.nn.Parameter, torch.dtype, torch.device),
)


def _has_modes() -> bool:
    modes = torch._C._len_torch_function_stack() + torch._C._len_torch_dispatch_stack()
    modules: Any = torch.nn.modules.module
    return modes > 0 or bool(modules._has_any_global_hook())


def skipped(
    name: str,
    codes: Sequence[types.CodeType],
    all_guards: Iterable[KeptGuards],
    limit: int | None = None,
) -> str:
    """Why torch may run a function's frames in eager without checking guards; may be empty.

    torch marks a frame that it could not compile, or whose graph was empty, and has no interface to
    read that mark; but it counts its attempts. Those of a frame with as many compilations as the
    ``limit`` allows (by default torch's setting) are attempts beyond the limit: torch continues to
    check the guards.
    """
    last: dict[int, int] = {}
    kept: Counter[int] = Counter()
    for guards in all_guards:
        # Behind compiled autograd's number, if there is one: !0/3/1
        frame, _, attempt = guards.compile_id.rpartition("/")
        number = frame.rpartition("/")[2]
        if number.isdigit() and attempt.isdigit():
            last[int(number)] = max(last.get(int(number), 0), int(attempt))
            kept[int(number)] += 1
    if not last:
        if codes and all(trace_rules.check(code) for code in codes):
            return _LIBRARY_CODE.format(name=name)
        tried = any(code in convert_frame.input_codes for code in codes)
        return _TRIED.format(name=name) if tried else ""
    counts = convert_frame.FRAME_COMPILE_COUNTER
    limit = recompile_limit() if limit is None else limit
    failed = any(
        counts.get(frame, 0) > attempt + 1 and kept[frame] < limit
        for frame, attempt in last.items()
    )
    return _NO_COMPILED_CODE.format(name=name) if failed else ""
