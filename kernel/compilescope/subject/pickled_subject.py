"""Transfers a subject to another process.

It is pickled with cloudpickle: functions of a notebook are pickled by value, those of modules by
name, and the other process imports them. Create large models in the other process by passing a
factory instead.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import pkgutil
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import cloudpickle

from ..isolation.global_state import SavedModes, in_force
from ..processes import runner
from ..report import Subject, references
from ..report.argument_checks import kind_of
from ..report.errors import CompilescopeError
from ..report.problem import in_short
from ..torch_api.process import portable_settings
from .arguments import check_types, shorten
from .subject import describe, leaves, unwrap

REMOVE_UNPICKLABLE = "Remove its references to objects that cannot be pickled."
_PASS_FACTORY = "Pass a factory instead: {}, where make() returns (fn, args)."
_IMPORTABLE_OR_FACTORY = (
    "Define it in a module that the other process can import, or pass a factory that makes it "
    "there: {}, where make() returns (fn, args)."
)
_IMPORTABLE = "Define it, and what it refers to, in modules that the other process can import."
_RETURN = "return {}, {}"
"""How a remedy writes what a factory does."""

_FACTORY = "The factory"

_permanent_contexts = contextlib.ExitStack()
"""Contexts that stay active in a process until it ends."""


class Call(NamedTuple):
    """A callable with its arguments."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def pack(
    fn: Callable[..., Any] | None = None,
    arguments: object = None,
    *,
    factory: Callable[[], Any] | None = None,
    modes: Sequence[Any] | None = None,
    takes_factory: str = "",
    like: Call | None = None,
) -> bytes:
    """Pickles a call with torch's current modes and settings.

    Parameters
    ----------
    fn
        The callable; or None, with a ``factory`` that returns (fn, args) or (fn, args, kwargs).
    arguments
        ``(args, kwargs)``, or a callable that creates them in the other process. If None, those of
        the factory.
    modes
        torch's modes, as `SavedModes.now` returned them; those of this thread if None.
    takes_factory
        How a remedy writes what takes a factory: ``compilescope.sweep(factory=make)``; empty:
        nothing does.
    like
        The call that the factory has to create; None: any.

    Raises
    ------
    CompilescopeError
        It cannot be pickled.
    """
    if factory is None:
        assert fn is not None, "one of the two is given"
        return _pack(_Content(unwrap(fn), None, arguments), modes, "The subject", takes_factory)
    expected = _Described(describe(*like), leaves(*like)) if like is not None else None
    return _pack(_Content(None, factory, arguments), modes, _FACTORY, like=expected)


def unpack(data: bytes, calling: Callable[[str], None] = lambda what: None) -> Call:
    """Unpickles a call and applies its modes and settings.

    Parameters
    ----------
    calling
        Called with what is called next and may raise: the factory, the function of the arguments.

    Raises
    ------
    CompilescopeError
        The call cannot be unpickled; or a factory or a function of the arguments returned something
        else or another call, or these arguments do not fit.
    """
    parts = pickle.loads(data)
    portable_settings.apply(pickle.loads(parts["settings"]))
    _add_references(parts["references"], parts["each_reference"])
    _permanent_contexts.enter_context(in_force(pickle.loads(parts["modes"])))
    takes_factory, like = parts["takes_factory"], parts["like"]
    remedy = _IMPORTABLE_OR_FACTORY.format(takes_factory) if takes_factory else _IMPORTABLE
    content = _Content(*_recreated(parts["content"], parts["what"], remedy))
    call = Call(content.fn or _nothing, (), {})
    if content.factory is not None:
        calling(_FACTORY)
        call = _made_by(content.factory)
    arguments, written = content.arguments, _RETURN
    if arguments is not None:
        if callable(arguments):
            calling("The function of the arguments")
            arguments = arguments()
        call, written = Call(call.fn, *as_arguments(arguments)), of_shape("name")
    if content.factory is not None or callable(content.arguments):
        # Where it was packed, it could not be checked.
        subject = describe(*call, call=written)
        if like is not None:
            _check_alike(_Described(subject, leaves(*call)), like)
    return call


class _Described(NamedTuple):
    """A call as a factory and the report have it in common."""

    subject: Subject
    leaves: dict[str, str]

    @property
    def module(self) -> str:
        """The class of the module; the names of functions may differ."""
        return self.subject.name if self.subject.kind == "module" else ""


def _check_alike(created: _Described, like: _Described) -> None:
    """Raises `CompilescopeError` if a factory's call is not the one that it has to create."""
    if (created.module, created.leaves) == (like.module, like.leaves):
        return
    returned, reported = _written(created.subject), _written(like.subject)
    why = f"It returned {returned}, and the report is of {reported}."
    if returned == reported:
        paths = [*created.leaves, *like.leaves]
        path = next(path for path in paths if created.leaves.get(path) != like.leaves.get(path))
        here, there = (shorten(each.leaves.get(path, "missing")) for each in (created, like))
        why = f"In {returned}, {path} is {here}, and {there} in the report."
        if here == there:
            why = f"In {returned}, {path} differs."
    raise CompilescopeError(
        "The factory returned another call than the report's.",
        why,
        "Return the report's call, or inspect what the factory returns and study that report.",
    )


def _written(subject: Subject) -> str:
    return f"{subject.name}({', '.join(subject.arguments)})"


def _recreated(data: bytes, what: str, remedy: str) -> Any:
    try:
        return pickle.loads(data)
    except Exception as error:
        failed = CompilescopeError(
            f"{what} cannot be recreated in another process.",
            f"Unpickling it failed: {in_short(error)}.",
            remedy,
        )
        failed.problem.detail = traceback.format_exc()
        raise failed from error


def _add_references(together: bytes, each: Mapping[str, bytes]) -> None:
    """Adds the objects that settings of the other process refer to, whether or not the call does.

    They share what they shared there. If one of them cannot be recreated here, the others are
    recreated by themselves, and it is missing only where it is needed.
    """
    try:
        references.add_known(pickle.loads(together))
    except Exception:  # noqa: BLE001 - each says below what is wrong with it
        for text, data in each.items():
            what = f"{references.name_of(text)} in the settings"
            try:
                references.add_known({text: _recreated(data, what, _IMPORTABLE)})
            except CompilescopeError as error:
                references.add_missing(text, error)


def as_arguments(value: object) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments as ``(args, kwargs)``, given as that, or as ``args`` alone.

    Raises
    ------
    CompilescopeError
        They are neither.
    """
    if isinstance(value, (tuple, list)):
        if len(value) == 2 and isinstance(value[0], (tuple, list)) and isinstance(value[1], dict):
            return tuple(value[0]), dict(value[1])
        return tuple(value), {}
    raise CompilescopeError(
        f"Arguments are given as {kind_of(value)}.",
        remedy="Give (args, kwargs): ((x,), {}); or a function that returns that.",
    )


def of_shape(name: str) -> str:
    """How a remedy writes the arguments of a shape: ``call`` of `describe`."""
    shown = repr(name).replace("{", "{{").replace("}", "}}")
    return "shapes={{" + shown + ": {1}}}"


def _made_by(factory: Callable[[], Any]) -> Call:
    result = factory()
    if (
        not isinstance(result, (tuple, list))
        or len(result) not in (2, 3)
        or not callable(result[0])
    ):
        raise CompilescopeError(
            f"The factory returned {kind_of(result)}.",
            "It makes the call that is measured.",
            "Return (fn, args) or (fn, args, kwargs).",
        )
    fn, args, kwargs = (*result, {})[:3]
    check_types(fn, args, kwargs, _RETURN)
    return Call(unwrap(fn), tuple(args), dict(kwargs or {}))


def _nothing() -> None:
    raise AssertionError("a subject or a factory was packed")


def header() -> dict[str, Any]:
    """The module search path of this process, for the start of the other process."""
    return {"cwd": os.getcwd(), "sys_path": runner.search_path()}  # noqa: PTH109 - as text


class _Content(NamedTuple):
    fn: Callable[..., Any] | None
    factory: Callable[[], Any] | None
    arguments: object


def _pack(
    content: _Content,
    modes: Sequence[Any] | None,
    what: str,
    takes_factory: str = "",
    like: _Described | None = None,
) -> bytes:
    try:
        packed = _dumps(tuple(content))
    except Exception as error:
        raise CompilescopeError(
            f"{what} cannot be sent to another process.",
            f"Pickling it failed: {in_short(error)}.",
            _PASS_FACTORY.format(takes_factory) if takes_factory else REMOVE_UNPICKLABLE,
        ) from error
    referenced = references.referenced()
    each_reference = dict(_pickled_references(referenced))
    return pickle.dumps(
        {
            "content": packed,
            "what": what,
            "takes_factory": takes_factory,
            "like": like,
            "modes": pickle.dumps(SavedModes().now() if modes is None else list(modes)),
            "settings": pickled_settings(),
            "references": cloudpickle.dumps({text: referenced[text] for text in each_reference}),
            "each_reference": each_reference,
        }
    )


class Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # it is not typed
    """cloudpickle's pickler, which also pickles some objects of torch by name."""

    def reducer_override(self, obj: Any) -> Any:
        """Reduces objects that the plain rules cannot pickle."""
        path = portable_settings.path_of(obj)
        if path is not None:
            return pkgutil.resolve_name, (path,)
        return super().reducer_override(obj)


def _dumps(value: object) -> bytes:
    file = io.BytesIO()
    Pickler(file).dump(value)
    return file.getvalue()


def pickled_settings() -> bytes:
    """The user's settings that can be pickled; a pass that is a method may not be."""
    changed = {
        module: {name: value for name, value in settings.items() if _can_be_pickled(value)}
        for module, settings in portable_settings.changed_settings().items()
    }
    return _dumps(changed)


def _pickled_references(referenced: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """The objects that settings of this process refer to, each by itself, if it can be pickled."""
    for text, value in referenced.items():
        with contextlib.suppress(Exception):  # whatever it raises, it cannot be pickled
            yield text, cloudpickle.dumps(value)


def _can_be_pickled(value: Any) -> bool:
    try:
        _dumps(value)
    except Exception:  # noqa: BLE001 - whatever it raises, it cannot be pickled
        return False
    return True
