"""Generated C++ compared without what torch 2.11 leaves to chance."""

from __future__ import annotations

import re

_ARRAY = re.compile(
    r"\s*(?:static )?const(?:expr)? int64_t \*?(?P<name>int_array_\d+)(?:\[\] = (?P<value>{.*}))?"
)


def with_arrays_in_place(text: str) -> str:
    """C++ with the values of its arrays of sizes instead of their names.

    torch 2.11 uses an array again where a method object happens to lie at the same address as an
    earlier one (``CppWrapperCpu.codegen_int_array_var``): so two runs on one device differ too.
    """
    values: dict[str, str] = {}
    lines = []
    for line in text.splitlines():
        if line.startswith("==="):
            values.clear()
        declared = _ARRAY.match(line)
        if declared:
            values[declared["name"]] = declared["value"] or "nullptr"
        else:
            line = re.sub(r"int_array_\d+", lambda result: values[result[0]], line)
            lines.append(re.sub(r"^<\d+ lines of C\+\+", "<lines of C++", line))
    return "\n".join(lines)
