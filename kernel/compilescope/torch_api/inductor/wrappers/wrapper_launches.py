"""Records the launches of a Python wrapper in one run, and repeats them without the wrapper.

Relies on what Inductor's Python wrappers look like: kernels are globals of the wrapper's module (a
function for C++, an object with ``run`` for Triton), library calls go through the globals
``extern_kernels``, ``aten``, ``inductor_ops``, ``_quantized`` and ``torch.ops``; the same from 2.11
to 2.15.
"""

from __future__ import annotations

import contextlib
import re
import types
from collections.abc import Callable, Iterator
from typing import Any

from torch._inductor.runtime.triton_heuristics import CachingAutotuner
from torch._ops import OpOverload, OpOverloadPacket

from ...dynamo.wrapper_type import Inner

LaunchCall = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
"""A launch: the function, its arguments and keyword arguments."""

_LIBRARIES = ("extern_kernels", "aten", "inductor_ops", "_quantized")
_LAUNCH = re.compile(
    rf"^ +(?:\w+ = )?(?:\w+\.run\(|cpp_\w+\(|torch\.ops\.|(?:{'|'.join(_LIBRARIES)})\.)",
    re.MULTILINE,
)


def count_launches(source: str) -> int:
    """How many kernels a Python wrapper launches, those of libraries included; at least 1.

    Parameters
    ----------
    source
        The wrapper's text.
    """
    return max(1, len(_LAUNCH.findall(source)))


def is_python_wrapper(inner: Inner) -> bool:
    """Whether a wrapper is Python whose launches can be recorded."""
    return "extern_kernels" in _namespace(inner)


def launches_of(inner: Inner, inputs: list[Any]) -> list[LaunchCall]:
    """Runs a Python wrapper once, and returns its launches.

    They hold their arguments, so all buffers of the graph stay alive at once.
    """
    recorded: list[LaunchCall] = []
    with _recording(_namespace(inner), recorded):
        inner(inputs)
    return recorded


def repeat(launches: list[LaunchCall]) -> None:
    """Repeats the launches, one after the other."""
    for function, args, kwargs in launches:
        function(*args, **kwargs)


def _namespace(inner: Inner) -> dict[str, Any]:
    function = getattr(inner, "__func__", inner)
    return getattr(function, "__globals__", None) or {}


@contextlib.contextmanager
def _recording(namespace: dict[str, Any], launches: list[LaunchCall]) -> Iterator[None]:
    replaced: dict[str, Any] = {}
    for name, value in namespace.items():
        if isinstance(value, types.BuiltinFunctionType) and name.startswith("cpp_"):
            replaced[name] = _recorder(value, launches)
        elif isinstance(value, CachingAutotuner) or name in _LIBRARIES:
            replaced[name] = _Recorded(value, launches)
        elif name == "torch":
            replaced[name] = _Torch(value, _Recorded(value.ops, launches))
    before = {name: namespace[name] for name in replaced}
    namespace.update(replaced)
    try:
        yield
    finally:
        namespace.update(before)


def _recorder(function: Callable[..., Any], launches: list[LaunchCall]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        launches.append((function, args, kwargs))
        return function(*args, **kwargs)

    return call


class _Recorded:
    """Stands in for an object whose functions start kernels."""

    def __init__(self, wrapped: Any, launches: list[LaunchCall]) -> None:
        self._wrapped = wrapped
        self._launches = launches

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._wrapped, name)
        if isinstance(value, OpOverloadPacket) or type(value).__name__ == "_OpNamespace":
            return _Recorded(value, self._launches)
        if isinstance(value, OpOverload) or (callable(value) and name != "_made"):
            return _recorder(value, self._launches)
        return value

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _recorder(self._wrapped, self._launches)(*args, **kwargs)


class _Torch:
    """Stands in for ``torch``, whose operators are recorded."""

    def __init__(self, wrapped: Any, ops: _Recorded) -> None:
        self._wrapped = wrapped
        self.ops = ops

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)
