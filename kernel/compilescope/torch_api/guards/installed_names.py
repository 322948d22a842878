"""The names of globals that Dynamo installs in the user's module for guards.

Relies on ``OutputGraph.install_builtins_dict_in_fglobals`` and ``install_global_by_id`` of
``torch._dynamo.output_graph``; the same from 2.11 to 2.15.
"""

from __future__ import annotations

import re

BUILTINS = "__builtins_dict__"
"""How the name of a dictionary of builtins begins: ``__builtins_dict___2``."""

INSTALLED_BY_ID = re.compile(r"\w*_\d+_c\d+")
"""The names that ``OutputGraph.install_global_by_id`` gives to globals: prefix, ``id`` and
compilation. A tensor's ``type(x)`` makes it install torch as ``_140710230885776_c1``."""

_COUNTED = re.compile(rf"\b({BUILTINS})_\d+\b|(?<=\bG\[')(\w*?)(?:_\d+)+_c\d+(?='\])")


def without_counter(guard: str) -> str:
    """Remove what differs between two compilations of the same code from a guard's names.

    Each compilation in a process gets the next number: ``__builtins_dict___2``. What is installed
    by ``id`` has the address of the object, or of its weak reference, and the compilation.
    """
    return _COUNTED.sub(r"\1\2", guard)


_ID_CHECK = re.compile(r"(___?check_(?:obj|type)_id\(.*?), \d+\)(?=$|, type=)", re.S)
"""Guards on an object's or a type's identity; the source may contain commas and brackets."""
_INSTALLED_ID = re.compile(r"(?:_\d+)+_c(?=\d)")


def without_ids(guard: str) -> str:
    """Replace the ids of objects, which differ between processes, in a guard.

    They are the second argument of a check of identity, and part of the names that
    `INSTALLED_BY_ID` matches. An id can have any number of digits.
    """
    return _INSTALLED_ID.sub("_…_c", _ID_CHECK.sub(r"\1, …)", guard))
