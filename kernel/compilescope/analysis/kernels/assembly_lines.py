"""A compiled kernel's text in each form, its debug information turned into a map of lines.

Each reader returns the text to show and, for each of its lines, the line of the kernel's source
that it came from; 0 if unknown. Code inlined from another file (Triton's own library, Inductor's
helpers) is attributed to the line of the kernel that called it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass
class Listing:
    """A form's text, as it is shown."""

    text: str
    lines: list[int]
    """For each line of the text."""
    raw: list[int]
    """For each line of the text as the compiler has it."""


def read(form: str, text: str, file: str, ptx: Listing | None = None) -> Listing:
    """A form's text with its lines.

    Parameters
    ----------
    form
        One of `report.target.FORMS`.
    text
        As the compiler has it.
    file
        The name of the kernel's source, without folders.
    ptx
        The kernel's PTX, for SASS: SASS instructions refer to lines of the PTX.
    """
    if form == "sass":
        return _sass(text, file, ptx)
    return _READERS[form](text, file)


def _gather(places: Sequence[tuple[str, int] | None]) -> Listing:
    """The lines to show; None marks a line to leave out."""
    shown = [numbered for numbered in places if numbered is not None]
    while shown and not shown[-1][0].strip():
        shown.pop()
    return Listing(
        "".join(f"{line}\n" for line, _ in shown),
        [number for _, number in shown],
        [0 if numbered is None else numbered[1] for numbered in places],
    )


_LOC_BEGINS = re.compile(r" ?\bloc\(")
_LOC_NAME = re.compile(r"#loc\d*$")
_LOC_PLACE = re.compile(r'"([^"]*)":(\d+):\d+')
_LOC_INNER = re.compile(r"#loc\d*|" + _LOC_PLACE.pattern)


class _Locations:
    """MLIR's locations: places, named ones, and calls of one at another."""

    def __init__(self, lines: Sequence[str], file: str) -> None:
        self._file = file
        self._resolved: dict[str, int] = {}
        self._texts: dict[str, str] = {}
        for line in lines:
            if line.startswith("#loc"):
                name, _, text = line.partition(" = ")
                self._texts[name] = text

    def line(self, location: str, depth: int = 0) -> int:
        """The line of the kernel's source that a location, innermost first, is or was called at."""
        if _LOC_NAME.match(location):
            if location not in self._resolved:
                # A location refers to earlier ones only; the depth limit guards against damaged
                # text.
                text = self._texts.get(location, "")
                self._resolved[location] = self.line(text, depth + 1) if depth < 100 else 0
            return self._resolved[location]
        for match in _LOC_INNER.finditer(location):
            path, number = match.groups()
            if path is None:
                line = self.line(match.group(), depth + 1)
            else:
                line = int(number) if path.rpartition("/")[2] == self._file else 0
            if line:
                return line
        return 0


def _mlir(text: str, file: str) -> Listing:
    lines = text.split("\n")
    locations = _Locations(lines, file)
    places: list[tuple[str, int] | None] = []
    opened: list[int] = []
    for line in lines:
        if line.startswith("#loc"):
            places.append(None)
            continue
        shown, last = _without_locations(line)
        number = locations.line(last) if last else 0
        begins = shown.rstrip().endswith("{")
        if shown.lstrip().startswith("}") and opened:
            # An operation with a region has its location behind the region.
            place = opened.pop()
            before = places[place]
            if before is not None and number:
                places[place] = (before[0], number)
        if begins:
            opened.append(len(places))
        places.append((shown, number))
    return _gather(places)


def _without_locations(line: str) -> tuple[str, str]:
    """A line without its locations, and the content of the last one."""
    shown, last, position = "", "", 0
    while (match := _LOC_BEGINS.search(line, position)) is not None:
        end, depth, quoted = match.end(), 1, False
        while end < len(line) and depth:
            quoted ^= line[end] == '"'
            depth += 0 if quoted else {"(": 1, ")": -1}.get(line[end], 0)
            end += 1
        shown += line[position : match.start()]
        last, position = line[match.end() : end - 1], end
    return shown + line[position:], last


_DEBUG = re.compile(r",? ?!dbg !(\d+)")
_METADATA = re.compile(r"!(\d+) = (?:distinct )?!(DI\w+)\((.*)\)$")
_FIELD = {
    name: re.compile(rf"\b{name}: !?(\d+)") for name in ("line", "scope", "file", "inlinedAt")
}
_FILE_NAME = re.compile(r'filename: "([^"]*)"')
_LIST = re.compile(r"!\d+ = !\{((?:null|!\d+)(?:, (?:null|!\d+))*)\}$")
_DEBUG_RECORDS = ("!llvm.dbg.cu", "    #dbg_", "  #dbg_")


class _Metadata:
    """LLVM's debug metadata."""

    def __init__(self, text: str, file: str) -> None:
        self._file = file
        self._nodes: dict[str, tuple[str, str]] = {}
        for line in text.split("\n"):
            match = _METADATA.match(line)
            if match:
                self._nodes[match.group(1)] = (match.group(2), match.group(3))

    def line(self, location: str) -> int:
        """The line of the kernel's source that a location, innermost first, is or was called at."""
        at: str | None = location
        while at is not None and at in self._nodes:
            line = self._field(at, "line")
            if line and self._in_file(self._field(at, "scope")):
                return int(line)
            at = self._field(at, "inlinedAt")
        return 0

    def lists(self, line: str) -> bool:
        """Whether a line is a list of debug metadata, such as the types of a function."""
        match = _LIST.match(line)
        return match is not None and all(
            element == "null" or element[1:] in self._nodes
            for element in match.group(1).split(", ")
        )

    def _in_file(self, scope: str | None) -> bool:
        while scope is not None and scope in self._nodes:
            file = self._field(scope, "file")
            if file is not None:
                name = _FILE_NAME.search(self._nodes.get(file, ("", ""))[1])
                return name is not None and name.group(1).rpartition("/")[2] == self._file
            scope = self._field(scope, "scope")
        return False

    def _field(self, node: str, name: str) -> str | None:
        match = _FIELD[name].search(self._nodes[node][1])
        return match.group(1) if match else None


def _llvm(text: str, file: str) -> Listing:
    metadata = _Metadata(text, file)
    places: list[tuple[str, int] | None] = []
    for line in text.split("\n"):
        if line.startswith(_DEBUG_RECORDS) or _METADATA.match(line) or metadata.lists(line):
            places.append(None)
            continue
        match = _DEBUG.search(line)
        number = metadata.line(match.group(1)) if match else 0
        places.append((_DEBUG.sub("", line), number))
    return _gather(places)


_LOC = re.compile(
    r"\s*\.loc\s+(?P<place>\d+\s\d+\s\d+)(?:.*?\binlined_at\s(?P<caller>\d+\s\d+\s\d+))?"
    r".*?(?://|;)\s*(?P<frames>.*)$"
)
_FILE = re.compile(r'(?m)^\s*\.file\s+(\d+)\s.*?([^"/\n]*)"[^"\n]*$')
_FRAME = re.compile(r"([^\s:\[\]]+):(\d+):\d+")
_TEMPORARY = re.compile(r"(?:\$L__|\.L)(?:tmp|func_begin|func_end)\d+:")
_INSTRUCTION = re.compile(r"\s+[^\s./;#]")


class _Assembler:
    """Assembly with ``.loc`` directives, which tell how it was inlined.

    Their comments do, and from Triton 3.9 on they themselves alone: by the place of the call, which
    is one of an earlier directive.

    Parameters
    ----------
    cuts
        What begins a stretch of debug information.
    ends
        What ends one.
    directives
        Lines that are debug information by themselves.
    """

    def __init__(self, file: str, cuts: str, ends: str, directives: str) -> None:
        self._file = file
        self._cuts, self._ends = re.compile(cuts), re.compile(ends)
        self._directives = re.compile(directives)
        self._own: set[str] = set()
        self._called: dict[str, int] = {}

    def read(self, text: str) -> Listing:
        places: list[tuple[str, int] | None] = []
        current, cut = 0, False
        self._own = {number for number, name in _FILE.findall(text) if name == self._file}
        for line in text.split("\n"):
            loc = _LOC.match(line)
            if loc:
                current = self._line(loc["frames"]) or self._line_of_call(loc["caller"])
                self._called[loc["place"]] = current
            if self._cuts.match(line):
                cut = True
            elif cut and self._ends.match(line):
                cut = False
            if cut or loc or _TEMPORARY.match(line) or self._directives.match(line):
                places.append(None)
                if not loc and "func_end" in line:
                    current = 0
                continue
            places.append((line, current if _INSTRUCTION.match(line) else 0))
        return _gather(places)

    def _line(self, frames: str) -> int:
        """Of ``standard.py:263:15 @[ kernel.py:38:24 ]``; the first that is of the kernel's."""
        for name, line in _FRAME.findall(frames):
            if name == self._file and line != "0":
                return int(line)
        return 0

    def _line_of_call(self, place: str | None) -> int:
        """Of ``1 38 24`` (file, line, column)."""
        if place is None:
            return 0
        number, line, _ = place.split()
        return int(line) if number in self._own else self._called.get(place, 0)


def _ptx(text: str, file: str) -> Listing:
    debug = r"\s*\.(?:file\s|section\s+\.debug)"
    # What follows the debug sections of PTX is more of them.
    return _Assembler(file, cuts=debug, ends=r"(?!)", directives=r"(?!)").read(text)


def _amdgcn(text: str, file: str) -> Listing:
    return _Assembler(
        file,
        cuts=r'\s*\.section\s+"?\.debug',
        ends=r"\s*\.(?:text|amdgpu_metadata|section\s+(?!\"?\.debug))",
        directives=r"\s*\.(?:file\s|cfi_|ident\s)",
    ).read(text)


_SASS_PLACE = re.compile(r'\s*//## File "([^"]*)", line (\d+)')
_SASS_PTX = ".nv_debug_ptx_txt"
_SASS_CODE = re.compile(r"//-+ \.text\.")
_SASS_OTHER = re.compile(r"//-+ |\t\.type\s")
_SASS_INSTRUCTION = re.compile(r"\s+/\*[0-9a-f]{4,}\*/")


def _sass(text: str, file: str, ptx: Listing | None) -> Listing:
    raw = ptx.raw if ptx else []
    places: list[tuple[str, int] | None] = []
    current, inside = 0, False
    for line in text.split("\n"):
        place = _SASS_PLACE.match(line)
        if _SASS_CODE.match(line):
            inside, current = True, 0
        elif inside and _SASS_OTHER.match(line):
            inside = False
        if place:
            name, number = place.group(1), int(place.group(2))
            if name == _SASS_PTX:
                current = raw[number - 1] if 0 < number <= len(raw) else 0
            else:
                current = number if name.rpartition("/")[2] == file else 0
        if place or not inside:
            places.append(None)
            continue
        places.append((line, current if _SASS_INSTRUCTION.match(line) else 0))
    return _gather(places)


_READERS: dict[str, Callable[[str, str], Listing]] = {
    "ttir": _mlir,
    "ttgir": _mlir,
    "llir": _llvm,
    "ptx": _ptx,
    "amdgcn": _amdgcn,
}
