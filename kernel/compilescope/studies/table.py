"""Studies: closer looks at a variant than its first timing, each made when somebody asks.

A study builds the variant once more, with whatever it needs in place, and completes the variant's
report. `STUDIES` lists them; adding one is one function and one line.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ..isolation.code_swap import CodeCopies
from ..isolation.user_state import Snapshot
from ..progress.progress import Monitor
from ..report import Peaks, VariantReport

StudyName = Literal[
    "layers",
    "kernels",
    "steps",
    "routes",
    "startups",
    "cold",
    "package",
    "aot",
    "accuracy",
    "assembly",
    "check",
]
STUDY_NAMES: tuple[str, ...] = get_args(StudyName)
"""layers: where one call's time goes. kernels: each launch's time. steps: what each step of a
wrapper costs the host. routes: what reaching custom operators costs. startups: first calls in
processes of their own. cold: what settings change in a first call. package: the sources of a
package compiled ahead of time. aot: that package built and timed. accuracy: against eager in higher
precision. Of a variant for a target, assembly: its kernels compiled. check: its kernels interpreted
and compared."""


@dataclass
class Study:
    """What a study is given. It runs on the thread that may call the subject.

    The caller keeps ``snapshot``; the study restores it whenever the subject's state must be as it
    was, and need not at its end. Dynamo is isolated and the code copies guarded around it, as in
    `builds.build_and_time`.
    """

    fn: Callable[..., Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    report: VariantReport
    """The variant, built. The study fills in what it found, in place, once it has it."""
    peaks: list[Peaks]
    """The report's; a study may add a device's."""
    code_copies: CodeCopies
    snapshot: Snapshot
    monitor: Monitor


def _loaded(name: str, module: str) -> Callable[[Study], None]:
    """The function ``study_…`` of a module, loaded when the study is made."""

    def study(given: Study) -> None:
        getattr(importlib.import_module(module), f"study_{name}")(given)

    return study


_OF_TARGETS = ("assembly", "check")
ON_DEMAND = ("cold", "aot")
"""Those that take minutes: made only when they are named."""
UNBUILT = ("package", "aot")
"""Those of variants that need not be built."""

STUDIES: dict[str, Callable[[Study], None]] = {
    name: _loaded(name, module)
    for name, module in {
        "layers": "compilescope.studies.layers.layers",
        "kernels": "compilescope.studies.kernels",
        "steps": "compilescope.studies.steps",
        "routes": "compilescope.studies.routes",
        "startups": "compilescope.studies.first_calls.startups",
        "cold": "compilescope.studies.first_calls.cold",
        "package": "compilescope.studies.ahead_of_time.package",
        "aot": "compilescope.studies.ahead_of_time.aot",
        "accuracy": "compilescope.studies.accuracy",
    }.items()
}
"""Name → study of a variant that runs here; `target_variants.STUDIES` has the others."""


def applies(name: str, *, target: bool) -> bool:
    """Whether a study is of variants for a target, or of those that run here."""
    return (name in _OF_TARGETS) == target
