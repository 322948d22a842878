"""Reads cache hits, misses and bypasses from artifacts such as ``fx_graph_cache_miss``."""

from __future__ import annotations

import re
from typing import Literal, cast

from ...capture.logged_values import decoded
from ...report import CacheEvent

_NAME = re.compile(r"(.+)_cache_(hit|miss|bypass)$")
_TITLES = {"fx_graph": "FX graph", "aotautograd": "AOTAutograd", "dynamo": "Dynamo"}


def parse_cache(name: str, payload: str | None) -> CacheEvent | None:
    """Read one cache's answer; None if the artifact is not a cache's."""
    match = _NAME.match(name)
    if match is None:
        return None
    cache, outcome = match.groups()
    try:
        logged = decoded(payload) if payload else {}
    except ValueError:
        logged = {"text": payload}
    if not isinstance(logged, dict):
        logged = {"text": logged}
    detail = (
        logged.get("cache_bypass_reason")
        or logged.get("cache_status_detailed")
        or logged.get("text")
        or ""
    )
    return CacheEvent(
        cache=_TITLES.get(cache, cache),
        outcome=cast(Literal["hit", "miss", "bypass"], outcome),
        key=str(logged.get("key") or ""),
        detail=str(detail),
    )
