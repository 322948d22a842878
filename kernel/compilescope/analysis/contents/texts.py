"""The texts of a compilation, as artifacts, and their positions in the compilation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ...report import STAGES, WRAPPERS, Code, Compilation
from ...report.contents import StoredText
from ..figures.wording import count
from ..text.lines import line_count
from . import compiled


def listed(compilation: Compilation) -> Iterator[StoredText]:
    """The texts that summaries list."""
    code = compilation.code
    yield from _wrappers(code, "code", "", "")
    if code.backward is not None:
        yield from _wrappers(code.backward, "code/backward", "backward.", ", backward")
    for stage, title in STAGES.items():
        graph = compilation.graphs.get(stage)
        if graph is not None and graph.text:
            yield StoredText(
                name=f"graph.{stage}",
                label=f"Graph: {title}",
                group="graph",
                language="python",
                lines=line_count(graph.text),
                text=f"graphs/{stage}/text",
            )
    for index, kernel in enumerate(compilation.kernels):
        if kernel.source:
            yield StoredText(
                name=compiled.artifact_of(kernel),
                label=kernel.name,
                group="kernel",
                language="cpp" if kernel.language == "cpp" else "python",
                lines=line_count(kernel.source),
                forms=compiled.forms_of(kernel),
                configs=compiled.configs_of(kernel),
                text=f"kernels/{index}/source",
            )
    for index, event in enumerate(compilation.raw):
        yield StoredText(
            name=f"raw.{event.name}",
            label=event.name
            if event.count == 1
            else f"{event.name}: {count(event.count, 'record')}",
            group="raw",
            language=event.language,
            lines=line_count(event.text),
            text=f"raw/{index}/text",
        )


def find(texts: Iterable[StoredText], name: str) -> StoredText | None:
    """The text of an artifact, by its name."""
    return next((text for text in texts if text.name == name), None)


def text_at(struct: Any, place: str) -> Any:
    """What stands at a place, as `StoredText` names places."""
    value = struct
    for step in place.split("/"):
        if isinstance(value, list):
            value = value[int(step)]
        elif isinstance(value, dict):
            value = value[step]
        else:
            value = getattr(value, step)
    return value


def label(name: str) -> str:
    """What an artifact is called in a sentence."""
    title, _ = WRAPPERS.get(name.removeprefix("backward."), (name, ""))
    return title


def reason(compilation: Compilation, name: str) -> str:
    """Why a compilation does not have an artifact; empty if that is unknown."""
    if name.startswith("kernel."):
        return compiled.reason(compilation, name)
    place = reason_place(compilation, name)
    return str(text_at(compilation, place)) if place else ""


def reason_place(compilation: Compilation, name: str) -> str:
    """Where a compilation says why it has no such wrapper or graph; empty if it does not."""
    head, _, rest = name.partition(".")
    code = compilation.code
    if head == "graph":
        places = [("absent", compilation.absent, rest)]
    elif head == "backward" and code.backward is None:
        places = [("absent", compilation.absent, "backward")]
    elif head == "backward" and code.backward is not None:
        places = [("code/backward/absent", code.backward.absent, rest)]
    else:
        places = [("code/absent", code.absent, name), ("absent", compilation.absent, "code")]
    return next((f"{place}/{key}" for place, reasons, key in places if reasons.get(key)), "")


def _wrappers(code: Code, place: str, prefix: str, suffix: str) -> Iterator[StoredText]:
    for name, (title, language) in WRAPPERS.items():
        text: str | None = getattr(code, name)
        if text is not None:
            yield StoredText(
                name=prefix + name,
                label=title + suffix,
                group="code",
                language=language,
                lines=line_count(text),
                text=f"{place}/{name}",
                regions=f"{place}/regions/{name}" if name in code.regions else "",
            )
