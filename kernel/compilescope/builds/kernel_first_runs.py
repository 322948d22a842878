"""How each kernel of a variant was loaded for its first run, compared with a later launch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..analysis.kernels.loads import read_loads
from ..capture.live import recording
from ..capture.records import Record
from ..isolation.muted_output import quiet
from ..isolation.user_state import Snapshot
from ..report import VariantReport
from ..torch_api.failures import failures
from ..torch_api.kernels import loading
from ..torch_api.process import caches
from .build import Built
from .comparison.call_result import outcome_of
from .comparison.rank_agreement import ALONE, RankAgreement
from .subject_error import CALL_ERRORS

_NO_LATER = "The call could not be made a second time: {}"


def add_first_runs(
    report: VariantReport,
    built: Built,
    call: Callable[[], Any],
    *,
    snapshot: Snapshot,
    folder: Path,
    agreement: RankAgreement = ALONE,
) -> None:
    """Calls a build once more, and reports how its kernels were compiled and loaded.

    Parameters
    ----------
    report
        The variant's; changed in place.
    built
        After its first call, its code installed.
    call
        Makes the call once more.
    folder
        The build's caches: the call may compile once more.
    agreement
        The ranks that decide together whether the call is made.
    """
    later_records: list[Record] = []
    if agreement.any(bool(built.load_records)):
        able = True
        try:
            with (
                caches.only(folder),
                recording(later_records),
                loading.watched(built.modules),
                quiet(),
            ):
                outcome_of(call(), snapshot.backward)
        except CALL_ERRORS as error:  # a failing call is reported where its result is needed
            able = False
            problem = failures.explain(error)
            report.absent["kernel_loads"] = _NO_LATER.format(problem.what)
        finally:
            snapshot.restore()
        agreement.all(able)
    report.kernel_loads = read_loads(
        built.load_records, later_records, report.compilations, built.begun_s, built.phases_s
    )
