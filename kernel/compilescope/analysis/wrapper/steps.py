"""The steps of a wrapper's call, with keys that are equal in both wrappers.

A launch, a library call, an allocation and a view are single steps, with the keys of their regions.
A run of checks or frees is one step, named after the launch before it: ``check:inference:#2:1`` is
the first run of checks after the launch ``launch:inference:#2``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from ...report import Compilation, Region, Step, Steps, WrapperLanguage, sum_kinds
from ...report.compilation.wrapper_steps import StepKind
from ..text.brackets import depth
from .launches import codes_of
from .size_checks import size_checks
from .step_kinds import is_library, kind_of

_ROWS = frozenset(("entry", "check", "constant", "stream", "load", "free", "return"))
"""Kinds whose consecutive statements form one step."""
_ARTIFACTS: tuple[WrapperLanguage, ...] = ("python", "cpp")
_COMMENTS = {"python": "#", "cpp": "//"}
_CONTINUES = re.compile(r"else\b|elif |\}")
"""A statement that belongs to the one before: nothing may be inserted between the two."""
_CONTROL = re.compile(r"(?:if|while|for)\b|else\b|elif |\}")
_SUBGRAPH = re.compile(r"// subgraph: (\w+)")
_CALLEE = re.compile(r"\w+ = (\w+)\(\w+_args\)$|.*self\.(partitions\[\d+\])\(")
_RAII = re.compile(r"RAIIAtenTensorHandle (\w+)\(\1_handle\);$")
_SHIM = re.compile(r"(aoti_torch_\w+)\(|(\w+)\.item\(")
_NAMED = re.compile(r"(?:(?:auto|RAIIAtenTensorHandle|AtenTensorHandle) )?(\w+) = ")
_FREED = re.compile(r"del ([\w, ]+)$|(\w+)\.reset\(\);$")
_CHECKED = re.compile(r"(?:assert_\w+|check_input\w*|copy_if_misaligned)\((\w+)|(\w+) = copy_if")
_MAX_NAMES = 4


def find_steps(compilation: Compilation) -> list[Steps]:
    """The steps of each of a compilation's wrappers, with the times measured before."""
    earlier = {_place(step): step for step in compilation.steps}
    all_steps = []
    seen: dict[str, int] = {}
    for code in codes_of(compilation):
        number = seen[code.direction] = seen.get(code.direction, 0) + 1
        name = code.direction if number == 1 else f"{code.direction}.{number}"
        for artifact in _ARTIFACTS:
            text = getattr(code, artifact)
            if text is None:
                continue
            steps = steps_of(text, artifact, code.regions.get(artifact, ()), name)
            untimed = Steps(
                artifact=artifact, direction=code.direction, steps=steps, kinds=sum_kinds(steps)
            )
            all_steps.append(_with_times(untimed, earlier.get(_place(untimed))))
    return all_steps


def steps_of(
    text: str, artifact: WrapperLanguage, regions: Sequence[Region], name: str = "inference"
) -> list[Step]:
    """The steps of one wrapper, by start line.

    Parameters
    ----------
    text
        The wrapper.
    regions
        Of it.
    name
        The name of its graph, as in keys: ``backward``, ``inference.2``.
    """
    lines = text.split("\n")
    steps: list[Step] = []
    for region in regions:
        if region.kind == "entry":
            inner = [other for other in regions if other.kind not in ("entry", "kernel")]
            steps += _Function(lines, artifact, region, inner, name).run()
    return sorted(steps, key=lambda step: step.start)


def starts_inside(lines: Sequence[str], step: Step) -> bool:
    """Whether code may be inserted before a step's first line."""
    return _CONTINUES.match(lines[step.start - 1].strip()) is None


def _place(steps: Steps) -> tuple[str, str, tuple[tuple[int, int], ...]]:
    return steps.artifact, steps.direction, tuple((step.start, step.end) for step in steps.steps)


def _with_times(fresh: Steps, earlier: Steps | None) -> Steps:
    """The current steps with the times of the same earlier steps."""
    if earlier is None:
        return fresh
    for step, timed in zip(fresh.steps, earlier.steps, strict=True):
        step.us, step.interval_us, step.how = timed.us, timed.interval_us, timed.how
    return msgspec.structs.replace(earlier, steps=fresh.steps, kinds=sum_kinds(fresh.steps))


@dataclass
class _Row:
    """A step under construction."""

    kind: StepKind
    start: int
    end: int
    key: str = ""
    labels: list[str] = field(default_factory=list)
    region: Region | None = None


class _Function:
    """Reads one function of a wrapper."""

    def __init__(
        self,
        lines: Sequence[str],
        artifact: WrapperLanguage,
        entry: Region,
        regions: Sequence[Region],
        name: str,
    ) -> None:
        self._lines = lines
        self._artifact = artifact
        self._entry = entry
        self._by_line = {
            line: region
            for region in regions
            if entry.start <= region.start and region.end <= entry.end
            for line in range(region.start, region.end + 1)
        }
        self._name = name
        self._anchor = "start" if entry.label == "call" else entry.label
        self._scope = ""
        self._counts: dict[str, int] = {}
        self._rows: list[_Row] = []

    def run(self) -> list[Step]:
        pending: int | None = None
        for start, end, text in self._statements():
            region = self._by_line.get(start)
            if self._rows and pending is None and region is None and _RAII.match(text):
                self._rows[-1].end = end
                continue
            kind = self._kind(text, region)
            if kind is None:
                pending = start if pending is None else pending
                continue
            self._add(kind, start if pending is None else pending, end, text, region)
            pending = None
        if pending is not None:
            self._add("other", pending, self._entry.end, "", None)
        return [self._step(row) for row in self._rows]

    def _statements(self) -> Iterator[tuple[int, int, str]]:
        """First line, last line and text of each statement; the function's head is one."""
        marker = _COMMENTS[self._artifact]
        number, last = self._entry.start, self._entry.end
        is_head = True
        while number <= last:
            stripped = self._lines[number - 1].strip()
            if not stripped or (stripped.startswith(marker) and not is_head):
                self._read_scope(stripped)
                number += 1
                continue
            start = number
            if is_head:
                while number < last and not self._is_headed(number):
                    number += 1
            else:
                brackets = "()" if self._artifact == "cpp" else "()[]{}"
                if stripped == "{":
                    brackets = "{}"
                level = depth(stripped, brackets)
                while level > 0 and number < last:
                    number += 1
                    level += depth(self._lines[number - 1], brackets)
            if self._artifact == "python" and number > start:
                stripped = " ".join(line.strip() for line in self._lines[start - 1 : number])
            yield start, number, "def " if is_head else stripped
            is_head = False
            number += 1

    def _is_headed(self, number: int) -> bool:
        return self._lines[number - 1].rstrip().endswith("{" if self._artifact == "cpp" else ":")

    def _read_scope(self, comment: str) -> None:
        subgraph = _SUBGRAPH.match(comment)
        if subgraph:
            self._scope = self._anchor = subgraph[1]

    def _kind(self, text: str, region: Region | None) -> StepKind | None:
        if text == "def ":
            return "entry"
        step_kind = kind_of(text, self._artifact)
        if region is None:
            return step_kind
        if region.kind == "launch":
            if step_kind == "stream":
                return step_kind
            return "call" if is_library(region.kernel or region.label) else "launch"
        if region.kind == "alloc":
            return "view" if step_kind == "view" or self._is_view(region) else "allocation"
        return {"free": "free", "guard": "check", "return": "return"}.get(region.kind) or step_kind  # type: ignore[return-value]

    def _is_view(self, region: Region) -> bool:
        text = "\n".join(self._lines[region.start - 1 : region.end])
        return "reinterpret_tensor" in text or "as_strided(" in text

    def _add(self, kind: StepKind, start: int, end: int, text: str, region: Region | None) -> None:
        last = self._rows[-1] if self._rows else None
        labels = self._labels(kind, text, region)
        if last is not None and self._belongs(last, kind, region):
            last.end = end
            last.labels += [label for label in labels if label not in last.labels]
            return
        has_region = kind not in _ROWS and region is not None
        key = region.key if has_region and region is not None else self._row_key(kind)
        self._rows.append(_Row(kind, start, end, key, labels, region if has_region else None))
        if kind in ("launch", "call") and region is not None:
            self._anchor, self._counts = region.key.rpartition(":")[2], {}
        elif self._scope and text == "}":
            self._scope, self._anchor, self._counts = "", f"{self._scope} done", {}
        callee = _CALLEE.match(text)
        if callee and self._artifact == "python":
            self._anchor, self._counts = f"{callee[1] or callee[2]} done", {}

    def _belongs(self, last: _Row, kind: StepKind, region: Region | None) -> bool:
        """Whether a statement continues the step before it."""
        if last.region is not None:
            return last.region is region
        return last.kind == kind and kind in _ROWS

    def _row_key(self, kind: StepKind) -> str:
        name = f"{kind}:{self._name}:{self._anchor}"
        self._counts[name] = self._counts.get(name, 0) + 1
        return f"{name}:{self._counts[name]}"

    def _labels(self, kind: StepKind, text: str, region: Region | None) -> list[str]:
        checks = size_checks(text) if kind == "check" else []
        label = "" if checks else self._label(kind, text, region)
        return [check.tensor for check in checks] or ([label] if label else [])

    def _label(self, kind: StepKind, text: str, region: Region | None) -> str:
        if kind in ("allocation", "view", "launch") and region is not None:
            return region.label
        if kind == "call":
            shim = _SHIM.search(text)
            label = region.label if region is not None else ""
            return label or (shim[1] or f"{shim[2]}.item" if shim else "")
        if kind == "entry":
            return self._entry.label
        match = None
        if kind == "free":
            match = _FREED.match(text)
        elif kind == "check":
            match = _CHECKED.match(text)
        elif kind in ("constant", "view", "allocation"):
            match = _NAMED.match(text)
        elif kind == "other":
            match = _CALLEE.match(text) or _CONTROL.match(text)
        if match is None:
            return ""
        return next((group for group in match.groups() if group), "branch")

    def _step(self, row: _Row) -> Step:
        labels = row.labels[:_MAX_NAMES]
        label = ", ".join(labels)
        if len(row.labels) > _MAX_NAMES:
            label += f" and {len(row.labels) - _MAX_NAMES} more"
        region = row.region
        is_run = region is not None and region.kind == "launch"
        return Step(
            kind=row.kind,
            start=row.start,
            end=row.end,
            key=row.key,
            label=label,
            kernel=(region.kernel or "") if region is not None and is_run else "",
            sources=list(region.sources) if region is not None else [],
        )
