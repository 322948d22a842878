"""Classifies a statement of a wrapper by its text."""

from __future__ import annotations

import re
from typing import Literal

from ...report.compilation.wrapper_steps import StepKind

Artifact = Literal["python", "cpp"]
Kind = StepKind | None
"""None: a declaration, which belongs to the next statement."""

Patterns = list[tuple[StepKind | None, "re.Pattern[str]"]]

_PYTHON: Patterns = [
    ("entry", re.compile(r"def |(?:\w+, )*\w+,? = args$|args\.clear\(\)")),
    (
        "check",
        re.compile(
            r"assert_\w+\(|assert |\w+ = copy_if_misaligned\(|torch\._check\w*\(|if not \(|raise "
        ),
    ),
    (
        "stream",
        re.compile(
            r"with torch\.\w+\.(?:_DeviceGuard|device|stream)\(|torch\.\w+\.set_device\(|"
            r"(?:raw_)?stream\d+(?:_raw)? = |torch\.\w+\.(?:current_stream|synchronize)\("
        ),
    ),
    ("free", re.compile(r"del ")),
    ("return", re.compile(r"return\b")),
    (
        "view",
        re.compile(
            r"\w+ = (?:reinterpret_tensor|alloc_from_pool|torch\.as_strided)\(|"
            r"\w+ = \w+(?:\[\d+\])?$"
        ),
    ),
    (
        "allocation",
        re.compile(r"\w+ = (?:empty_strided\w*|torch\.empty\w*)\(|\w+ = \w+; del \w+\b"),
    ),
    ("call", re.compile(r".*\.item\(\)$")),
    (
        "constant",
        re.compile(r"(?:s|u|i|f|z|zuf|ps|ks)\d+ = |\w+ = None$|\w+ = \w+\.(?:size|stride)\("),
    ),
]

_CPP: Patterns = [
    (
        "entry",
        re.compile(
            r"py::gil_scoped_release\w* |auto inputs = |auto \w+ = std::move\(inputs\[|"
            r"AOTI_TORCH_ERROR_CODE_CHECK\(aoti_torch_item_\w+\(inputs\["
        ),
    ),
    (
        "load",
        re.compile(
            r"ensure_triton_kernel\w*\(|if \(kernels?\w*\.\w+ == nullptr\)|.*= loadKernel\("
        ),
    ),
    (
        "check",
        re.compile(r"assert_\w+\(|AOTI_TORCH_CHECK\(|check_input|\w+ = copy_if_misaligned\("),
    ),
    (
        "stream",
        re.compile(
            r"AOTI\w*Guard \w+|\w*guard\.set_index\(|\w+Stream_t \w+;|"
            r"AOTI_TORCH_ERROR_CODE_CHECK\(aoti_torch_(?:get_current_\w+_stream|create_\w+_guard)\("
        ),
    ),
    ("free", re.compile(r"\w+\.reset\(\);")),
    ("return", re.compile(r"output_handles\[|return\b|\} // ")),
    (
        "view",
        re.compile(
            r"(?:auto|RAIIAtenTensorHandle|AtenTensorHandle) \w+ = .*reinterpret_tensor\w*\(|"
            r"AOTI_TORCH_ERROR_CODE_CHECK\(aoti_torch_(?:_reinterpret_tensor|assign_tensors_out|"
            r"new_tensor_handle|_alloc_from_pool)\(|(?:auto )?\w+ = std::move\(\w+\);$|"
            r"auto \w+ = \w+;$"
        ),
    ),
    (
        "allocation",
        re.compile(
            r"AOTI_TORCH_ERROR_CODE_CHECK\(aoti_torch_empty_strided\w*\(|"
            r"(?:auto )?\w+ = std::move\(\w+\);\s*// reuse"
        ),
    ),
    (
        None,
        re.compile(
            r"(?:AtenTensorHandle|RAIIAtenTensorHandle|bool|double|float|int\d+_t|auto) \w+;$|"
            r"RAIIAtenTensorHandle (\w+)\(\1_handle\);"
        ),
    ),
    (
        "constant",
        re.compile(
            r"(?:static )?const(?:expr)? |(?:u?int\d+_t|double|float|bool|size_t) \w+ = |"
            r"auto \w+ = \w+\.(?:size|stride)\("
        ),
    ),
    ("call", re.compile(r"AOTI_TORCH_ERROR_CODE_CHECK\((aoti_torch_\w+)\(")),
]

_TABLES: dict[Artifact, Patterns] = {"python": _PYTHON, "cpp": _CPP}


def kind_of(text: str, artifact: Artifact) -> Kind:
    """The kind of a statement other than a launch; "other" if its text is not recognised."""
    for kind, pattern in _TABLES[artifact]:
        if pattern.match(text):
            return kind
    return "other"


def is_library(name: str) -> bool:
    """Whether a launch calls an operator of a library or a shim, not a generated kernel."""
    return name.startswith(("aoti_torch_", "PyObject_")) or "." in name or "::" in name
