"""Finds objects whose pickling may run methods of the user's.

They would run on the main thread while a call is packed, and what they change would stay.
"""

from __future__ import annotations

import collections
import copyreg
import types
from collections.abc import Mapping

import torch

from ..isolation.user_code import is_library_file, is_user_class

_NAMES = (
    "__array_finalize__", "__class__", "__dict__", "__getattr__", "__getattribute__",
    "__getnewargs__", "__getnewargs_ex__", "__getstate__", "__reduce__", "__reduce_ex__",
)  # fmt: skip
_OF_INSTANCES = {"__getstate__", "__reduce__", "__reduce_ex__"}
"""pickle takes them from an instance too."""
_OF_COLLECTIONS = ("__iter__", "items")
_COLLECTIONS = (list, tuple, set, frozenset, dict, collections.deque)

_PLAIN = (
    bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device,
)  # fmt: skip


def is_plain(value: object) -> bool:
    """Whether a value consists of Python's own values, so pickling it runs nothing of the user's.

    Examples
    --------
    >>> is_plain({"sizes": [1, 2]}), is_plain([print])
    (True, False)
    """
    if type(value) in (list, tuple, set, frozenset):
        return all(map(is_plain, value))  # type: ignore[call-overload]
    if type(value) is dict:
        return all(map(is_plain, value)) and all(map(is_plain, value.values()))
    return type(value) in _PLAIN


def user_method(cls: type) -> str:
    """The name of a method of the user's that pickle calls for an instance; empty if none.

    Methods of Python's library and of installed packages are not the user's.

    Examples
    --------
    >>> class Held:
    ...     def __getstate__(self):
    ...         return {}
    >>> user_method(Held), user_method(dict)
    ('__getstate__', '')
    """
    reduce = copyreg.dispatch_table.get(cls)
    if type(reduce) is types.FunctionType and not is_library_file(reduce.__code__.co_filename):
        return reduce.__name__
    names = _NAMES + _OF_COLLECTIONS if issubclass(cls, _COLLECTIONS) else _NAMES
    for name in names:
        base = next((base for base in type.mro(cls) if name in vars(base)), None)
        if base is not None and _is_users(vars(base)[name], base):
            return name
    return ""


def own_method(attributes: Mapping[str, object]) -> str:
    """The name of a method that pickle calls, among the attributes of an instance; empty if none.

    Examples
    --------
    >>> own_method({"__reduce__": print, "size": 1})
    '__reduce__'
    """
    return min(_OF_INSTANCES & attributes.keys(), default="")


def _is_users(method: object, base: type) -> bool:
    if type(method) is types.GetSetDescriptorType:  # Python's own __dict__
        return False
    # A dataclass has some that are Python's.
    if type(method) is types.FunctionType:
        return not is_library_file(method.__code__.co_filename)
    return is_user_class(base)
