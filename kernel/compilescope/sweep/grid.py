"""The variants of a sweep: every combination of some switches."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ..inspection.variants import name_of, named, parse
from ..report.variant import Variant


def grid(
    *,
    modes: Sequence[str | None] = (None,),
    cpp_wrapper: Sequence[bool] = (False, True),
    dynamic: Sequence[bool | None] = (None,),
    fullgraph: Sequence[bool] = (False,),
    options: Sequence[Mapping[str, Any]] = ({},),
) -> dict[str, Variant]:
    """Name → variant, for every combination; see `compilescope.grid`."""
    variants = {}
    for mode, cpp, sizes, whole, more in itertools.product(
        modes, cpp_wrapper, dynamic, fullgraph, options
    ):
        variant = Variant(
            mode=None if mode == "default" else mode,
            cpp_wrapper=cpp,
            dynamic=sizes,
            fullgraph=whole,
            options=dict(more),
        )
        variants[name_of(variant)] = variant
    return parse(variants)


def every_mode() -> list[str | None]:
    """The modes of torch.compile, the default among them."""
    return [variant.mode for variant in named().values() if variant == _only_mode(variant)]


def _only_mode(variant: Variant) -> Variant:
    return msgspec.structs.replace(Variant(), mode=variant.mode)
