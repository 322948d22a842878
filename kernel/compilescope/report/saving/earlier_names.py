"""Fields that files of earlier versions have under another name."""

from __future__ import annotations

import re

EARLIER_NAMES = {
    "ended_us": "wasted_us",
    "departure": "first_wrong_kernel",
    "gives_up": "restrictions",
    "given_up": "eager_fallback",
    "keeping": "initial_state",
}
"""Earlier name of a field → its name."""
_KEY = re.compile(rb'(?<!\\)"(' + b"|".join(map(str.encode, EARLIER_NAMES)) + rb')"(?=\s*:)')


def with_present_names(text: bytes) -> bytes:
    r"""The JSON of a report with the present names of all fields.

    A quote within a JSON string is escaped: a quoted name before a colon is a field.

    Examples
    --------
    >>> with_present_names(rb'{"given_up": false, "text": "\"given_up\": 1"}')
    b'{"eager_fallback": false, "text": "\\"given_up\\": 1"}'
    """
    if not any(name.encode() in text for name in EARLIER_NAMES):
        return text
    return _KEY.sub(lambda key: b'"%s"' % EARLIER_NAMES[key[1].decode()].encode(), text)
