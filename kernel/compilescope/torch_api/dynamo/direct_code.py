"""Code that lets what ``torch.compile`` returned call the original without compiling it.

Relies on the function that ``torch._dynamo.eval_frame`` wraps around a callable, which has the
callable as ``fn`` in its closure (2.11 to 2.15), and on ``OptimizedModule.__call__`` and its
``_orig_mod``. A function that is different keeps its code.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable

import torch
from torch._dynamo import eval_frame

from ..trace.compile_calls import context_of, skip

_SOURCE = """\
def outer({cells}):
    def {name}({self}*args, **kwargs):
        is_other = {is_other!r}
        original = {original!r}
        if is_other({self}):
            return original({self}*args, **kwargs)
        if False:
            ({cells})
        return {inner}(*args, **kwargs)
    return {name}
"""
"""Names the same cells: a function's closure cannot be replaced with its code."""
_IS_OTHER, _ORIGINAL = "the check", "the function with its own code"
"""Constants that stand for functions, as a function's globals cannot be replaced either."""
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def direct_codes(
    functions: Iterable[types.FunctionType], is_other: Callable[[], bool]
) -> dict[types.FunctionType, types.CodeType]:
    """Code for those of the functions that ``torch.compile`` returned, which calls their originals.

    It skips the wrapper, not only the compilation: in eager, the wrapper alone takes 10 µs. With
    code for such a function, there is also code for the call of a compiled module.

    Parameters
    ----------
    functions
        Functions with their own code.
    is_other
        Whether a call is not meant: it then does what it does otherwise.
    """
    codes = {
        function: _direct(function, "fn", is_other)
        for function in functions
        if context_of(function) is not None and "fn" in function.__code__.co_freevars
    }
    skip(is_other)
    # Its own: an inherited one would be that of every module.
    module_call = vars(eval_frame.OptimizedModule).get("__call__")
    if codes and isinstance(module_call, types.FunctionType):

        def is_other_module(module: torch.nn.Module) -> bool:
            if is_other():
                return True
            attributes = vars(module)
            # The compiled module's own, not the original's. Dynamo would compile a generator.
            for name in _HOOKS:  # noqa: SIM110
                if attributes.get(name):
                    return True
            return False

        skip(is_other_module)
        inner = "self._modules['_orig_mod']"
        codes[module_call] = _direct(module_call, inner, is_other_module, "self, ")
    return {function: code for function, code in codes.items() if code is not None}


def _direct(
    function: types.FunctionType, inner: str, is_other: Callable[..., bool], self: str = ""
) -> types.CodeType | None:
    """A function's code that evaluates ``inner`` and calls it; None if the cells are different."""
    code = _compiled(function.__code__.co_name, function.__code__.co_freevars, inner, self)
    if code.co_freevars != function.__code__.co_freevars:
        return None
    original = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    values = {_IS_OTHER: is_other, _ORIGINAL: original}
    return code.replace(
        co_firstlineno=function.__code__.co_firstlineno,
        co_consts=tuple(
            values.get(value, value) if isinstance(value, str) else value
            for value in code.co_consts
        ),
    )


@functools.lru_cache
def _compiled(name: str, cells: tuple[str, ...], inner: str, self: str) -> types.CodeType:
    source = _SOURCE.format(
        name=name,
        cells=", ".join(cells),
        inner=inner,
        self=self,
        is_other=_IS_OTHER,
        original=_ORIGINAL,
    )
    # Under the file of torch's own, by which Dynamo and compilescope recognize the function.
    namespace: dict[str, Callable[..., types.FunctionType]] = {}
    exec(compile(source, eval_frame.__file__, "exec"), namespace)
    return namespace["outer"](*cells).__code__
