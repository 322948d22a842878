"""Removes from a report what its author may not want to share: paths and source code.

It works on a report's plain data, so that fields added later are covered too. It removes every line
of the user's code, every folder's name, the literals that guards, arguments and failures quote
(`literals`), and those that the graphs and the generated code compute with (`constants`). Names of
files, functions, modules and variables stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from .constants import Constants
from .literals import without_literals
from .redaction_mark import CONSTANT

_POSIX = re.compile(r"(?<![\w.:/<~-])~?(?:/[^\s/:\"'()<>|,;\\]+)+/([^\s/:\"'()<>|,;\\]*)")
_WINDOWS = re.compile(r"(?<!\w)[A-Za-z]:(?:\\\\?[^\s\\:\"'()<>|,;]+)+\\\\?([^\s\\:\"'()<>|,;]*)")
_COMMENT = re.compile(r"#|//")
_FILE = re.compile(r"\bFile:? ")
_CODE = ", code: "
"""In graphs: ``# File: model.py:3 in forward, code: y = x + 1``, with a prefix for a backward's
node in torch 2.15; in a break's explanation: ``# File "model.py", line 3, in forward, code: y = x +
1``."""
_GUARD_COMMENT = re.compile(r"(?:^|\s)# ")
_GUARD_PLACE = re.compile(r"\s# ")
_PLACE = re.compile(r"[^#\s]:\d+ in [\w<>.]+")
"""After a guard: ``# y = x + 1  # model.py:3 in forward``."""
_CUT_PATH = re.compile(r"(\s# )[^#\n]*[\\/]([^#\s/\\]+:\d+ in [\w<>.]+)")
"""After a guard, with a path whose beginning torch cut off: ``# omebody/model.py:3 in forward``."""
_TRACEBACK_FRAME = re.compile(r"\s*File ")
_TRACEBACK_LINE = re.compile(r", line \d+(?:$|, in )")
_LEFT_OUT = "(left out)"
_NOT_THE_USERS = ("created", "environment", "shape", "stride")
"""Fields without text from the user."""
_ADVICE_FIELDS = {"kind", "what", "code", "where"}
_BREAK_FIELDS = {"cause", "advice", "code", "place"}
_SOURCE_FIELDS = {"file", "line", "function", "code"}
_OPERATOR = re.compile(r"torch\.ops\.(\w+)\.")
_TORCH_NAMESPACES = (
    "aten",
    "prim",
    "prims",
    "inductor",
    "higher_order",
    "quantized",
    "mkldnn",
    "onednn",
)
"""Namespaces of torch's own operators."""


def redact(report: dict[str, Any]) -> dict[str, Any]:
    """Remove paths and source code.

    Parameters
    ----------
    report
        A report as plain data (``msgspec.to_builtins``). It is not changed.

    Returns
    -------
    dict
        The same data with file names instead of paths and without code.
    """
    cleaned = _Cleaner(report)(report)
    assert isinstance(cleaned, dict)
    return cleaned | {"files": {}}


class _Cleaner:
    """Cleans every text, using the user's files and code in the whole report."""

    def __init__(self, report: dict[str, Any]) -> None:
        files: set[str] = set(report.get("files", {}))
        code: set[str] = {
            line.strip() for text in report.get("files", {}).values() for line in text.splitlines()
        }
        structs = list(_dictionaries(report))
        for struct in structs:
            if struct.keys() == _SOURCE_FIELDS:
                files.add(struct["file"])
                code.add(struct["code"].strip())
        paths = sorted((file for file in files if _base(file) != file), key=len, reverse=True)
        self.paths = re.compile("|".join(map(re.escape, paths))) if paths else None
        self.constants = Constants(structs, _is_custom)
        texts = sorted(self.constants.texts, key=len, reverse=True)
        pattern = "|".join(map(re.escape, texts))
        self.texts = re.compile(rf"(['\"])(?:{pattern})\1") if pattern else None
        """Strings that operators get in the graphs and the generated code."""
        self.code = {line for line in code if len(line) > 1}

    def __call__(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            if value.keys() == _SOURCE_FIELDS:
                return value | {"file": _base(value["file"]), "code": ""}
            if value.keys() == _ADVICE_FIELDS and _is_written(value):
                value = value | {"code": ""}
            if value.keys() >= _BREAK_FIELDS and _is_written(value):
                value = value | {"code": "", "place": ""}
            value = without_literals(
                {key: _LEFT_OUT if self.is_code(item) else item for key, item in value.items()}
            )
            value = self.constants.without(value)
            return {
                self.text(key): item if key in _NOT_THE_USERS else self(item)
                for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [self(item) for item in value]
        return value

    def is_code(self, value: object) -> bool:
        """Whether it is a line of the user's code, and not just a name."""
        if not isinstance(value, str) or "\n" in value:
            return False
        line = value.strip()
        return line in self.code and not line.isidentifier()

    def text(self, text: str) -> str:
        if self.is_code(text):
            return _LEFT_OUT
        text = self.constants.numbers_left_out(text)
        if self.texts is not None:
            text = self.texts.sub(rf"\1{CONSTANT}\1", text)
        if "File " in text or " in " in text:
            lines = map(_without_code, text.split("\n"))
            text = _CUT_PATH.sub(r"\1\2", "\n".join(_without_frames(lines)))
        if "/" not in text and "\\" not in text:
            return text
        if self.paths is not None:
            text = self.paths.sub(lambda match: _base(match.group()), text)
        return _WINDOWS.sub(r"\1", _POSIX.sub(r"\1", text))


def _without_code(line: str) -> str:
    """A line without the user's code in its comment.

    It works in several linear steps: a single expression would take time quadratic in the length of
    a line, and a foreign report may have long lines.
    """
    comment = _COMMENT.search(line)
    file = _FILE.search(line, comment.end()) if comment is not None else None
    if file is not None and (code := line.find(_CODE, file.end())) >= 0:
        return line[: code + len(_CODE)] + _LEFT_OUT
    first = _GUARD_COMMENT.search(line)
    if first is None:
        return line
    marks = list(_GUARD_PLACE.finditer(line, first.end() - 1))
    ends = [line.find("#", mark.end()) for mark in marks]
    for mark, end in zip(reversed(marks), reversed(ends), strict=True):
        if _PLACE.search(line, mark.end(), len(line) if end < 0 else end):
            start = len(line[: mark.start()].rstrip())
            return line[: first.end()] + _LEFT_OUT + line[start:]
    return line


def _without_frames(lines: Iterable[str]) -> Iterator[str]:
    """The lines without the code lines of a traceback's frames."""
    after = ""
    for line in lines:
        text = line.strip(" \t")
        if after == "frame" and text and text != line and not text.startswith("File "):
            after = "code"
        elif after == "code" and text and not text.strip("~^ "):
            after = ""
        else:
            is_frame = _TRACEBACK_FRAME.match(line) and _TRACEBACK_LINE.search(line)
            after = "frame" if is_frame else ""
            yield line


def _is_written(advice: dict[str, Any]) -> bool:
    """Whether the advice rewrites a call of the user's; other code contains only names."""
    return "\n" in advice["code"] or ".compile(" in advice["code"]


def _is_custom(target: str) -> bool:
    operator = _OPERATOR.match(target)
    return operator is not None and operator.group(1) not in _TORCH_NAMESPACES


def _dictionaries(value: Any) -> Iterator[dict[str, Any]]:
    """All structs in the data."""
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict):
            yield current
            waiting.extend(current.values())
        elif isinstance(current, list):
            waiting.extend(current)


def _base(file: str) -> str:
    return re.split(r"[\\/]", file)[-1]
