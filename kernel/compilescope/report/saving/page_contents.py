"""The report in a saved page: as JSON, or packed if it is large."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from itertools import accumulate

from ..errors import CompilescopeError

LARGE = 1 << 16
"""The number of characters from which a page stores its report packed."""
MAX_CHARACTERS = 2 << 30
"""The number of characters of the largest report that is unpacked: a small page can hold any."""
_LINE_END = r"\n"
"""A line end as JSON writes it."""
_GZIP = 16 + zlib.MAX_WBITS
"""zlib's name for its own format with gzip's header."""
_PLAIN = b'<script type="application/json" id="report">'
_PACKED = b'<script type="application/gzip" id="packed-report">'
"""These elements are written by the template of a saved page. All text before them is escaped."""
_END = b"</script>"


def packed(text: str) -> str:
    """JSON as `unpacked` and `src/model/file/packed.ts` read it.

    Graphs, code, kernels and torch's log repeat the same lines, farther apart than gzip's window.
    So each distinct piece between two line ends is written once. A line before them has the indices
    of the pieces in order, each as its difference from the last.
    """
    numbers: dict[str, int] = {}
    order = [numbers.setdefault(piece, len(numbers)) for piece in text.split(_LINE_END)]
    steps = ",".join(str(new - old) for old, new in zip([0, *order], order, strict=False))
    compressor = zlib.compressobj(6, wbits=_GZIP)
    whole = f"{steps}\n{_LINE_END.join(numbers)}".encode()
    return b64encode(compressor.compress(whole) + compressor.flush()).decode()


def unpacked(text: str | bytes) -> str:
    """The JSON that `packed` was given.

    Raises
    ------
    ValueError
        The text is damaged, or its contents are too large.
    """
    decompressor = zlib.decompressobj(_GZIP)
    try:
        whole = decompressor.decompress(b64decode(text, validate=True), MAX_CHARACTERS)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not decompressor.eof:
        raise ValueError("The report is cut off, or too large to unpack")
    steps, _, pieces = whole.decode().partition("\n")
    texts = pieces.split(_LINE_END)
    order = list(accumulate(map(int, steps.split(","))))
    if not all(0 <= number < len(texts) for number in order):
        raise ValueError("A line of the report is missing")
    if sum(len(texts[number]) for number in order) > MAX_CHARACTERS:
        raise ValueError("The report is too large to unpack")
    return _LINE_END.join(texts[number] for number in order)


def report_in_page(page: bytes, name: str) -> bytes:
    """The JSON of the report in a saved page.

    Parameters
    ----------
    page
        The page's file.
    name
        Stands for the page in error messages.

    Raises
    ------
    CompilescopeError
        The page has no report, or is damaged.
    """
    for mark in (_PLAIN, _PACKED):
        _, separator, rest = page.partition(mark)
        if not separator:
            continue
        text, end, _ = rest.partition(_END)
        try:
            if not end:
                raise ValueError("The page is cut off")
            return unpacked(text).encode() if mark == _PACKED else text
        except ValueError as error:
            raise CompilescopeError(
                f"{name} is damaged.", f"{error}.", "Save the report again."
            ) from None
    raise CompilescopeError(
        f"{name} is a page without a report.",
        "It is cut off, or compilescope did not write it, or wrote it without its views.",
        "Give a page or a file that report.save wrote.",
    )
