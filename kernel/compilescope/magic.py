"""``%%compile`` and ``%compilescope``."""

from __future__ import annotations

import argparse
import ast
import sys
from contextlib import nullcontext
from typing import Any

import msgspec
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from . import cell as cells
from .errors import CompilescopeError
from .variant import Variant

LAST = "_report"
"""The variable that holds the last report, as ``_`` holds the last output."""


@magics_class
class CompileMagics(Magics):
    """What ``%load_ext compilescope`` adds."""

    @magic_arguments("%%compile")
    @argument("--variants", help="names, with commas between: python,cpp,max-autotune,eager")
    @argument("--mode", help="torch.compile's mode, for all variants")
    @argument("--cpp-wrapper", action="store_true", help="launch the kernels from C++")
    @argument("--dynamic", choices=("auto", "true", "false"), help="symbolic sizes (auto)")
    @argument("--fullgraph", action="store_true", help="a graph break is an error")
    @argument("--backend", help="torch.compile's backend (inductor)")
    @argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an Inductor setting; may be given more than once",
    )
    @argument("--target", help="the device to generate code for (that of the arguments)")
    @argument("--no-run", action="store_true", help="generate the code, build and time nothing")
    @argument("--no-widget", action="store_true", help="show the report without its switches")
    @argument("--name", default=LAST, help=f"the variable to keep the report in ({LAST})")
    @argument("--help", action="store_true", help="print this")
    @line_cell_magic("compile")
    def compile(self, line: str, cell: str | None = None) -> None:
        """Run the cell, and show what torch.compile makes of the call in its last line.

        The call is made once, as without the magic, and its result is assigned if the line assigns
        it; then it is inspected, which leaves no trace. The cell shows the report, which stays in
        the variable `_report`.
        """
        options = parse_argstring(self.compile, line)
        if options.help:
            _tell(self.compile.parser.format_help())
            return
        if cell is None:
            raise UsageError(f"%%compile has a cell below it. {cells.EXAMPLE}")
        from .session import get_session
        from .views.display import Display

        session = get_session()
        try:
            variants = _variants(options)
            parsed = cells.parse(self.shell, f"%%compile {line}".rstrip(), cell, _raw(self.shell))
            # The user's own call comes first: whatever becomes of the inspection, it took place.
            call = cells.run(self.shell, parsed, getattr(session, "watch_cell", nullcontext))
        except CompilescopeError as error:
            raise UsageError(str(error)) from None
        display = Display(session, name=options.name, switches=not options.no_widget)
        with display:
            report = session.inspect(
                call.fn,
                call.args,
                call.kwargs,
                variants=variants,
                run=not options.no_run,
                progress=display.progress,
                cell=_parent(self.shell).get("metadata", {}).get("cellId"),
                cell_file=parsed.file,
            )
            self.shell.user_ns.update({LAST: report, options.name: report})
            display.show(report)

    @line_magic
    def compilescope(self, line: str) -> None:
        """`%compilescope status`: what this kernel has inspected, and with which versions."""
        command = line.strip() or "status"
        if command in ("watch", "off", "doctor"):
            raise UsageError(f"%compilescope {command} is not there yet; %compilescope status is.")
        if command != "status":
            raise UsageError(f"There is no %compilescope {command}. Use %compilescope status.")
        from .session import get_session
        from .views.status import status

        _tell(status(get_session()))


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Add the magics (``%load_ext compilescope``)."""
    shell.register_magics(CompileMagics)
    if _lone not in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.append(_lone)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Take the magics away again."""
    for kind, name in (("cell", "compile"), ("line", "compile"), ("line", "compilescope")):
        shell.magics_manager.magics[kind].pop(name, None)
    if _lone in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.remove(_lone)


def _lone(lines: list[str]) -> list[str]:
    """Let ``%%compile --help`` stand alone: IPython refuses cell magics without a cell."""
    text = "".join(lines).rstrip()
    start, end = "get_ipython().run_cell_magic('compile', ", ", '')"
    if not (text.startswith(start) and text.endswith(end)):
        return lines
    line = text[len(start) : -len(end)]
    return [f"get_ipython().run_line_magic('compile', {line})\n"]


def _variants(options: argparse.Namespace) -> dict[str, Variant]:
    from .compiler.variants import name_of, parse

    names = (options.variants or ("cpp" if options.cpp_wrapper else "python,cpp")).split(",")
    chosen = parse([name.strip() for name in names if name.strip()])
    given: dict[str, Any] = {
        "mode": options.mode,
        "cpp_wrapper": options.cpp_wrapper or None,
        "dynamic": {"true": True, "false": False}.get(options.dynamic),
        "fullgraph": options.fullgraph or None,
        "backend": options.backend,
        "options": dict(_option(text) for text in options.option) or None,
        "target": options.target,
    }
    given = {switch: value for switch, value in given.items() if value is not None}
    if not given:
        return chosen
    changed = [
        variant if variant.backend is None else msgspec.structs.replace(variant, **given)
        for variant in chosen.values()
    ]
    return parse({name_of(variant): variant for variant in changed})


def _option(text: str) -> tuple[str, object]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise CompilescopeError(
            f"--option {text!r} has no value.", remedy="Write --option max_autotune=True."
        )
    try:
        return key, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return key, value


def _parent(shell: InteractiveShell) -> dict[str, Any]:
    """Return the front end's message that runs this cell; empty in a terminal."""
    kernel = getattr(shell, "kernel", None)
    return (kernel.get_parent("shell") or {}) if kernel is not None else {}


def _raw(shell: InteractiveShell) -> str | None:
    raw = _parent(shell).get("content", {}).get("code")
    return raw if isinstance(raw, str) else None


def _tell(text: str) -> None:
    sys.stdout.write(text.rstrip() + "\n")
