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
