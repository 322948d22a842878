"""Differences in the launch of two kernels with the same code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from ...report import Kernel

_NOT_REPORTED = ("kernel_name", "backend_hash")
_ARGUMENT = re.compile(r"'(\w+)': '([^']*)'")
_ALIGNED = ("tt.divisibility", 16)
_SHOWN = 3


def launching(baseline: Kernel, kernel: Kernel) -> str:
    """What differs in the launch of two kernels; empty where nothing does."""
    if kernel.language == "extern" and kernel.name != baseline.name:
        return "The same library operator under a different name."
    if kernel.language != "triton":
        return ""
    left, right = launch_settings(baseline.source), launch_settings(kernel.source)
    names = [name for name in {**left, **right} if left.get(name) != right.get(name)]
    differences = list(_alignments(left, right)) if "configs" in names else []
    if differences:
        names.remove("configs")
    if names:
        settings = [
            f"{name} = {right.get(name, 'none')} for {left.get(name, 'none')}" for name in names
        ]
        differences.append(f"torch launches it with {_first_few(settings)}")
    return f"The same code; {'; '.join(differences)}." if differences else ""


def _alignments(left: Mapping[str, str], right: Mapping[str, str]) -> Iterator[str]:
    """Pointers that are hinted as aligned on one side only, if the hints differ in nothing else."""
    left_hints, right_hints = _hints(left), _hints(right)
    if left_hints is None or right_hints is None or left.get("signature") != right.get("signature"):
        return
    arguments = _ARGUMENT.findall(right.get("signature", ""))
    pointers = {place for place, (_, kind) in enumerate(arguments) if kind.startswith("*")}
    if any(
        (name, value) != _ALIGNED or place not in pointers
        for place, name, value in left_hints ^ right_hints
    ):
        return
    for hints, side in ((right_hints - left_hints, "here"), (left_hints - right_hints, "there")):
        if hints:
            names = _first_few([arguments[place][0] for place, *_ in sorted(hints)])
            yield f"alignment of {names} to 16 bytes is assumed only {side}"


def _hints(settings: Mapping[str, str]) -> set[tuple[int, str, int]] | None:
    """Triton's hints on arguments, by position; None if they are not in the known form."""
    try:
        [hints] = ast.literal_eval(settings.get("configs", ""))
        return {(place, name, value) for (place,), hint in hints.items() for name, value in hint}
    except (AttributeError, SyntaxError, TypeError, ValueError):
        return None


def _first_few(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more


def launch_settings(source: str) -> dict[str, str]:
    """The launch settings in the decorators of a Triton kernel: name → value, as text."""
    head, jit, _ = source.rpartition("@triton.jit")
    if not jit:
        return {}
    try:
        # Parsing the kernel's code takes most of the time; it comes last.
        tree = ast.parse(f"{head}def kernel(): ...")
    except SyntaxError:
        return {}
    settings: dict[str, str] = {}
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        for call in node.decorator_list:
            if isinstance(call, ast.Call):
                settings["heuristic"] = ast.unparse(call.func).rpartition(".")[2]
                for keyword in call.keywords:
                    settings.update(_items(keyword))
    return {name: value for name, value in settings.items() if name not in _NOT_REPORTED}


def _items(keyword: ast.keyword) -> Iterator[tuple[str, str]]:
    if isinstance(keyword.value, ast.Dict) and keyword.arg in ("inductor_meta", "triton_meta"):
        for key, value in zip(keyword.value.keys, keyword.value.values, strict=True):
            if isinstance(key, ast.Constant):
                yield str(key.value), ast.unparse(value)
    elif keyword.arg is not None:
        yield keyword.arg, ast.unparse(keyword.value)
