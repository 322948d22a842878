"""The observers of tiers, which are notified of changes.

It does not import torch, which a panel may never need.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable

from ..report.tiers import GraphTiers

Observer = Callable[[GraphTiers], None]

_log = logging.getLogger(__name__)
_observers: list[Observer] = []


def observe(observer: Observer) -> Callable[[], None]:
    """Calls ``observer`` with each graph whose tiers change; the result unsubscribes it.

    It is called in the thread that made the change, which may be that of a call of the graph.
    """
    _observers.append(observer)

    def end() -> None:
        with contextlib.suppress(ValueError):  # a fork has none
            _observers.remove(observer)

    return end


def is_observed() -> bool:
    """Whether there is any observer."""
    return bool(_observers)


def notify(graph: GraphTiers) -> None:
    """Notifies all observers that a graph's tiers have changed."""
    for observer in tuple(_observers):
        _pass_on(observer, graph)


def after_fork() -> None:
    """In a child process: what the observers write to is its parent's."""
    _observers.clear()


def _pass_on(observer: Observer, graph: GraphTiers) -> None:
    try:
        observer(graph)
    except Exception as error:  # noqa: BLE001 - a call of the user's gets its result
        _log.warning("the tiers of a graph could not be shown: %s", error)
