"""Binds the arguments of an operator's call to its schema, including defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def by_name(schema: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The value of every argument of the schema, in its order.

    Parameters
    ----------
    schema
        The operator's ``_schema``.
    args, kwargs
        As the operator is called; torch leaves out trailing arguments that have their default.
    """
    return {
        argument.name: args[place]
        if place < len(args)
        else kwargs.get(argument.name, argument.default_value)
        for place, argument in enumerate(schema.arguments)
    }
