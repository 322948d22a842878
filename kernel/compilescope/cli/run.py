"""``compilescope run``: runs a script under a watch and writes a page at the end.

The script's output, arguments, traceback and exit status stay the same as without compilescope.
"""

from __future__ import annotations

import argparse
import os
import runpy
import shlex
import signal
import sys
import types
import webbrowser
from pathlib import Path
from typing import Any

from ..package_folder import PACKAGE
from ..processes.torchrun import torchrun_environment
from ..report import Report, conclude
from ..report.errors import CompilescopeError
from ..views.text.report import what_to_change
from . import files
from .joined_page import JoinedPage

_INSIDE = f"{PACKAGE.resolve()}{os.sep}"


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's options."""
    parser = commands.add_parser(
        "run",
        help="run a script and report what it compiled",
        usage="compilescope run [-o FILE] [--open] [--trace DIR] (SCRIPT | -m MODULE) [ARGS …]",
        description=(
            "Run a Python script, record what torch.compile does, and write a page when the script "
            "ends, also after an exception or Ctrl-C. Under torchrun each rank writes its own "
            "page, and the last one a page that compares all ranks."
        ),
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        help="the page (.html) or report (.json) to write (default: SCRIPT.html)",
    )
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument(
        "--trace", type=Path, metavar="DIR", help="also write torch's TORCH_TRACE logs there"
    )
    parser.add_argument("--redact", action="store_true", help="leave out paths and source code")
    parser.add_argument(
        "--memory-mb",
        type=float,
        default=256.0,
        help="memory limit of the report in MB (default: 256)",
    )
    parser.add_argument(
        "-m", dest="module", action="store_true", help="run a module, as python -m does"
    )
    parser.add_argument("script", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    parser.set_defaults(command=command, parser=parser)


def command(options: argparse.Namespace) -> int:
    """Run the script and write its report; returns or raises as the script does."""
    if not options.script:
        options.parser.error("give a script, or -m and a module")
    name, *arguments = options.script
    if not options.module and not Path(name).is_file():
        raise CompilescopeError(f"There is no script {name!r}.")
    output, process = _output(options, name), torchrun_environment()
    shown = os.path.relpath(output)  # the script may change the folder, or delete it
    rank = None if process is None else process.rank
    logs = options.trace or os.environ.get("TORCH_TRACE")
    logs = None if logs is None else Path(logs).absolute()
    joined = JoinedPage(output, logs, process) if process and process.local_size > 1 else None
    if joined is not None:
        logs = joined.logs
    if rank is not None:
        output = output.with_name(f"{output.stem}.rank{rank}{output.suffix}")
    if logs is not None:
        # Torch looks it up when it is imported.
        os.environ["TORCH_TRACE"] = str(logs)
    report, ended = _watched(
        name,
        arguments,
        module=options.module,
        memory_mb=options.memory_mb,
        redact=options.redact,
    )
    if options.module and _is_missing(ended):
        if joined is not None:
            joined.discard()
        print(ended, file=sys.stderr)
        return 1  # as python -m does
    title = report.subject.name
    if rank is not None:
        report.subject.name += f", rank {rank}"
    _write(report, output, shown, options, rank, is_joined=joined is not None)
    if joined is not None:
        _join(joined, title, options, failed=_is_failure(ended))
    elif options.open:
        _open(output)
    return _end_like_the_script(ended)


def _is_missing(ended: BaseException | None) -> bool:
    """Whether there is no such module, so that nothing of the user's ran."""
    return isinstance(ended, ImportError) and _own_frames_left_out(ended.__traceback__) is None


def _output(options: argparse.Namespace, name: str) -> Path:
    """The path of the report; checked before the script runs, which may take hours."""
    stem = name.rpartition(".")[2] if options.module else Path(name).stem
    path: Path = (options.output or Path(f"{stem}.html")).absolute()
    files.check_output(path)
    return path


def _watched(
    name: str, arguments: list[str], *, module: bool, memory_mb: float, redact: bool
) -> tuple[Report, BaseException | None]:
    """Run the script under a watch. Returns the report, and the script's exception, if any."""
    from .. import watch

    ended: BaseException | None = None
    try:
        with watch(memory_mb=memory_mb) as report:
            try:
                if module:
                    _run_module(name, arguments)
                else:
                    _run_script(name, arguments)
            except BaseException as error:
                ended = error
                raise
    except BaseException as error:
        if error is not ended:
            raise
    report.subject.name = " ".join([Path(name).name, *([] if redact else arguments)])
    # That is compilescope's line that runs the script.
    report.subject.where = None
    return report, ended


def _run_script(name: str, arguments: list[str]) -> None:
    path = Path(name).absolute()
    # Compiled without the future statements of this file.
    code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    sys.argv[:] = [name, *arguments]
    _first_on_path(str(path.parent))
    _run_as_main(code, __file__=str(path), __cached__=None)


def _run_module(name: str, arguments: list[str]) -> None:
    sys.argv[:] = [name, *arguments]
    _first_on_path(str(Path.cwd()))
    # `runpy.run_module` takes its `__main__` away at the end. pdb finds a module in this way too.
    _, spec, code = runpy._get_module_details(name)  # type: ignore[attr-defined]
    sys.argv[0] = spec.origin
    _run_as_main(
        code,
        __file__=spec.origin,
        __cached__=spec.cached,
        __loader__=spec.loader,
        __package__=spec.parent,
        __spec__=spec,
    )


def _run_as_main(code: types.CodeType, **attributes: Any) -> None:
    main = types.ModuleType("__main__")
    main.__dict__.update(__builtins__=__builtins__, **attributes)
    # It stays, since threads and exit handlers of the script, and pickle, look up names there.
    sys.modules["__main__"] = main
    # Objects from spawned processes have their classes there. multiprocessing sets it to what is
    # `__main__` when it is first imported, which torch has done by now.
    sys.modules["__mp_main__"] = main
    exec(code, main.__dict__)


def _first_on_path(folder: str) -> None:
    # ``python -P`` adds no folder there.
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = folder


def _write(
    report: Report,
    output: Path,
    shown: str,
    options: argparse.Namespace,
    rank: int | None,
    *,
    is_joined: bool,
) -> None:
    """Write the page. An error in compilescope must not change how the script ends.

    Where a page of all ranks follows, what to change is printed with that, once.
    """
    try:
        if options.redact:
            report = report.redacted()
        scope = "" if rank is None else f"rank {rank}: "
        files.print_note(f"{scope}{conclude(report).headline}")
        if not is_joined:
            files.print_lines(what_to_change(report))
        files.write(report, output)
        if rank is None:
            command_line = f"compilescope show {shlex.quote(shown)}"
            files.print_note(f"{command_line} prints the rest in a terminal")
    except CompilescopeError as error:
        files.print_note(f"the report is not written: {error}")


def _join(joined: JoinedPage, title: str, options: argparse.Namespace, *, failed: bool) -> None:
    try:
        page = joined.end(title, failed=failed, redact=options.redact)
    except (CompilescopeError, OSError) as error:
        files.print_note(f"the page of all ranks is not written: {error}")
        return
    if page is not None and options.open:
        _open(page)


def _open(page: Path) -> None:
    if page.suffix != ".json" and page.is_file():
        webbrowser.open(page.as_uri())


def _is_failure(ended: BaseException | None) -> bool:
    """Whether the process will end with another status than 0."""
    if isinstance(ended, SystemExit):
        return ended.code not in (None, 0)
    return ended is not None


def _end_like_the_script(ended: BaseException | None) -> int:
    """Print the script's exception as Python does.

    Returns
    -------
    int
        The exit status; ``-signal.SIGINT`` if that signal shall end the process.
    """
    if ended is None:
        return 0
    if isinstance(ended, SystemExit):
        raise ended
    trace = _own_frames_left_out(ended.__traceback__)
    sys.excepthook(type(ended), ended.with_traceback(trace), trace)
    return -signal.SIGINT if isinstance(ended, KeyboardInterrupt) else 1


def _own_frames_left_out(trace: types.TracebackType | None) -> types.TracebackType | None:
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not (file.startswith(_INSIDE) or file == runpy.__file__ or "<frozen runpy>" in file):
            return trace
        trace = trace.tb_next
    return None
