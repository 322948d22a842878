"""``%%compile`` and ``%compilescope``."""

from __future__ import annotations

import contextlib
import keyword
import logging
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from .. import extras
from ..report import Report
from ..report.errors import CompilescopeError
from . import cell as cells
from . import options as magic_options

if TYPE_CHECKING:
    from ..report.checkup import Checkup


_log = logging.getLogger(__name__)


class Interrupted(Exception):  # noqa: N818 - nothing went wrong
    """The user stopped a cell: those that are queued behind it do not run, as after any interrupt.

    There is no traceback: nothing in it is the user's.
    """

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows of it."""
        return [f"Interrupted: {self}"]


_COMMANDS = "watch, off, clear, forget, status, doctor"


def compile_cell(line: str, cell: str | None = None) -> None:
    """Run the cell, and show what torch.compile generates for its last call.

    The call is made once, as without the magic, and its result is assigned where the line assigns
    it. Then it is inspected, which leaves no trace in it. The cell shows the report; the variable
    ``_report`` keeps it. ``%%compile --help`` prints the options.
    """
    __tracebackhide__ = True  # an error of the user's shows the user's lines
    options = magic_options.read(line)
    if not options.name.isidentifier() or keyword.iskeyword(options.name):
        raise UsageError(f"--name {options.name}: that is not the name of a variable.")
    if options.help:
        _print(magic_options.usage())
        return
    if cell is None:
        raise UsageError(f"%%compile has no cell below it. {cells.EXAMPLE}")
    if options.panel and (missed := extras.missed("anywidget")):
        raise UsageError(f"--panel: {missed}")
    from ..isolation.global_state import in_force
    from ..panel import has_front_end, panel_below
    from ..session import requests
    from ..session.session import get_session
    from ..views.display import Display
    from ..watching.running_code import watching

    shell, session = _shell(), get_session()
    parent = _parent(shell)
    try:
        magic_options.check_contradictions(options)
        variants = magic_options.variants(options)
        studies = magic_options.studies(options)
        study_options = magic_options.study_options(options)
        processes = magic_options.processes(options)
        raw = parent.get("content", {}).get("code")
        parsed = cells.parse(shell, f"%%compile {line}".rstrip(), cell, raw)
        # The user's own call comes first: whatever becomes of the inspection, it took place.
        with watching() as watched:
            call = cells.run(shell, parsed)
    except CompilescopeError as error:
        raise UsageError(str(error)) from None
    report = None
    has_widgets = not (options.no_widget or options.panel)
    has_own_panel = has_widgets and has_front_end()
    display = Display(
        session,
        name=options.name,
        switches=has_widgets and not has_own_panel,
        panel=_has_panel,
        output=Report.panel if options.panel else None,
        below=panel_below if has_own_panel else None,
    )
    try:
        modes = contextlib.nullcontext() if call.modes is None else in_force(call.modes)
        with display, modes:
            report = session.inspect(
                call.fn,
                call.args,
                call.kwargs,
                variants=variants,
                run=not options.no_run,
                progress=display.progress,
                cell=parent.get("metadata", {}).get("cellId"),
                call=cells.line_of(parsed),
                watched=watched,
                notes=call.notes,
                studies=studies,
                study_options=study_options,
            )
            shell.user_ns.update({magic_options.LAST: report, options.name: report})
            try:
                requests.measure_and_study(
                    session,
                    report,
                    options.measure,
                    studies,
                    options=study_options,
                    processes=processes,
                    breakdown=not options.no_run,
                    progress=display.progress,
                )
            finally:
                display.show(report)
    except CompilescopeError as error:
        raise UsageError(str(error)) from None
    except KeyboardInterrupt:
        what_remains = "the report keeps the results so far"
        raise Interrupted(
            f"your call ran; {'the inspection was canceled' if report is None else what_remains}."
        ) from None


def compilescope(line: str) -> Checkup | None:
    """Watch the kernel, or say what it has inspected.

    ``%compilescope watch [--memory MB]``: from now on, show every compilation as it happens, with
    the code unchanged. ``off`` ends that and keeps the compilations, ``clear`` deletes them.
    ``forget`` drops all reports, with what they hold on to.
    ``status``: the subjects, the watch, and the versions. ``doctor``: whether everything that
    torch.compile builds on is there and works.
    """
    command, _, rest = line.strip().partition(" ")
    command = command or "status"
    memory = _memory(rest) if command == "watch" else None
    if command not in _COMMANDS.split(", ") or (rest.strip() and memory is None):
        raise UsageError(f"There is no %compilescope {line.strip()}. Available: {_COMMANDS}.")
    if command == "doctor":
        return _doctor()
    from ..session.session import get_session
    from ..views import status

    session = get_session()
    try:
        if command == "watch":
            session.watcher.on(memory)
        elif command == "off":
            if not session.watcher.off():
                _print("Nothing was watched.")
                return None
        elif command == "clear":
            session.watcher.clear()
        elif command == "forget":
            for subject in list(session.inspections):
                session.forget(subject)
            _print("All reports are forgotten.")
            return None
    except CompilescopeError as error:
        raise UsageError(str(error)) from None
    _print(status.status(session) if command == "status" else status.watching(session))
    return None


def _doctor() -> Checkup:
    """Return the checkup, which the cell shows."""
    from .. import doctor

    try:
        return doctor()
    except CompilescopeError as error:
        raise UsageError(str(error)) from None


def _memory(text: str) -> float | None:
    """Return what ``--memory MB`` says; None where nothing is said."""
    words = text.replace("=", " ").split()
    if not words:
        return None
    try:
        option, value = words
        if option == "--memory":
            return float(value)
    except ValueError:
        pass
    raise UsageError(f"%compilescope watch {text.strip()}: write --memory 512, in MB.")


def load_ipython_extension(shell: cells.Shell) -> None:
    """Add the magics and serve the panel (``%load_ext compilescope``)."""
    shell.register_magic_function(compile_cell, "line_cell", "compile")
    shell.register_magic_function(compilescope, "line", "compilescope")
    if _without_cell not in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.append(_without_cell)
    from ..session.lazy import session

    try:
        current = session()
    except CompilescopeError as error:
        raise UsageError(str(error)) from None
    shell.events.register("post_run_cell", _ended)
    if _has_comms():
        from ..comms import endpoints

        endpoints.start(current)
    from ..processes import warm_headers
    from ..torch_api.inductor import workers
    from ..torch_api.process import devices

    warm_headers.start()
    if devices.has_gpu():
        try:
            workers.start_early()
        except Exception:  # noqa: BLE001 - the first compilation starts them, or says why not
            _log.warning("torch's compile workers could not be started early", exc_info=True)
    _print("Ready: put %%compile at the top of a cell, and run it.")


def unload_ipython_extension(shell: cells.Shell) -> None:
    """Unregister the magics."""
    for kind, name in (("cell", "compile"), ("line", "compile"), ("line", "compilescope")):
        shell.magics_manager.magics[kind].pop(name, None)
    if _without_cell in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.remove(_without_cell)
    with contextlib.suppress(ValueError):  # what was not registered
        shell.events.unregister("post_run_cell", _ended)
    from ..processes import warm_headers
    from ..session.session import get_session

    warm_headers.stop()
    get_session().watcher.off()
    if _has_comms():
        from ..comms import endpoints

        endpoints.stop()


def _has_comms() -> bool:
    """Whether a panel could ask: without ipykernel this is a terminal's IPython."""
    return find_spec("comm") is not None


def _has_panel() -> bool:
    """Whether a panel is connected that shows the report."""
    if not _has_comms():
        return False
    from ..comms import endpoints

    return endpoints.is_connected()


def _ended(result: Any) -> None:
    """Passes the exception that has ended a cell, if any, to the watcher."""
    if result is not None and result.error_in_exec is not None:
        from ..session.session import get_session

        get_session().watcher.raised(result.error_in_exec)


def _without_cell(lines: list[str]) -> list[str]:
    """Allows ``%%compile --help`` without a cell, which IPython requires for cell magics."""
    text = "".join(lines).strip()
    alone = "\n" not in text and text.split(" ")[0] == "%%compile"
    return [text[1:] + "\n"] if alone else lines


def _shell() -> cells.Shell:
    from ..ipython_shell import current

    shell: cells.Shell | None = current()
    if shell is None:
        raise UsageError("%%compile needs IPython's shell; in a script use compilescope.inspect.")
    return shell


def _parent(shell: cells.Shell) -> dict[str, Any]:
    """Return the front end's message that runs this cell; empty in a terminal."""
    kernel = getattr(shell, "kernel", None)
    return {} if kernel is None else kernel.get_parent("shell") or {}


def _print(text: str) -> None:
    sys.stdout.write(text.rstrip() + "\n")
