"""Lets ranks agree on their next call, through a store instead of a collective.

A collective that one rank does not call would block the others for ever; and these votes must not
be counted among the subject's own collectives.
"""

from __future__ import annotations

import time

from torch.distributed import Store  # type: ignore[attr-defined]  # it is, in their docs

LEAVING = "left the others"
"""The step with which a rank says that it ends before the others."""

PATIENCE_S = 60.0
"""How long a failed rank waits for the others. If they failed too, they arrive soon; if not, they
may be in a collective that it does not call."""

_POLL_S = 0.01


class OutOfStep(Exception):  # noqa: N818 - the error is another
    """A rank cannot continue: it alone failed, or another has ended.

    Parameters
    ----------
    ranks
        The other ranks that did not arrive, or that ended.
    ended
        Whether they ended.
    """

    def __init__(self, ranks: list[int], *, ended: bool) -> None:
        super().__init__(ranks, ended)
        self.ranks = ranks
        self.ended = ended


class Votes:
    """Decides as `builds.comparison.rank_agreement.RankAgreement` says.

    Parameters
    ----------
    store
        A store that all ranks can reach.
    rank, size
        This rank, and the number of ranks.
    patience_s
        How long to wait for the others after a failure.
    """

    def __init__(self, store: Store, rank: int, size: int, patience_s: float = PATIENCE_S) -> None:
        self._store = store
        self._rank = rank
        self._others = [number for number in range(size) if number != rank]
        self.patience_s = patience_s
        self._votes = 0

    def any(self, own_answer: bool) -> bool:
        """Whether a rank says so.

        Raises
        ------
        OutOfStep
            Another rank has ended.
        """
        return _YES in self._ask(_YES if own_answer else _NO, None)

    def all(self, own_answer: bool) -> bool:
        """Whether each rank says so.

        Raises
        ------
        OutOfStep
            Another rank has ended; or this one failed, and not all arrived in time.
        """
        return _NO not in self._ask(
            _YES if own_answer else _NO, None if own_answer else self.patience_s
        )

    def end(self, patience_s: float | None = None) -> list[int]:
        """Announces that this rank takes no more votes, and waits until all have done so.

        Parameters
        ----------
        patience_s
            The time limit in seconds; no limit if None.

        Returns
        -------
        list[int]
            The ranks that have not done so by then.
        """
        self._store.set(_end(self._rank), _YES)
        until = None if patience_s is None else time.monotonic() + patience_s
        while missing := [other for other in self._others if not self._has_ended(other)]:
            if until is not None and time.monotonic() > until:
                break
            time.sleep(_POLL_S)
        return missing

    def _ask(self, own_answer: str, patience_s: float | None) -> set[str]:
        """Publishes this rank's vote, and waits for the others' votes."""
        self._votes += 1
        self._store.set(_answer(self._votes, self._rank), own_answer)
        until = None if patience_s is None else time.monotonic() + patience_s
        while missing := [other for other in self._others if not self._has_answered(other)]:
            ended = [number for number in missing if self._has_ended(number)]
            # Its last vote before it ended counts.
            ended = [number for number in ended if not self._has_answered(number)]
            if ended:
                raise OutOfStep(ended, ended=True)
            if until is not None and time.monotonic() > until:
                raise OutOfStep(missing, ended=False)
            time.sleep(_POLL_S)
        return {
            own_answer,
            *(self._store.get(_answer(self._votes, other)).decode() for other in self._others),
        }

    def _has_answered(self, rank: int) -> bool:
        return bool(self._store.check([_answer(self._votes, rank)]))

    def _has_ended(self, rank: int) -> bool:
        return bool(self._store.check([_end(rank)]))


_YES, _NO = "yes", "no"


def _answer(question: int, rank: int) -> str:
    return f"compilescope/{question}/{rank}"


def _end(rank: int) -> str:
    return f"compilescope/end/{rank}"
