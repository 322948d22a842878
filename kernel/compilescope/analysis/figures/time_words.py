"""The words for the time of work: how long it has taken, and how long it usually takes."""

from __future__ import annotations

from ...progress.history import UsualDuration
from ...report.units import elapsed

_ELAPSED = "{elapsed}"
_SHOWN = 2 / 3
"""The part of the usual duration for which it is shown."""


def time_words(usual: UsualDuration | None) -> list[tuple[float, str]]:
    """The words for a time that passes, for a display that counts the seconds by itself.

    Parameters
    ----------
    usual
        How long such work usually takes, if known.

    Returns
    -------
    list[tuple[float, str]]
        Seconds and the words from then on, until the next entry. ``{elapsed}`` in them is the time
        that has passed (`units.elapsed`).
    """
    if usual is None:
        return [(1.0, _ELAPSED)]
    longer = (usual.longest_s, f"{_ELAPSED}, longer than expected")
    if usual.is_rough:
        return [(1.0, _ELAPSED), longer]
    about = f"about {elapsed(usual.about_s)}"
    return [
        # Alone it would read as the time that has passed.
        (0.0, f"expected: {about}"),
        (1.0, f"{_ELAPSED} of {about}"),
        # Close to its end, the estimate would read as a promise.
        (_SHOWN * usual.about_s, _ELAPSED),
        longer,
    ]


def time_text(elapsed_s: float, usual: UsualDuration | None) -> str:
    """How long something has taken, and how long it usually takes, if known."""
    begun = [text for from_s, text in time_words(usual) if elapsed_s >= from_s]
    return begun[-1].format(elapsed=elapsed(elapsed_s)) if begun else ""
