"""Packs a call for a target's process, without its weights, or for one that runs it, with them.

Functions are pickled as in `subject.pickled_subject`. A tensor is sent as a description (shape,
strides, type, storage and offset; of a number on the CPU, its value), which becomes a tensor on the
target's device: tied weights stay tied, views stay views. Its memory is not sent. If the call is to
run, the values of its tensors are sent beside it.
"""

from __future__ import annotations

import collections
import contextlib
import importlib
import io
import linecache
import pickle
import sys
import traceback
import types
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import cloudpickle
import msgspec
import torch

from ..isolation.global_state import in_force
from ..isolation.object_walk import walk
from ..isolation.user_code import is_user_module
from ..report.errors import CompilescopeError
from ..report.problem import in_short
from ..subject.pickled_subject import Call, Pickler, pickled_settings
from ..torch_api.operators import custom, tensors, unpicklable
from ..torch_api.process import portable_settings
from .packed_tensors import Rebuilding, reduce_tensor
from .packing_limits import PackingLimits
from .received_code import define_operator, remember_texts
from .sent_values import ReceivedValues
from .whole_call import Surroundings, WholeCall

_MAX_BYTES = 256e6
_MAX_BYTES_OF_WHOLE = 32e6
"""Of a call that runs: cells wait while it is pickled."""


class _Packed(msgspec.Struct, kw_only=True):
    content: bytes
    """(fn, args, kwargs), pickled."""
    modes: bytes
    settings: bytes
    on_cpu: bool
    """All of its tensors are on the CPU, or nowhere (meta): they move to the target together."""
    shared: dict[int, int]
    """Memory that several tensors are in → its size."""
    files: dict[str, str]
    """Notebook cells that the functions are from: file name → text."""
    libraries: list[str]
    operators: dict[str, bytes]
    """Defined in a notebook: name → definition, pickled."""
    surroundings: Surroundings | None = None
    """Of a call that runs."""


def pack(
    fn: Callable[..., Any] | None,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    modes: Sequence[Any],
    whole: WholeCall | None = None,
) -> bytes:
    """A call, with torch's modes and settings, and with descriptions of its tensors.

    With ``whole``, it calls nothing of the user's; otherwise only what pickle calls, such as
    ``__getstate__``. Settings are those of this context.

    Parameters
    ----------
    fn
        None: only arguments.
    modes
        torch's, as `SavedModes.now` gave them.
    whole
        Takes the tensors' data, for a call that runs.

    Raises
    ------
    CompilescopeError
        Something in it cannot travel; the message says what.
    """
    if whole is not None:
        whole.check_settings()
    content = (fn, tuple(args), dict(kwargs))
    file = _File() if whole is None else _File(_MAX_BYTES_OF_WHOLE, whole.limits)
    pickler = _CallPickler(file, whole)
    try:
        with tensors.plain():
            pickler.dump(content)
        operators = _operators(pickler)
    except CompilescopeError:
        raise
    except Exception as error:
        where = "" if whole is not None else _where(list(pickler.last), fn, args, kwargs)
        raise CompilescopeError(
            "The subject cannot be sent to the target's process.",
            f"{where}{type(error).__name__}: {_first_line(error)}.",
            "Have it refer to nothing that cannot be pickled: pass it as an argument, or make it "
            "where it is used.",
        ) from error
    packed = _Packed(
        content=file.getvalue(),
        modes=pickle.dumps(list(modes)),
        settings=pickled_settings(),
        on_cpu=not pickler.devices - {"cpu", "meta"},
        shared={key: size for key, (size, count) in pickler.memory.items() if count > 1},
        files=_texts(pickler.files),
        libraries=custom.libraries(),
        operators=operators,
        surroundings=None if whole is None or fn is None else whole.surroundings(fn, args, kwargs),
    )
    return msgspec.msgpack.encode(packed)


def unpack_whole(data: bytes, world: Any) -> Call | None:
    """The call with its data; None if what it depends on differs in this process.

    Random generators are set as they were when it was packed.

    Raises
    ------
    CompilescopeError
        As for `unpack`.
    """
    around = surroundings(data)
    values = around.values()
    call = unpack(data, world, values)
    around.restore_randomness()
    return call if around.has_state(call, values) else None


def unpack(data: bytes, world: Any, values: ReceivedValues | None = None) -> Call:
    """The call, its tensors on the target's device.

    torch's modes and settings are those that it came with, until `leave_modes`.

    Parameters
    ----------
    values
        The data of its tensors, if they were sent; their memory is not written otherwise.

    Raises
    ------
    CompilescopeError
        Something that it refers to by name is not here, or raises; the message says what.
    """
    packed = put_in_force(data)
    for library in packed.libraries:
        _load(library)
    remember_texts(packed.files)
    token = _rebuilding.set(Rebuilding(world, packed.on_cpu, packed.shared, values))
    try:
        for name, definition in packed.operators.items():
            define_operator(name, definition)
        return Call(*pickle.loads(packed.content))
    except (ImportError, AttributeError) as error:
        missing = getattr(error, "name", None)
        raise CompilescopeError(
            f"{missing or 'Something'} that the call needs is missing in the target's process.",
            f"{type(error).__name__}: {_first_line(error)}.",
            "That process imports the modules of functions and classes again: put them into a file "
            "that can be imported, or into the notebook.",
        ) from None
    except CompilescopeError:
        raise
    except Exception as error:
        raise _not_remade(error) from error
    finally:
        _rebuilding.reset(token)


def _not_remade(error: Exception) -> CompilescopeError:
    """What the user's modules and objects raised: they are imported and unpickled."""
    remade = CompilescopeError(
        "The call cannot be made again in the target's process.",
        f"{in_short(error)}.",
        "That process imports the modules of functions and classes again, with the environment "
        "variables that the kernel had when the process was started.",
    )
    remade.problem.detail = "".join(traceback.format_exception(error))
    return remade


def _load(library: str) -> None:
    try:
        custom.load(library)
    except OSError as error:
        raise CompilescopeError(
            f"The library {library} cannot be loaded in the target's process.",
            f"{_first_line(error)}.",
            "Operators written in C++ are there only with their library.",
        ) from None


def surroundings(data: bytes) -> Surroundings:
    """What is around a call that runs, which is not unpacked."""
    result = msgspec.msgpack.decode(data, type=_Packed).surroundings
    assert result is not None, "it was packed with them"
    return result


def put_in_force(data: bytes) -> _Packed:
    """Activates a call's modes and settings, until `leave_modes`.

    It does not unpack the call.
    """
    packed = msgspec.msgpack.decode(data, type=_Packed)
    leave_modes()
    portable_settings.apply(pickle.loads(packed.settings))
    _in_force.enter_context(in_force(pickle.loads(packed.modes)))
    return packed


def leave_modes() -> None:
    """Leaves the modes of the last call."""
    _in_force.close()


_in_force = contextlib.ExitStack()
_rebuilding: ContextVar[Rebuilding] = ContextVar("compilescope_rebuilding")


class _File(io.BytesIO):
    """Takes up to a number of bytes."""

    def __init__(self, most: float = _MAX_BYTES, limits: PackingLimits | None = None) -> None:
        super().__init__()
        self._most = most
        self._limits = limits

    def write(self, data: Any) -> int:
        """Adds the data.

        Raises
        ------
        CompilescopeError
            They are too many, or the time is over.
        """
        if self._limits is not None:
            self._limits.check()
        if self.tell() + memoryview(data).nbytes > self._most:
            raise CompilescopeError(
                f"The subject is more than {self._most / 1e6:.0f} MB beside its tensors.",
                "It holds large arrays or texts, which would have to be sent to the target's "
                "process.",
                "Keep them in tensors, of which only the shapes are sent.",
            )
        return super().write(data)


class _CallPickler(Pickler):
    """Pickles a call, and notes what else has to travel with it."""

    def __init__(self, file: io.BytesIO, whole: WholeCall | None = None) -> None:
        super().__init__(file)
        self.whole = whole
        self.last: collections.deque[object] = collections.deque(maxlen=20)
        """What was pickled last, to say what could not be."""
        self.devices: set[str] = set()
        self.memory: dict[int, tuple[int, int]] = {}
        """Memory → its size, and how many tensors are in it."""
        self.files: set[str] = set()
        self.names: set[str] = set()
        """All names that code uses which is pickled by value."""
        self.operators: set[str] = set()

    def reducer_override(self, obj: Any) -> Any:
        """How an object is pickled that the plain rules do not know."""
        self.last.append(obj)
        if self.whole is not None:
            parts = self.whole.reduced(obj)
            if parts is not None:
                return parts
        if isinstance(obj, types.CodeType):
            self.files.add(obj.co_filename)
            self.names.update(obj.co_names)
        elif isinstance(obj, types.FunctionType):
            self._keep_module_globals(obj)
        elif isinstance(obj, _ModuleGlobals):
            return _globals_of, (obj.module,)
        elif isinstance(obj, torch.Tensor):
            return self._tensor(obj)
        elif isinstance(obj, torch.device):
            return _device, (str(obj),)
        elif (operator := custom.name_of(obj)) is not None:
            self.operators.add(operator)
            if custom.is_definition(obj):
                return custom.find, (operator,)
        elif (parts := unpicklable.reduced(obj)) is not None:
            return parts
        return super().reducer_override(obj)

    def _keep_module_globals(self, function: types.FunctionType) -> None:
        """Has a function that is pickled by value, a nested one, use its module's globals there.

        cloudpickle would give it a dict of its own, and Dynamo's guards would name them otherwise.
        """
        module = sys.modules.get(function.__module__)
        is_by_value = function.__module__ in cloudpickle.list_registry_pickle_by_value()
        if module is None or not is_user_module(module) or is_by_value:
            return
        if vars(module) is function.__globals__ and module.__name__ != "__main__":
            self.globals_ref.setdefault(id(vars(module)), _ModuleGlobals(module.__name__))

    def _tensor(self, tensor: torch.Tensor) -> Any:
        if self.whole is not None:
            self.whole.add(tensor)
        self.devices.add(tensor.device.type)
        if not tensors.is_wrapper(tensor) and tensor.layout == torch.strided:
            key, size = tensors.memory_of(tensor)
            memory_size = self.memory.get(key, (size, 0))
            self.memory[key] = memory_size[0], memory_size[1] + 1
        return _tensor, *reduce_tensor(tensor)


class _ModuleGlobals(dict[str, Any]):
    """Stands for the globals of a module, which the other process imports."""

    def __init__(self, module: str) -> None:
        super().__init__()
        self.module = module


def _globals_of(module: str) -> dict[str, Any]:
    return vars(importlib.import_module(module))


def _tensor(*described: Any) -> torch.Tensor:
    return _rebuilding.get().tensor(*described)


def _device(name: str) -> torch.device:
    return _rebuilding.get().device(name)


def _operators(pickler: _CallPickler) -> dict[str, bytes]:
    """Operators that are pickled by value: those of notebooks that the call's code names."""
    pickled: dict[str, bytes] = {}
    while True:
        missing = [
            name
            for name in custom.defined()
            if name not in pickled and (name in pickler.operators or _names(name, pickler.names))
        ]
        if not missing:
            return pickled
        for name in missing:
            file = io.BytesIO()
            operator_pickler = _CallPickler(file, pickler.whole)
            operator_pickler.dump(custom.definition_of(name))
            pickled[name] = file.getvalue()
            pickler.files |= operator_pickler.files
            pickler.names |= operator_pickler.names
            pickler.operators |= operator_pickler.operators


def _names(operator: str, names: set[str]) -> bool:
    return all(part in names for part in operator.split("::"))


def _texts(files: set[str]) -> dict[str, str]:
    """The texts of those that are no files on disk, or that only this process knows."""
    lines_by_file = {name: linecache.getlines(name) for name in files if not Path(name).is_file()}
    return {name: "".join(lines) for name, lines in lines_by_file.items() if lines}


def _where(last: Sequence[object], fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """What could not travel, by where the subject has it."""
    places = {id(obj): path for obj, path in walk(fn, args, kwargs).objects}
    culprit = type(last[-1]).__name__ if last else ""
    for obj in reversed(last):
        if id(obj) in places:
            return f"{places[id(obj)]} holds something that cannot be sent ({culprit}). "
    return ""


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0].rstrip(".")
