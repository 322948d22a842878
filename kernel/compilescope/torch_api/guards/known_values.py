"""Whether guards accept the values of a call that are known without its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch._C._dynamo import guards as guards_in_c

from .guard_managers import KeptGuards
from .trees import nodes_of

_MISSING = (AttributeError, LookupError, TypeError)
"""What evaluating a guard's expression raises if the value has no such part."""


def accepts(kept: KeptGuards, known: Mapping[str, Any]) -> bool:
    """Whether the guards on these names of the frame hold for these values.

    Guards on other names are ignored, as are relations between several values.

    Parameters
    ----------
    known
        Values by the frame's names, such as the module as ``self``.
    """
    if kept.invalid():
        return False
    heads = tuple(f"L[{name!r}]" for name in known)
    scope = kept.scope(dict(known))
    for node in nodes_of(kept.manager.root):
        if not node.source.startswith(heads):
            continue
        leaves = [leaf for leaf in node.leaves if not isinstance(leaf, guards_in_c.RelationalGuard)]
        try:
            value = eval(node.source, scope)
        except _MISSING:
            return False
        except (NameError, SyntaxError):  # torch's own notation
            continue
        if not all(leaf(value) for leaf in leaves):
            return False
    return True
