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

_COUNTED = re.compile(rf"\b({BUILTINS})_\d+\b")


def without_counter(guard: str) -> str:
    """Remove torch's count of dictionaries of builtins from a guard.

    Each compilation in a process gets the next number: ``__builtins_dict___2``.
    """
    return _COUNTED.sub(r"\1", guard)
