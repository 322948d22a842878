"""Finds classes with methods of the user's that pickle calls.

They would run on the main thread while a call is packed, and what they change would stay.
"""

from __future__ import annotations

import collections
import copyreg
import types

from ..isolation.user_code import is_library_file, is_user_class

_NAMES = (
    "__class__", "__getattr__", "__getattribute__", "__getnewargs__", "__getnewargs_ex__",
    "__getstate__", "__reduce__", "__reduce_ex__",
)  # fmt: skip
_OF_COLLECTIONS = ("__iter__", "items")
_COLLECTIONS = (list, tuple, set, frozenset, dict, collections.deque)


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


def _is_users(method: object, base: type) -> bool:
    # A dataclass has some that are Python's.
    if type(method) is types.FunctionType:
        return not is_library_file(method.__code__.co_filename)
    return is_user_class(base)
