"""``compilescope show``: a report, or one thing of it, as text."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..report import WRAPPERS, Compilation, Report
from ..report.errors import CompilescopeError
from . import files


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's options."""
    parser = commands.add_parser(
        "show",
        help="print a report, or one wrapper, kernel or graph of it",
        description="Print a report, or one thing of it as plain text.",
    )
    parser.add_argument("file", type=Path, help=files.FILE)
    thing = parser.add_mutually_exclusive_group()
    thing.add_argument("--code", choices=WRAPPERS, help="the generated wrapper")
    thing.add_argument("--kernel", metavar="NAME", help="a kernel's source")
    thing.add_argument("--graph", metavar="STAGE", help="a graph: dynamo, joint, post_grad, …")
    thing.add_argument("--guards", action="store_true", help="the guards, one a line")
    thing.add_argument("--list", action="store_true", help="what can be named here")
    thing.add_argument("--json", action="store_true", help="the summary as JSON")
    parser.add_argument("--compilation", metavar="ID", help="torch's compile id, as 0/0")
    parser.add_argument("--variant", metavar="NAME", help="of this variant")
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Print what was asked for."""
    report = files.read(options.file)
    if options.json:
        files.print_json(files.summary(report))
    elif options.list:
        for line in _listing(report):
            print(line)
    elif options.code or options.kernel or options.graph or options.guards:
        print(_text(_compilation(report, options), options).rstrip("\n"))
    else:
        from .. import views  # noqa: F401 - reports print themselves through it

        print(report)
    return 0


def _compilation(report: Report, options: argparse.Namespace) -> Compilation:
    wanted = options.compilation
    if wanted is None:
        variants = [report.variant(options.variant)] if options.variant else report.variants
        candidates = [each for variant in variants for each in variant.compilations]
        if not candidates:
            raise CompilescopeError(f"{options.file} holds no compilation.")
        # A kernel or a wrapper may be of any of them.
        wanted = next((one for one in candidates if _has(one, options)), candidates[0]).id
    return report.compilation(wanted, options.variant)


def _has(compilation: Compilation, options: argparse.Namespace) -> bool:
    if options.kernel:
        return any(kernel.name == options.kernel for kernel in compilation.kernels)
    if options.graph:
        return options.graph in compilation.graphs
    if options.code:
        return getattr(compilation.code, options.code) is not None
    return bool(compilation.guards)


def _text(compilation: Compilation, options: argparse.Namespace) -> str:
    if options.code:
        code = compilation.code
        text: str | None = getattr(code, options.code)
        if text is None:
            has = [name for name in WRAPPERS if getattr(code, name) is not None]
            raise _missing(compilation, f"{options.code} wrapper", has)
        return text
    if options.kernel:
        for kernel in compilation.kernels:
            if kernel.name == options.kernel:
                return kernel.source
        names = [kernel.name for kernel in compilation.kernels]
        raise _missing(compilation, f"kernel {options.kernel!r}", names)
    if options.graph:
        if options.graph not in compilation.graphs:
            raise _missing(compilation, f"graph {options.graph!r}", list(compilation.graphs))
        return compilation.graphs[options.graph].text
    return "\n".join(guard.expression for guard in compilation.guards)


def _missing(compilation: Compilation, thing: str, names: list[str]) -> CompilescopeError:
    listed = ", ".join(dict.fromkeys(names)) or "none"
    return CompilescopeError(
        f"Compilation {compilation.id} has no {thing}.", remedy=f"It has: {listed}."
    )


def _listing(report: Report) -> list[str]:
    lines = []
    for variant in report.variants:
        lines.append(variant.name)
        for compilation in variant.compilations:
            code = [name for name in WRAPPERS if getattr(compilation.code, name) is not None]
            kernels = [kernel.name for kernel in compilation.kernels]
            lines.append(f"  {compilation.id}")
            for title, names in (
                ("code", code),
                ("graphs", list(compilation.graphs)),
                ("kernels", kernels),
            ):
                if names:
                    lines.append(f"    {title}: {', '.join(names)}")
    return lines
