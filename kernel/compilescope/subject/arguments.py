"""Example arguments: checked against a signature, and shown one line each."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ..isolation.object_walk import cannot_rewind
from ..report.argument_checks import kind_of
from ..report.errors import CompilescopeError
from ..torch_api.operators import tensors

INSPECT = "inspect({}, {})"
"""How a remedy writes the call that takes a callable and its arguments."""

_LEVELS = 4
"""How deep the items of nested containers are listed."""
_SHORT = 40
_PLAIN = (type(None), bool, int, float, complex, str, bytes, torch.dtype, torch.device, slice)


def check_repeatable(args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Checks that a call can be made several times with the same arguments.

    Raises
    ------
    CompilescopeError
        An argument is a generator or an iterator.
    """
    named = [(f"args[{place}]", value) for place, value in enumerate(args)]
    for name, value in (*named, *kwargs.items()):
        if cannot_rewind(value):
            raise CompilescopeError(
                f"The argument {name} is {kind_of(value)}, which one call uses up.",
                "The call is made several times, to compile, compare and time it: later ones "
                "would do nothing, or fail.",
                "Pass a list, or create it inside the function that is inspected.",
            )


def check_types(fn: object, args: object, kwargs: object, call: str = INSPECT) -> None:
    """Checks the types of a call's parts, without the signature.

    Parameters
    ----------
    call
        How a remedy writes the call of compilescope, or the statement, that takes them.

    Raises
    ------
    CompilescopeError
        ``fn`` is no callable or is a class, ``args`` no tuple, or ``kwargs`` no dict with names;
        or a ``FakeTensorMode`` is active.
    """
    if isinstance(fn, type) and issubclass(fn, torch.nn.Module):
        raise CompilescopeError(
            f"{fn.__name__} is a class, not a module.",
            "Calling it would make a module instead of running one.",
            f"Pass an instance: {call.format(f'{fn.__name__}(...)', 'args')}.",
        )
    if not callable(fn):
        kind = kind_of(fn)
        raise CompilescopeError(
            f"{kind[:1].upper()}{kind[1:]} is not callable.",
            "The first argument is the function itself, not what it returns.",
            "Write inspect(fn, (x,)) and not inspect(fn(x)).",
        )
    if inspect.iscoroutinefunction(fn):
        raise CompilescopeError(
            f"{getattr(fn, '__name__', 'fn')} is an async function.",
            "Calling it makes a coroutine and computes nothing; torch.compile takes no coroutines.",
            f"Take the plain function that does the work: {call.format('fn', 'args')}.",
        )
    if type(args) not in (tuple, list):
        raise CompilescopeError(
            f"args is {kind_of(args)}, not a tuple.",
            "Positional arguments are passed together, as torch.export takes them.",
            f"A single argument needs its comma: {call.format('fn', '(x,)')}.",
        )
    if kwargs is not None and not (
        isinstance(kwargs, Mapping) and all(isinstance(name, str) for name in kwargs)
    ):
        example = '(x,), {"name": value}'
        raise CompilescopeError(
            f"kwargs is {kind_of(kwargs)}, not a dict from names to values.",
            remedy=f"Write {call.format('fn', example)}.",
        )
    if tensors.makes_fake_tensors():
        raise CompilescopeError(
            "A FakeTensorMode is active.",
            "Every tensor that is made under it has no data, and the call is run.",
            "Leave the mode first, and pass real tensors.",
        )


def check_fit(
    fn: Callable[..., Any],
    name: str,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    call: str = INSPECT,
) -> None:
    """Checks that a callable takes these arguments.

    A decorator may take other arguments than the function it wraps: its own signature counts. A
    callable without a known signature accepts any arguments. ``call`` is as for `check_types`.

    Raises
    ------
    CompilescopeError
        An argument is missing, unknown, given twice or one too many.
    """
    signature = _signature(fn, follow_wrapped=False)
    if signature is None:
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        shown = _signature(fn) or signature
        needed = [
            parameter.name for parameter in shown.parameters.values() if _is_needed(parameter)
        ]
        example = ", ".join(needed) + ("," if len(needed) == 1 else "")
        reason = _brief(error)
        raise CompilescopeError(
            f"{name} cannot be called with these arguments.",
            f"{reason[:1].upper()}{reason[1:]}; the signature is {name}{_brief(shown)}.",
            f"Write {call.format(name, f'({example})')}.",
        ) from None


_MAX_CHARACTERS = 500
"""Characters of the user's names and defaults that a message shows."""


def _brief(value: object) -> str:
    try:
        text = str(value)
    except Exception as error:  # noqa: BLE001 - a default's own repr
        return f"(…), which cannot be shown: {type(error).__name__}"
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"


def lines(fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
    """One line per argument: ``x: float32[4, 8] cpu``, named as in the signature."""
    return [f"{name}: {summary(value)}" for name, value in _passed(fn, args, kwargs)]


def leaves(
    fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, str]:
    """What is in the arguments, by path: ``{"sizes": "list of 2", "sizes[0]": "3", ...}``.

    Unlike `lines` it is complete. Numbers of devices are omitted, and so is the order of sets and
    dicts. Objects other than tensors, plain values and containers are only their types.
    """
    by_path: dict[str, str] = {}
    for name, value in _passed(fn, args, kwargs):
        _add_leaves(by_path, name, value, ())
    return by_path


def _add_leaves(by_path: dict[str, str], path: str, value: Any, outer: tuple[int, ...]) -> None:
    cls = type(value)
    inner: list[tuple[str, Any]] = []
    if id(value) in outer:
        by_path[path] = f"{cls.__name__} that contains itself"
    elif issubclass(cls, (list, tuple)):
        base = list if issubclass(cls, list) else tuple
        inner = [(f"[{place}]", item) for place, item in enumerate(base.__iter__(value))]
        by_path[path] = f"{cls.__name__} of {len(inner)}"
    elif issubclass(cls, dict):
        inner = [(f"[{_leaf(key)}]", item) for key, item in dict.items(value)]
        by_path[path] = f"{cls.__name__} of {len(inner)}"
    else:
        by_path[path] = _leaf(value)
    for place, item in inner:
        _add_leaves(by_path, f"{path}{place}", item, (*outer, id(value)))


def _leaf(value: Any) -> str:
    cls = type(value)
    if issubclass(cls, torch.Tensor):
        return _without_numbers(_tensor(value))
    if issubclass(cls, (set, frozenset)):
        base = set if issubclass(cls, set) else frozenset
        return f"{cls.__name__} of {', '.join(sorted(map(_leaf, base.__iter__(value))))}"
    if cls is tuple:  # in a set, or a key
        return f"({', '.join(map(_leaf, value))})"
    if cls is torch.device or (cls is str and _DEVICE.fullmatch(value)):
        return _without_numbers(repr(str(value)))
    return _full(value)


_DEVICE = re.compile(r"\b([a-z]+):\d+")


def _without_numbers(text: str) -> str:
    return _DEVICE.sub(r"\1", text)


def _passed(
    fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[tuple[str, Any]]:
    """The arguments that were passed, named as in the signature."""
    named: list[tuple[str, Any]] = [(f"args[{index}]", value) for index, value in enumerate(args)]
    named += kwargs.items()
    signature = _signature(fn)
    if signature is not None:
        try:
            bound = signature.bind(*args, **kwargs).arguments
        except TypeError:
            bound = {}  # a decorator takes other arguments than what it wraps: keep the places
        if bound:
            named = []
            for name, value in bound.items():
                kind = signature.parameters[name].kind
                if kind is inspect.Parameter.VAR_POSITIONAL:
                    named += [(f"{name}[{index}]", item) for index, item in enumerate(value)]
                elif kind is inspect.Parameter.VAR_KEYWORD:
                    named += value.items()
                else:
                    named.append((name, value))
    return named


def named(fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """A call's arguments by their names in the signature, including defaults."""
    signature = _signature(fn)
    if signature is None:
        return dict(kwargs)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return dict(kwargs)
    bound.apply_defaults()
    return bound.arguments


def summary(value: object, levels: int = _LEVELS) -> str:
    """A value in a few words, without calling the ``repr`` of the user's objects.

    Parameters
    ----------
    levels
        How many containers within each other have their items listed. A list may contain itself.
    """
    cls = type(value)
    if issubclass(cls, torch.Tensor):
        return _tensor(value)  # type: ignore[arg-type]
    if cls in (set, frozenset):
        # Its order differs from process to process.
        items = sorted(summary(item, levels - 1) for item in value) if levels else []  # type: ignore[attr-defined]
        return _contents(f"{cls.__name__} of {len(value)}", items[:3], len(value))  # type: ignore[arg-type]
    if cls in (list, tuple):
        first = list(value)[:3] if levels else ()  # type: ignore[call-overload]
        items = [summary(item, levels - 1) for item in first]
        return _contents(f"{cls.__name__} of {len(value)}", items, len(value))  # type: ignore[arg-type]
    if issubclass(cls, dict):
        pairs: list[tuple[object, object]] = list(dict.items(value))  # type: ignore[arg-type]
        first = pairs[:3] if levels else ()
        items = [f"{_short(key)}: {summary(item, levels - 1)}" for key, item in first]
        return _contents(f"{cls.__name__} of {len(pairs)}", items, len(pairs))
    return _short(value)


def _contents(head: str, items: list[str], count: int) -> str:
    if not items:
        return head
    more = ", …" if count > len(items) else ""
    return f"{head} ({', '.join(items)}{more})"


def _tensor(tensor: torch.Tensor) -> str:
    with tensors.plain():
        sizes = ", ".join(map(str, tensors.sizes(tensor)))
        parts = [f"{str(tensor.dtype).removeprefix('torch.')}[{sizes}]", str(tensor.device)]
        if type(tensor) is not torch.Tensor:
            parts.insert(0, type(tensor).__name__)
        if tensor.layout != torch.strided:
            parts.append(str(tensor.layout).removeprefix("torch."))
        elif not (tensor.is_nested or tensor.is_contiguous()):
            parts.append(f"strides {list(tensor.stride())}")
        if tensor.requires_grad:
            parts.append("requires_grad")
    return " ".join(parts)


def _short(value: object) -> str:
    return shorten(_full(value))


def shorten(text: str) -> str:
    """A text, cut if it is long."""
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 1]}…"


def _full(value: object) -> str:
    if type(value) not in _PLAIN:
        return type(value).__name__
    try:
        return repr(value)
    except Exception:  # noqa: BLE001 - an integer too long for Python, a slice of the user's objects
        return type(value).__name__


def _is_needed(parameter: inspect.Parameter) -> bool:
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return parameter.default is inspect.Parameter.empty and parameter.kind not in variable


def _signature(fn: Callable[..., Any], *, follow_wrapped: bool = True) -> inspect.Signature | None:
    try:
        return inspect.signature(fn, follow_wrapped=follow_wrapped)
    except (TypeError, ValueError):
        return None  # a builtin that does not tell
