"""The options of ``%%compile``, and the variants that they specify."""

from __future__ import annotations

import argparse
import ast
import difflib
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec
from IPython.core import magic_arguments

from ..given_once import refuse_repeated_options
from ..report.errors import CompilescopeError
from ..report.variant import Variant
from ..studies.table import STUDIES, options_of, studies_with_processes

if TYPE_CHECKING:
    from ..studies.context import StudyProcesses

_ipython: Any = magic_arguments  # which IPython leaves without types
LAST = "_report"
"""The variable that holds the last report, as ``_`` holds the last output."""


def read(line: str) -> argparse.Namespace:
    """Read the magic's line.

    Raises
    ------
    IPython.core.error.UsageError
        An option that does not exist, or a value that it does not take.
    """
    parser = _parser()
    options, unknown = parser.parse_known_args(_ipython.arg_split(line))
    if unknown:
        known = [name for action in parser._actions for name in action.option_strings]
        parser.error(f"unrecognized arguments: {' '.join(unknown)}. {_suggested(unknown, known)}")
    return cast(argparse.Namespace, options)


def _suggested(unknown: Sequence[str], known: Iterable[str]) -> str:
    """The known options that are nearest to unknown ones, or where all are listed."""
    names = [text.partition("=")[0].replace("_", "-") for text in unknown if text.startswith("-")]
    close = [match for name in names for match in difflib.get_close_matches(name, list(known), n=1)]
    return f"Did you mean {', '.join(close)}?" if close else "%%compile --help lists the options."


def usage() -> str:
    """Return what ``--help`` prints."""
    # IPython's parser writes the usage for its documentation: a "::" above it, a "%" before it.
    return str(_parser().format_help()).removeprefix("::").lstrip("\n")


def _parser() -> Any:
    parser = _ipython.MagicArgumentParser(
        prog="%compile",
        description="Run the cell, and show what torch.compile generates for its last call.",
        epilog="The switches apply to all compiled variants.",
    )
    refuse_repeated_options(parser)
    add = parser.add_argument
    add("--variants", metavar="NAMES", help="names, separated by commas (default: python,cpp)")
    add("--mode", help="torch.compile's mode")
    add("--cpp-wrapper", action="store_true", help="only the C++ wrapper")
    add("--dynamic", choices=("auto", "on", "off"), help="dynamic shapes (default: auto)")
    add("--fullgraph", action="store_true", help="a graph break is an error")
    add("--backend", help="torch.compile's backend (default: inductor)")
    add(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an Inductor setting; can be repeated",
    )
    add(
        "--target",
        metavar="DEVICES",
        help="devices to generate code for (default: the arguments' device)",
    )
    add("--no-run", action="store_true", help="only generate the code; build and time nothing")
    add(
        "--measure",
        type=seconds,
        metavar="SECONDS",
        help="then time the variants, interleaved, for this long",
    )
    study_names = ", ".join(STUDIES)
    add("--study", metavar="NAMES", help=f"then run these studies: names of {study_names}")
    for study, option in options_of():
        add(
            f"--{option.name}",
            metavar="NAMES",
            help=f"of the study {study.name}: the names of the {option.title}, separated by commas "
            "(default: all)",
        )
    add(
        "--executor",
        metavar="NAME",
        help=f"where the processes of the studies {' and '.join(studies_with_processes())} run: "
        "gpus, or a name from compilescope.configure(executors=...) (default: this machine)",
    )
    add("--panel", action="store_true", help="show the live panel instead of the summary")
    add(
        "--no-widget",
        action="store_true",
        help="show the report alone, also where no panel of JupyterLab is connected",
    )
    add(
        "--name",
        default=LAST,
        metavar="VAR",
        help=f"store the report in this variable (default: {LAST})",
    )
    add("--help", action="store_true", help="print this help")
    return parser


def check_contradictions(options: argparse.Namespace) -> None:
    """Check that no option takes back what another one asks for.

    Raises
    ------
    CompilescopeError
        Two options contradict each other.
    """
    from ..inspection.variants import parse

    named = parse(_names(options.variants)) if options.variants else {}
    for name, variant in named.items():
        if variant.backend is None:
            continue
        if options.cpp_wrapper and not variant.cpp_wrapper:
            raise CompilescopeError(
                f"--cpp-wrapper contradicts --variants {name}, which has a Python wrapper.",
                remedy="Leave one of them out; --variants python,cpp compares both wrappers.",
            )
        if options.mode and variant.mode not in (None, options.mode):
            raise CompilescopeError(
                f"--mode {options.mode} contradicts --variants {name}, which has its own mode.",
                remedy="Leave one of them out.",
            )
    if any(text.partition("=")[0] == "cpp_wrapper" for text in options.option):
        raise CompilescopeError(
            "--option cpp_wrapper: that is a switch of its own.", remedy="Write --cpp-wrapper."
        )
    if options.no_run and options.measure is not None:
        raise CompilescopeError(
            "--no-run builds nothing, and --measure times what is built.",
            remedy="Leave one of them out.",
        )
    if options.no_run and (built := [name for name in studies(options) if _needs_build(name)]):
        raise CompilescopeError(
            f"--no-run builds nothing, and the study {built[0]} needs a build.",
            remedy="Leave one of them out.",
        )


def _needs_build(study: str) -> bool:
    return STUDIES[study].needs_build


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def variants(options: argparse.Namespace) -> dict[str, Variant] | None:
    """Return the variants that the options ask for, by name; None where they ask for none.

    Raises
    ------
    CompilescopeError
        A name, mode, backend or setting that the installed torch does not have.
    """
    from ..inspection.variants import name_of, parse

    names = options.variants or ("cpp" if options.cpp_wrapper else "python,cpp")
    chosen = parse(_names(names))
    settings: dict[str, Any] = {
        "mode": options.mode,
        "cpp_wrapper": options.cpp_wrapper or None,
        "dynamic": {"on": True, "off": False}.get(options.dynamic),
        "fullgraph": options.fullgraph or None,
        "backend": options.backend,
        "options": _inductor_settings(options.option) or None,
    }
    settings = {switch: value for switch, value in settings.items() if value is not None}
    targets: list[str | None] = [*_names(options.target or "")]
    if not settings and not targets:
        return chosen if options.variants or options.dynamic else None
    if settings.get("backend", "inductor") != "inductor" and options.variants is None:
        # Python and C++ wrappers are Inductor's: of another backend there is one variant.
        chosen = {"python": Variant()}
    changed = [
        variant
        if variant.backend is None
        else msgspec.structs.replace(variant, **settings, target=target)
        for target in targets or [None]
        for variant in chosen.values()
    ]
    return parse({name_of(variant): variant for variant in changed})


def seconds(text: str) -> float:
    """Return a time to measure for."""
    value = float(text)
    if not 0 < value < math.inf:
        raise ValueError(text)
    return value


def studies(options: argparse.Namespace) -> list[str]:
    """Return the studies that the options ask for.

    Raises
    ------
    CompilescopeError
        One that there is not.
    """
    from ..studies.run import check_studies

    chosen = _names(options.study or "")
    check_studies(chosen)
    return chosen


def study_options(options: argparse.Namespace) -> dict[str, list[str]]:
    """Return what is selected with the options of the studies.

    Raises
    ------
    CompilescopeError
        An option of a study that is not requested, without a name, or with an unknown one.
    """
    from ..studies.run import check_selected_names

    texts = {option.name: getattr(options, option.name) for _, option in options_of()}
    selected = {
        # IPython leaves the quotes around names with spaces.
        name: [part.strip() for part in text.strip("\"'").split(",") if part.strip()]
        for name, text in texts.items()
        if text is not None
    }
    # The call is not known yet: whether it and its variants have such a way is checked once it is.
    check_selected_names(studies(options), selected, lambda option: option.every_name())
    return selected


def processes(options: argparse.Namespace) -> StudyProcesses:
    """Return the processes that the options choose for studies.

    Raises
    ------
    CompilescopeError
        There is no such executor, or none of the requested studies takes one.
    """
    from ..studies.context import StudyProcesses
    from ..studies.run import check_processes

    chosen = StudyProcesses()
    if options.executor is not None:
        chosen = StudyProcesses(options.executor.strip("\"'"))
    check_processes(studies(options), chosen)
    return chosen


def _inductor_settings(texts: Sequence[str]) -> dict[str, object]:
    values: dict[str, object] = {}
    for text in texts:
        key, value = _setting(text)
        if key in values:
            raise CompilescopeError(
                f"--option {key} is given twice, as {values[key]} and as {value}.",
                remedy="Leave one out.",
            )
        values[key] = value
    return values


def _setting(text: str) -> tuple[str, object]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise CompilescopeError(
            f"--option {text} has no value.", remedy="Write --option max_autotune=True."
        )
    try:
        return key, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return key, value
