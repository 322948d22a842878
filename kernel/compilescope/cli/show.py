"""``compilescope show``: prints a report, or one part of it, as text."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from ..report import WRAPPERS, Compilation, Report, Struct, VariantReport
from ..report.errors import CompilescopeError
from . import files
from .terminal import show_progress

_MAX_LISTED = 8
"""An error lists the parts of so many compilations."""
_TEXT_OPTIONS = ("code", "kernel", "graph", "guards", "shapes", "raw")
"""Options that each name a text of one compilation."""


class Parts(Struct):
    """The names of a compilation's parts, as ``--list --json`` prints them."""

    variant: str
    """Empty if ``--compilation`` named the compilation alone."""
    compilation: str
    code: list[str]
    graphs: list[str]
    kernels: list[str]
    shapes: list[str]
    raw: list[str]


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's options."""
    parser = commands.add_parser(
        "show",
        help="print a report, or one wrapper, kernel or graph of it",
        description="Print a report, or one part of it, as plain text.",
    )
    parser.add_argument("file", type=files.place, help=files.FILE)
    artifact = parser.add_mutually_exclusive_group()
    artifact.add_argument("--code", choices=WRAPPERS, help="the generated wrapper")
    artifact.add_argument("--kernel", metavar="NAME", help="a kernel's source")
    artifact.add_argument("--graph", metavar="STAGE", help="a graph: dynamo, joint, post_grad, …")
    artifact.add_argument("--guards", action="store_true", help="the guards, one per line")
    artifact.add_argument(
        "--shapes",
        action="store_true",
        help="dynamic shapes: the symbols, and torch's decisions about them",
    )
    artifact.add_argument(
        "--raw",
        metavar="EVENT",
        help="for a trace: the records of a kind that no view shows, such as fx_graph_runnable",
    )
    artifact.add_argument(
        "--list",
        action="store_true",
        help="the names of compilations, wrappers, kernels, graphs and events",
    )
    parser.add_argument("--json", action="store_true", help="print the summary or list as JSON")
    parser.add_argument(
        "--compilation", metavar="ID", help="torch's compile id, such as 0/0; alone: list its parts"
    )
    parser.add_argument("--variant", metavar="NAME", help="the variant or rank")
    parser.set_defaults(command=command)


def command(options: argparse.Namespace) -> int:
    """Print the requested parts."""
    one_thing = any(getattr(options, name) for name in _TEXT_OPTIONS)
    if one_thing and options.json:
        raise CompilescopeError(
            "--json prints the summary or the list, and no text.", remedy="Leave it out."
        )
    if one_thing:
        print(_text(_compilation(options), options).rstrip("\n"))
        return 0
    if options.compilation:
        compilation = _compilation(options)
        if options.json:
            files.print_json(_parts(compilation, options.variant or ""))
        else:
            print("\n".join(_listing(compilation)))
        return 0
    report = files.read(options.file)
    if options.variant:
        report.variants = [report.variant(options.variant)]
    if options.list:
        _print_list(report, options)
    elif options.json:
        files.print_json(files.summary(report))
    else:
        print(report)
    return 0


def _print_list(report: Report, options: argparse.Namespace) -> None:
    if options.json:
        files.print_json(
            [
                _parts(compilation, variant.name)
                for variant in report.variants
                for compilation in variant.compilations
            ]
        )
        return
    for variant in report.variants:
        print(variant.name)
        for compilation in variant.compilations:
            for line in _listing(compilation):
                print(f"  {line}")


def _compilation(options: argparse.Namespace) -> Compilation:
    """The compilation that the options name, or the first with the requested part."""
    if not files.is_trace(options.file):
        report = files.read(options.file)
        if options.compilation is None:
            count = sum(len(variant.compilations) for variant in _variants(report, options))
            return _first(_candidates(report, options), options, count)
        return report.compilation(options.compilation, options.variant)
    from ..readers.lazy_trace import Trace

    with Trace(options.file, show_progress) as trace:
        if options.compilation is None:
            logs = [trace.process(options.variant)] if options.variant else trace.processes
            candidates = (
                (log.name, log.compilation(name).compilation) for log in logs for name in log.events
            )
            return _first(candidates, options, sum(len(log.events) for log in logs))
        log = trace.process(options.variant)
        if options.variant is None:
            having = (
                process_log
                for process_log in trace.processes
                if options.compilation in process_log.events
            )
            log = next(having, log)
        return log.compilation(options.compilation).compilation


def _variants(report: Report, options: argparse.Namespace) -> list[VariantReport]:
    return [report.variant(options.variant)] if options.variant else report.variants


def _candidates(report: Report, options: argparse.Namespace) -> Iterator[tuple[str, Compilation]]:
    return (
        (variant.name, compilation)
        for variant in _variants(report, options)
        for compilation in variant.compilations
    )


def _first(
    candidates: Iterator[tuple[str, Compilation]], options: argparse.Namespace, count: int
) -> Compilation:
    """The first compilation with the requested part, and a note if there are several.

    Parameters
    ----------
    candidates
        Each with the name of its variant or rank.
    count
        How many there are: of a trace each is read when it is its turn.
    """
    first = None
    others: list[str] = []
    for holder, compilation in candidates:
        first = first or compilation
        # A kernel or a wrapper may belong to any of them.
        if _has(compilation, options):
            if count > 1:
                files.print_note(
                    f"compilation {compilation.id} of {holder} is shown, the first with it of "
                    f"{count}: --compilation and --variant choose another"
                )
            return compilation
        if len(others) < _MAX_LISTED:
            names = ", ".join(dict.fromkeys(_names(compilation, options))) or "none"
            others.append(f"{compilation.id} of {holder} has: {names}.")
    if first is None:
        holder = f"{options.variant} in {options.file}" if options.variant else options.file
        raise CompilescopeError(f"{holder} has no compilation.")
    if count > 1 and any((options.kernel, options.graph, options.code, options.raw)):
        more = f" {count - len(others)} more have others." if count > len(others) else ""
        raise CompilescopeError(
            f"No compilation has {_requested(options)}.", remedy=" ".join(others) + more
        )
    return first


def _names(compilation: Compilation, options: argparse.Namespace) -> list[str]:
    """The names of a compilation's parts of the requested kind."""
    if options.code:
        return [name for name in WRAPPERS if getattr(compilation.code, name) is not None]
    if options.kernel:
        return [kernel.name for kernel in compilation.kernels]
    if options.graph:
        return list(compilation.graphs)
    return [event.name for event in compilation.raw]


def _requested(options: argparse.Namespace) -> str:
    if options.code:
        return f"a {options.code} wrapper"
    kind = "kernel" if options.kernel else "graph" if options.graph else "event"
    return f"a {kind} {(options.kernel or options.graph or options.raw)!r}"


def _has(compilation: Compilation, options: argparse.Namespace) -> bool:
    if options.kernel:
        return any(kernel.name == options.kernel for kernel in compilation.kernels)
    if options.graph:
        return options.graph in compilation.graphs
    if options.code:
        return getattr(compilation.code, options.code) is not None
    if options.shapes:
        return bool(compilation.symbols or compilation.shape_decisions)
    if options.raw:
        return any(event.name == options.raw for event in compilation.raw)
    return bool(compilation.guards)


def _text(compilation: Compilation, options: argparse.Namespace) -> str:
    if options.code:
        code = compilation.code
        text: str | None = getattr(code, options.code)
        if text is None:
            names = _names(compilation, options)
            raise _missing(compilation, f"{options.code} wrapper", names)
        return text
    if options.kernel:
        for kernel in compilation.kernels:
            if kernel.name == options.kernel:
                if not kernel.source:
                    raise CompilescopeError(
                        f"{kernel.name} calls a library and has no source.",
                        remedy="--code python and --code cpp print the wrappers with the call.",
                    )
                return kernel.source
        names = _names(compilation, options)
        raise _missing(compilation, f"kernel {options.kernel!r}", names)
    if options.graph:
        if options.graph not in compilation.graphs:
            raise _missing(compilation, f"graph {options.graph!r}", list(compilation.graphs))
        return compilation.graphs[options.graph].text
    if options.shapes:
        # Only if requested: the other texts need no view.
        from ..views.text.shapes import shapes

        return shapes(compilation) or f"No size of {compilation.id} is dynamic."
    if options.raw:
        for event in compilation.raw:
            if event.name == options.raw:
                return event.text
        names = _names(compilation, options)
        raise _missing(compilation, f"event {options.raw!r}", names)
    return "\n".join(guard.expression for guard in compilation.guards)


def _missing(compilation: Compilation, artifact: str, names: list[str]) -> CompilescopeError:
    listed = ", ".join(dict.fromkeys(names)) or "none"
    return CompilescopeError(
        f"Compilation {compilation.id} has no {artifact}.", remedy=f"It has: {listed}."
    )


def _parts(compilation: Compilation, variant: str) -> Parts:
    return Parts(
        variant=variant,
        compilation=compilation.id,
        code=[name for name in WRAPPERS if getattr(compilation.code, name) is not None],
        graphs=list(compilation.graphs),
        kernels=[kernel.name for kernel in compilation.kernels],
        shapes=[symbol.name for symbol in compilation.symbols],
        raw=[event.name for event in compilation.raw],
    )


def _listing(compilation: Compilation) -> list[str]:
    """The names of a compilation's parts, a line for each kind that it has."""
    parts = _parts(compilation, "")
    titles = ("code", "graphs", "kernels", "shapes", "raw")
    lines = [
        f"  {title}: {', '.join(getattr(parts, title))}"
        for title in titles
        if getattr(parts, title)
    ]
    return [compilation.id, *lines]
