"""What a call needs to run in another process as it would here: values, random state, environment.

A call that holds something that the other process cannot have, such as an open file, does not
travel: it runs in the kernel.
"""

from __future__ import annotations

import importlib
import io
import os
import pickle
import pkgutil
import random
import sys
import types
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import torch

from ..isolation.global_names import names_in
from ..isolation.global_state import SavedRandomness
from ..isolation.user_code import is_user_class
from ..processes.runner import UNSET_VARIABLES
from ..report.errors import CompilescopeError
from ..subject.pickled_subject import Call
from ..torch_api.operators import tensors
from ..torch_api.process import portable_settings
from .call_state import digest_of_state
from .own_pickling import is_plain, own_method, user_method
from .packing_limits import NoLimits, PackingLimits
from .sent_values import Place, ReceivedValues, SentValues

_OWN_VARIABLES = {*UNSET_VARIABLES, "PYTHONPATH"}
"""Variables that other processes have otherwise on purpose."""

_NAMESPACE_FUNCTIONS = {"__import__", "eval", "exec", "get_ipython", "globals", "locals", "vars"}
"""They reach all names of a notebook, and only those that code names are sent."""


class Surroundings(msgspec.Struct, kw_only=True):
    """What is around a call when it is sent, as msgpack."""

    path: str
    """Where the other process finds the values of its tensors."""
    places: dict[int, Place]
    randomness: bytes
    environment: dict[str, str]
    state: str
    """As `digest_of_state` returned it for the call."""

    def restore_environment(self) -> None:
        """Sets this process's environment variables."""
        kept = {name: value for name, value in os.environ.items() if name in _OWN_VARIABLES}
        os.environ.clear()
        os.environ.update({**self.environment, **kept})

    def restore_randomness(self) -> None:
        """Sets this process's random generators."""
        saved: SavedRandomness = pickle.loads(self.randomness)
        if saved.numpy is not None:
            importlib.import_module("numpy.random")
        saved.restore()

    def has_state(self, call: Call, values: ReceivedValues) -> bool:
        """Whether what the call depends on in this process is what it was in the other one."""
        return digest_of_state(*call, values.has, NoLimits()) == self.state

    def values(self) -> ReceivedValues:
        """The values of the call's tensors."""
        return ReceivedValues(self.path, self.places)


class SentCall(NamedTuple):
    """A call that another process can run, as it was when it was packed."""

    call: bytes
    """As `packed_call.pack` returned it."""
    values: SentValues

    def close(self) -> None:
        """Frees the values, once no process needs them any more."""
        self.values.close()


class WholeCall:
    """Collects what a call needs while its objects are pickled, and refuses what cannot travel."""

    def __init__(self) -> None:
        self.limits = PackingLimits()
        self.values = SentValues(self.limits)
        self._arrays: dict[int, tuple[int, int]] = {}
        self._storages: dict[int, tuple[int, int]] = {}
        self._generators = dict(_global_generators())
        self._pickled: set[type] = set()
        """Classes without methods of the user's that pickle calls."""

    def check_settings(self) -> None:
        """Checks torch's settings in this context, which travel too.

        Raises
        ------
        CompilescopeError
            One is an object.
        """
        for settings in portable_settings.changed_settings().values():
            for name, value in settings.items():
                if not is_plain(value):
                    raise _refused(type(value), f"Pickling the setting {name} may run its methods.")

    def reduced(self, obj: object) -> tuple[Any, ...] | None:
        """The reduced form of an object for pickle; None if it has the usual one.

        Raises
        ------
        CompilescopeError
            Another process cannot have the object, or the time is over.
        """
        self.limits.check()
        cls = type(obj)
        if issubclass(cls, (io.IOBase, weakref.finalize)):
            raise _refused(cls, "It belongs to this process.")
        if cls not in self._pickled:
            if method := user_method(cls):
                raise _refused(cls, f"Pickling it runs {method}.")
            self._pickled.add(cls)
        # Its class has no __getattribute__ of the user's; a class is pickled by its metaclass.
        attributes = {} if issubclass(cls, type) else getattr(obj, "__dict__", {})
        if method := own_method(attributes):
            raise _refused(cls, f"Pickling it runs {method}.")
        if cls is types.CodeType and names_in(obj).globals & _NAMESPACE_FUNCTIONS:  # type: ignore[arg-type]
            raise _refused(cls, "It may use every name of the notebook.")
        path = self._generators.get(id(obj))
        if path is not None:
            return pkgutil.resolve_name, (path,)
        if isinstance(obj, torch.Generator):
            return _generator, (str(obj.device), obj.get_state())
        if "numpy" in sys.modules and isinstance(obj, sys.modules["numpy"].ndarray):
            if obj.dtype.hasobject:
                raise _refused(cls, "It holds objects.")
            self._note_array(obj)
        return None

    def add(self, tensor: torch.Tensor) -> None:
        """Adds a tensor's values, which `surroundings` copies.

        Raises
        ------
        CompilescopeError
            Another process cannot have the tensor.
        """
        if is_user_class(type(tensor)):
            raise _refused(type(tensor), "Its class is the user's, whose methods would run.")
        with tensors.plain():
            why = _unlike(tensor)
            if why:
                raise _refused(type(tensor), why)
            is_strided = not tensors.is_wrapper(tensor) and tensor.layout == torch.strided
            if is_strided and tensor.is_cpu:
                storage = tensor.untyped_storage()
                number, size = tensors.memory_of(tensor)
                self.values.add(number, storage)
                self._storages[number] = storage.data_ptr(), size

    def surroundings(
        self, fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Surroundings:
        """The rest of what the call needs, once it is pickled.

        Raises
        ------
        CompilescopeError
            Several objects have the same memory, and would not have it in the other process; or
            the call takes too long.
        MemoryError
            Too little memory is free now.
        """
        ranges = sorted([*self._arrays.values(), *self._storages.values()])
        end = 0
        for start, size in ranges:
            if size and start < end:
                raise _refused(torch.Tensor, "It shares its memory with an array.")
            end = max(end, start + size)
        self.values.copy()
        return Surroundings(
            path=self.values.path,
            places=self.values.places,
            randomness=pickle.dumps(_randomness()),
            environment=_environment(),
            state=digest_of_state(fn, args, kwargs, self._has, self.limits),
        )

    def _has(self, tensor: torch.Tensor) -> bool:
        return tensors.memory_of(tensor)[0] in self.values.places

    def _note_array(self, array: Any) -> None:
        self.limits.add(array.nbytes)
        root = array
        while type(root.base) is type(array):
            root = root.base
        self._arrays[id(array)] = root.__array_interface__["data"][0], root.nbytes


def _randomness() -> SavedRandomness:
    saved = SavedRandomness()
    saved.cuda = []  # the other process does not use it
    return saved


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _OWN_VARIABLES}


def _unlike(tensor: torch.Tensor) -> str:
    """Why a tensor would be another one in another process, if it would."""
    if tensors.is_fake(tensor):
        return "It has no values."
    if tensor.device.type not in ("cpu", "meta"):
        return f"It is on {tensor.device}."
    if tensor.grad_fn is not None:
        return "It has a history of operations."
    if any(tensors.hooks(tensor)):
        return "It has hooks."
    if tensor.is_conj() or tensor.is_neg():
        return "It shows the values of another tensor changed."
    return ""


def _global_generators() -> Mapping[int, str]:
    """The ids of the generators behind functions of modules, and how to find them."""
    found: dict[int, str] = {
        id(random.random.__self__): "random:random.__self__",  # type: ignore[attr-defined]
        id(torch.default_generator): "torch:default_generator",
    }
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        found[id(numpy_random.rand.__self__)] = "numpy.random:rand.__self__"
    return found


def _generator(device: str, state: torch.Tensor) -> torch.Generator:
    generator = torch.Generator(device)
    generator.set_state(state)
    return generator


def _refused(cls: type, why: str) -> CompilescopeError:
    return CompilescopeError(
        f"A {cls.__name__} cannot be sent to another process that runs the call.", why
    )
