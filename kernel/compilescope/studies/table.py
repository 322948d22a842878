"""The studies: one record each, from which everything else that names studies is derived.

Validation, progress, ``cs.study``'s docstring, ``%%compile --help``, ``docs/studies.md`` and the
panel's constants come from `STUDIES`. Adding a study is one record here and one module.

Importing this module imports neither torch nor the studies: each ``run`` imports its own module.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from .options import StudyOption

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..report import VariantReport
    from ..report.measurements.study_choice import StudyChoice
    from .context import StudyContext, TargetContext

F = TypeVar("F", bound=Callable[..., Any])


class Study(NamedTuple):
    """An extra measurement of a variant, made on request. Exactly one of the two runs is given.

    A study completes the variant's report in place. An exception becomes a problem of the variant.
    """

    name: str
    title: str
    """A noun phrase, shown before each step of the study's progress."""
    summary: str
    """What it does, without a final period."""
    duration: str
    """How long it takes, to be read after "takes"."""
    run: Callable[[StudyContext], None] | None = None
    """Runs it for a variant that runs on this machine."""
    run_for_target: Callable[[TargetContext], None] | None = None
    """Runs it for a variant for a target."""
    needs_build: bool = True
    """Whether the variant must be built first."""
    on_demand: bool = False
    """Whether it runs only when named: it takes minutes."""
    without_inductor: tuple[str, str] | None = None
    """Where the backend is not Inductor: the result that is absent, and why, with ``{!r}`` for the
    backend; None if the study is of any backend. A study that was named says so as a problem."""
    not_for_targets: tuple[str, str, str] | None = None
    """What to say where it is requested of a variant for a target (what, why, remedy), with ``{}``
    for the device's name; None: that the device is not here."""
    options: tuple[StudyOption, ...] = ()
    """What of it may be selected by name."""
    takes_processes: bool = False
    """Whether its processes may run on an executor, and create the call with a factory."""

    @property
    def for_targets(self) -> bool:
        """Whether it is a study of variants for a target, not of those that run here."""
        return self.run_for_target is not None


def _layers(context: StudyContext) -> None:
    from .layers.layers import study_layers

    study_layers(context)


def _kernels(context: StudyContext) -> None:
    from .kernels import study_kernels

    study_kernels(context)


def _steps(context: StudyContext) -> None:
    from .steps import study_steps

    study_steps(context)


def _routes(context: StudyContext) -> None:
    from .routes import study_routes

    study_routes(context)


def _startups(context: StudyContext) -> None:
    from .first_calls.startups import study_startups

    study_startups(context)


def _cold(context: StudyContext) -> None:
    from .first_calls.cold import study_cold

    study_cold(context)


def _deploy(context: StudyContext) -> None:
    from .deploy.deploy import study_deploy

    study_deploy(context)


def _every_way() -> list[str]:
    from .deploy.candidates import every_name

    return every_name()


def _ways(
    fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], report: VariantReport
) -> list[StudyChoice]:
    from .deploy.candidates import choices

    return choices(fn, args, kwargs, report)


def _blocks(context: StudyContext) -> None:
    from .deploy.deploy import study_blocks

    study_blocks(context)


def _package(context: StudyContext) -> None:
    from .ahead_of_time.make_package import make_package

    make_package(context, built=False)


def _aot(context: StudyContext) -> None:
    from .ahead_of_time.make_package import make_package

    make_package(context, built=True)


def _accuracy(context: StudyContext) -> None:
    from .accuracy import study_accuracy

    study_accuracy(context)


def _assembly(context: TargetContext) -> None:
    from ..targets.assembly import add_assembly
    from ..targets.worker_pool import shared_pool

    add_assembly(context.report, shared_pool(), context.monitor)


def _check(context: TargetContext) -> None:
    from ..targets.checking import add_check
    from ..targets.worker_pool import shared_pool

    add_check(context.report, context.call_packer.packed(), shared_pool(), context.monitor)


_NO_PACKAGE = (
    "No package is made for {}.",
    "AOTInductor compiles kernels during code generation, which requires the device.",
    "Build the package on that GPU, and open it here: compilescope.open_package('model.pt2').",
)

_NO_AOTINDUCTOR = (
    "package",
    "AOTInductor packages require the backend 'inductor', not {!r}.",
)

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        Study(
            name="layers",
            title="time by layer",
            summary="Break down a call's time: guards, bytecode, AOTAutograd, wrapper, kernels",
            duration="seconds and a compilation",
            run=_layers,
            without_inductor=("layers", "The backend {!r} has no such layers."),
        ),
        Study(
            name="kernels",
            title="time per kernel",
            summary="Build the variant with timers and time every kernel launch",
            duration="a compilation",
            run=_kernels,
            without_inductor=("kernel_times", "The backend {!r} generates no kernels."),
        ),
        Study(
            name="steps",
            title="host time of wrapper steps",
            summary="Build the wrapper with clock reads and time each of its steps on the host",
            duration="a compilation",
            run=_steps,
            without_inductor=("steps", "The backend {!r} generates no wrapper."),
        ),
        Study(
            name="routes",
            title="overhead of custom operators",
            summary="Time the overhead of calling each custom operator from the wrapper",
            duration="about a second for each operator",
            run=_routes,
            without_inductor=("routes", "The backend {!r} generates no wrapper."),
        ),
        Study(
            name="startups",
            title="first calls in new processes",
            summary="Time first calls in new processes, with empty and with warm caches",
            duration="a few compilations",
            run=_startups,
        ),
        Study(
            name="cold",
            title="cold start by setting",
            summary="Time first calls in new processes under settings that affect compiling",
            duration="minutes",
            run=_cold,
            without_inductor=("cold", "The settings require the backend 'inductor', not {!r}."),
            on_demand=True,
        ),
        Study(
            name="deploy",
            title="ways to deploy",
            summary="Compare ways to deploy the call, each in new processes: first call, latency",
            duration="minutes",
            run=_deploy,
            without_inductor=("ways", "The ways require the backend 'inductor', not {!r}."),
            needs_build=False,
            on_demand=True,
            takes_processes=True,
            options=(
                StudyOption(
                    name="ways",
                    kind="a way to deploy this call",
                    title="ways to measure",
                    every_name=_every_way,
                    choices=_ways,
                ),
            ),
        ),
        Study(
            name="blocks",
            title="repeated blocks",
            summary="Compile a repeated block once, in new processes: first call, latency",
            duration="a minute or more",
            run=_blocks,
            without_inductor=("ways", "The ways require the backend 'inductor', not {!r}."),
            needs_build=False,
            on_demand=True,
            takes_processes=True,
        ),
        Study(
            name="package",
            title="AOTInductor sources",
            summary="Export the call and generate AOTInductor's sources in a new process",
            duration="seconds",
            run=_package,
            without_inductor=_NO_AOTINDUCTOR,
            needs_build=False,
            not_for_targets=_NO_PACKAGE,
        ),
        Study(
            name="aot",
            title="AOTInductor package",
            summary="Build the AOTInductor package, load it, compare it with eager and time it",
            duration="about a minute",
            run=_aot,
            without_inductor=_NO_AOTINDUCTOR,
            needs_build=False,
            on_demand=True,
            not_for_targets=_NO_PACKAGE,
        ),
        Study(
            name="accuracy",
            title="accuracy in higher precision",
            summary="Compare with eager in higher precision; find the first kernel that deviates",
            duration="a few compilations",
            run=_accuracy,
        ),
        Study(
            name="assembly",
            title="kernels compiled for the target",
            summary="Compile every Triton kernel for the target: PTX, SASS, registers, occupancy",
            duration="seconds",
            run_for_target=_assembly,
            needs_build=False,
        ),
        Study(
            name="check",
            title="kernels checked in Triton's interpreter",
            summary="Run every Triton kernel in Triton's interpreter and compare it with eager",
            duration="seconds to minutes",
            run_for_target=_check,
            needs_build=False,
        ),
    )
}
"""Name → study, in the order in which several are made."""


def names(*, target: bool) -> list[str]:
    """The studies of variants for a target, or of variants that run here."""
    return [study.name for study in STUDIES.values() if study.for_targets == target]


def usual(*, targets: Iterable[bool]) -> list[str]:
    """The studies to make when none is named.

    Parameters
    ----------
    targets
        For each variant, whether it is for a target.
    """
    kinds = set(targets)
    return [
        study.name
        for study in STUDIES.values()
        if study.for_targets in kinds and not study.on_demand
    ]


def studies_with_processes() -> list[str]:
    """The studies whose processes may run on an executor, and create the call with a factory."""
    return [study.name for study in STUDIES.values() if study.takes_processes]


def options_of(studies: Iterable[str] | None = None) -> list[tuple[Study, StudyOption]]:
    """The options of studies, of all if none are given, each with its study."""
    chosen = STUDIES if studies is None else studies
    return [(STUDIES[name], option) for name in chosen for option in STUDIES[name].options]


def lists_studies(function: F) -> F:
    """Puts the list of studies where a function's docstring has a line ``{studies}``.

    The parameters that are options of studies take the place of a line ``{options}``.
    """
    if function.__doc__ is not None:  # python -OO leaves docstrings out
        listings = {"studies": _listing, "options": _parameters}
        function.__doc__ = re.sub(
            r"^( *)\{(studies|options)\}$",
            lambda line: listings[line[2]](line[1]),
            function.__doc__,
            flags=re.M,
        )
    return function


def _parameters(indent: str) -> str:
    return "\n".join(
        f"{indent}{option.name}\n{indent}    Of the study ``{study.name}``: the names of the "
        f"{option.title}. None: all."
        for study, option in options_of()
    )


def _listing(indent: str) -> str:
    return "\n".join(
        textwrap.fill(
            f"- ``{study.name}``{' (of a target)' if study.for_targets else ''}: {study.summary}; "
            f"takes {study.duration}{', run only if named' if study.on_demand else ''}.",
            width=100,
            initial_indent=indent,
            subsequent_indent=f"{indent}  ",
        )
        for study in STUDIES.values()
    )
