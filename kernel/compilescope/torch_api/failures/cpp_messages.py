"""Parses torch's messages about failures inside generated code into problems with facts.

It reads text only, so it works for an exception and for a message in a trace. The texts are those
of ``assert_size_stride`` (``torch/csrc/dynamo/guards.cpp``, and nearly the same for the C++ wrapper
in ``torch/csrc/inductor/aoti_runtime/utils.h``), of ``AOTI_TORCH_ERROR_CODE_CHECK``
(``torch/headeronly/util/shim_utils.h``), of the dynamic loader and of the C++ compilers; from 2.11
to 2.15. It also reads ``CudaKernelParamCache not populated``, which Inductor raises while it writes
a C++ wrapper (``codegen/cpp_wrapper_gpu.py``).

The facts that a problem may have: ``operator``, ``tensor``, ``expected``, ``found``, ``cause``,
``call`` (what the wrapper called), ``kernel``, ``header``, ``symbol``, ``kind``, ``amount``,
``file`` and ``line`` (where in the generated file), ``text`` (that line).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ...report.problem import Problem
from ..operators.operators import TORCH_NAMESPACES

# Strings, which `re` compiles when a message has the mark of `_KINDS`: most messages have none.
_ASSERT = (
    r"(?ms)^(?P<checks>(?:expected size |expected ndim |wrong number of dimensions).*?)\n"
    r"Error in op: (?P<operator>\S+)"
)
_TYPE = (
    r"(?m)^expected dtype (?:torch\.)?(?P<wanted>\w+) but got "
    r"(?:dtype code (?P<code>\d+)|(?:torch\.)?(?P<found>\w+))\nError in op: (?P<operator>\S+)"
)
"""The message since torch 2.15; C++ reports the actual type by its number."""
_TYPES = (
    *("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"),
    *("complex32", "complex64", "complex128", "bool", "qint8", "quint8", "qint32", "bfloat16"),
)
"""Types by number (``torch/headeronly/core/ScalarType.h``); later types are shown by number."""
_DIMENSION = (
    r"expected size (?P<size>-?\d+)==(?P<wanted>-?\d+), stride (?P<stride>-?\d+)==(?P<step>-?\d+) "
    r"at dim=(?P<dim>\d+)"
)
_CALL = r"(?m)^(?P<call>.*) API call failed at (?P<file>.+?), line (?P<line>\d+)"
_SYMBOL = (
    r"(?P<file>\S+): undefined symbol: (?P<symbol>\w+)"
    r"|symbol not found in flat namespace '_?(?P<flat>\w+)'"
)
_HEADER = (
    r"(?m)^(?P<file>[^\s:]+):(?P<line>\d+):\d+: fatal error: '?(?P<header>[\w./+-]+)'?"
    r"(?:: No such file or directory| file not found)"
)
_UNDECLARED = (
    r"(?m)^(?P<file>[^\s:]+):(?P<line>\d+):\d+: error: (?:use of undeclared identifier )?"
    r"['\u2018](?P<symbol>aoti_torch_\w+)['\u2019]"
)
_INDEX = r"(?m)^(?P<kernel>\w+), (?P<file>\S+):(?P<line>\d+), index out of bounds: (?P<test>.*)$"
_NOT_KEPT = r"CudaKernelParamCache not populated for (?P<kernel>\w+)"
_MEMORY = (
    r"(?i)can't allocate memory|not enough memory|out of memory|bad_alloc|Cannot allocate memory"
)
_BYTES = r"(?i)tried to allocate (?P<amount>[\d.]+ ?\w+)"
_ALLOCATION = r"empty_strided|_empty_|alloc"
_OUTPUT = r"&(\w+?)(?:_handle)?\b[^&]*$"
_DISPATCHED = r'call_dispatcher\(\s*"(?P<name>[^"]+)",\s*"(?P<overload>[^"]*)"'
_SHIM = r"aoti_torch_(?:(?:cpu|cuda|xpu|mps|hip|mtia|hpu|privateuse1|meta)_)?(?P<name>\w+)"
_NAMESPACED = (("mkldnn__", "mkldnn::_"), ("_c10d_functional_", "_c10d_functional::"))
"""Of shims for operators that are not ATen's: how they begin, and so the operator."""
_OVERLOADED = re.compile(r"(.+?)_((?:source_)?(?:Tensor|Scalar)(?:_\w+)?)")

DOCTOR = "%compilescope doctor checks the compiler and its headers."


def explain(text: str, cause: str = "") -> Problem | None:
    """The problem that a message describes; None for a message that is not known here.

    Parameters
    ----------
    text
        The exception's message, or the part of it in a trace.
    cause
        torch's own message to the generated code, if known.
    """
    for mark, pattern, describe in _KINDS:
        # A compiler's output may be long: search only lines that can match.
        match = re.search(pattern, text) if mark in text else None
        if match:
            problem = describe(match, cause.strip())
            problem.detail = "\n\n".join(part for part in (cause.strip(), text.strip()) if part)
            return problem
    return None


def problem_without_message() -> Problem:
    """The problem of an exception that came out of the generated C++ without a message."""
    return _problem(
        "The generated C++ raised an exception without a message.",
        "An operator that it calls through Python failed; the wrapper drops what it said.",
        "Make the call under the Python wrapper, or without torch.compile: both say what failed.",
        {"kind": "silent"},
    )


def operator_of(call: str) -> str:
    """The operator that a call in a wrapper runs: ``aten::mm``; empty if it runs none."""
    dispatched = re.search(_DISPATCHED, call)
    if dispatched:
        overload = dispatched["overload"]
        return dispatched["name"] + (f".{overload}" if overload else "")
    shim = re.search(_SHIM, call)
    if not shim or re.search(_ALLOCATION, shim["name"]) or shim["name"] in _HELPERS:
        return ""
    return _of_shim(shim["name"].removesuffix("_out"))


def _of_shim(name: str) -> str:
    for begin, replaced in _NAMESPACED:
        if name.startswith(begin):
            return replaced + name.removeprefix(begin)
    overloaded = _OVERLOADED.fullmatch(name)
    return "aten::" + (".".join(overloaded.groups()) if overloaded else name)


_HELPERS = frozenset(
    (
        *("_reinterpret_tensor", "as_strided", "assign_tensors", "call_dispatcher", "clone"),
        *("copy_", "create_tensor_from_blob", "delete_tensor_object", "get_data_ptr", "get_sizes"),
        *("get_strides", "item", "new_tensor_handle", "proxy_executor_call_function"),
    )
)
"""Shims that run no operator of the user's graph."""


def _assertion(match: re.Match[str], cause: str) -> Problem:
    """A tensor has other sizes or strides than the generated code expects."""
    operator = _qualified_operator(match["operator"])
    differences = [
        (
            int(dimension["dim"]),
            dimension["size"],
            dimension["wanted"],
            dimension["stride"],
            dimension["step"],
        )
        for dimension in re.finditer(_DIMENSION, match["checks"])
    ]
    shape = any(size != expected for _, size, expected, _, _ in differences) or not differences
    facts = {
        "operator": operator,
        "expected": "; ".join(f"dim {d}: size {w}, stride {t}" for d, _, w, _, t in differences),
        "found": "; ".join(f"dim {d}: size {s}, stride {r}" for d, s, _, r, _ in differences)
        or match["checks"].strip(),
        "kind": "shape" if shape else "stride",
    }
    other = "of another shape" if shape else "with other strides"
    if operator == "input":
        return _problem(
            f"The compiled code was given an input {other} than it was compiled for.",
            f"Expected {facts['expected']}; found {facts['found']}.",
            "Report it to PyTorch: a guard should have caused a recompile.",
            facts,
        )
    explanation = f"Its {facts['found']}; the generated code expects {facts['expected']}."
    if not differences:
        explanation = f"{facts['found'][0].upper()}{facts['found'][1:]}."
    return _unexpected_result(operator, other, explanation, facts)


def _unexpected_result(
    operator: str, other: str, explanation: str, facts: dict[str, str]
) -> Problem:
    """An operator's result differs from what the graph expects."""
    if _is_own(operator):
        return _problem(
            f"{operator} returned a tensor {other} than its fake implementation says.",
            f"{explanation} Code is generated from what the fake implementation returns.",
            f"Have the fake implementation (register_fake) of {operator} return what the operator "
            "returns. torch.library.opcheck(operator, args) checks it.",
            facts,
        )
    return _problem(
        f"{operator} returned a tensor {other} than torch's meta function says.",
        explanation,
        "Report it to PyTorch; until then keep the call out with torch.compiler.disable.",
        facts,
    )


def _other_type(match: re.Match[str], cause: str) -> Problem:
    """An operator returned a tensor of another type than the generated code expects."""
    operator = _qualified_operator(match["operator"])
    type_name = match["found"]
    if not type_name:
        code = int(match["code"])
        type_name = _TYPES[code] if code < len(_TYPES) else f"type {code}"
    facts = {"operator": operator, "expected": match["wanted"], "found": type_name, "kind": "type"}
    explanation = f"It is of {type_name}; the generated code expects {match['wanted']}."
    return _unexpected_result(operator, "of another type", explanation, facts)


def _failed_call(match: re.Match[str], cause: str) -> Problem:
    """A call of the C++ wrapper into torch returned an error."""
    call = " ".join(match["call"].split())
    operator = operator_of(call)
    output = re.search(_OUTPUT, call)
    facts = {
        "operator": operator,
        "tensor": output.group(1) if output else "",
        "call": call,
        "cause": _first(cause),
        "file": match["file"],
        "line": match["line"],
    }
    if re.search(_MEMORY, cause) or (not cause and not operator and re.search(_ALLOCATION, call)):
        return _no_memory(facts)
    if not operator:
        return _problem(
            f"A call of the generated C++ failed: {call.partition('(')[0]}.",
            _first(cause) or "torch gave no reason.",
            "Compare with the Python wrapper; if that works, report it to PyTorch.",
            facts,
        )
    why = _first(cause) or "torch gave the C++ wrapper no reason."
    remedy = (
        f"Call {operator} without torch.compile on the same values: it fails there too, with "
        "Python's own traceback."
    )
    if _is_own(operator):
        remedy += " The C++ wrapper gets the message of a Python exception, not the exception."
    return _problem(f"{operator} failed while the generated C++ ran.", why, remedy, facts)


def _no_memory(facts: dict[str, str]) -> Problem:
    amount = re.search(_BYTES, facts["cause"])
    facts |= {"kind": "memory", "amount": amount["amount"] if amount else ""}
    tensor = facts["tensor"] or "a tensor"
    size = f" of {facts['amount']}" if facts["amount"] else ""
    return _problem(
        f"There was no memory for {tensor}{size} in the generated code.",
        facts["cause"] or "torch gave the C++ wrapper no reason.",
        "Make the call smaller (the batch, the sequence), or free memory before it.",
        facts,
    )


def _out_of_bounds(match: re.Match[str], cause: str) -> Problem:
    """A generated kernel got an index past the end of a tensor."""
    facts = {name: match[name] for name in ("kernel", "file", "line")} | {"kind": "index"}
    return _problem(
        f"An index is out of bounds in the generated kernel {match['kernel']}.",
        f"The kernel checks {match['test'].strip()}, and a value of the index tensor fails it.",
        "Check the values of the index tensor: eager names the operator and the value.",
        facts,
    )


def _missing_symbol(match: re.Match[str], cause: str) -> Problem:
    symbol = match["symbol"] or match["flat"]
    facts = {"symbol": symbol, "operator": operator_of(symbol), "file": match["file"] or ""}
    if symbol.startswith(("aoti_", "torch_")):
        return _problem(
            f"The generated C++ calls {symbol}, which no loaded library defines.",
            "It is the C function (shim) by which C++ wrappers call an operator. An operator of "
            "your own needs one where custom_ops_to_c_shims names it; torch's own are part of its "
            "libraries.",
            "Load the library that defines it before compiling (torch.ops.load_library), or take "
            "the operator out of custom_ops_to_c_shims: then the dispatcher calls it.",
            facts,
        )
    return _problem(
        f"What was built cannot be loaded: {symbol} is missing.",
        "The C++ compiler or a library differs from the one torch was built with.",
        f"Use the compiler and libraries of one installation. {DOCTOR}",
        facts,
    )


def _undeclared(match: re.Match[str], cause: str) -> Problem:
    symbol = match["symbol"]
    return _problem(
        f"The generated C++ calls {symbol}, which nothing declares.",
        "It is the C function (shim) by which C++ wrappers call an operator. For an operator of "
        "your own that custom_ops_to_c_shims lists, torch derives the function's name from the "
        "operator's.",
        f"Declare {symbol} in custom_ops_to_c_shims, or take the operator out: then the dispatcher "
        "calls it.",
        {
            "symbol": symbol,
            "operator": operator_of(symbol),
            **{name: match[name] for name in ("file", "line")},
        },
    )


def _kernel_not_kept(match: re.Match[str], cause: str) -> Problem:
    """The wrapper would launch a kernel that was not compiled before."""
    return _problem(
        f"The C++ wrapper cannot be written: the kernel {match['kernel']} was not compiled before.",
        "torch 2.11 compiles a backward without a setting that the C++ wrapper needs, where "
        "cpp_wrapper is one of torch.compile's options: its kernels are run, and not kept.",
        "Add options={'triton.store_cubin': True}, which counts for the backward too; or use "
        "torch 2.13 or later.",
        {"kernel": match["kernel"]},
    )


def _missing_header(match: re.Match[str], cause: str) -> Problem:
    header = match["header"]
    facts = {"header": header, "file": match["file"], "line": match["line"]}
    return _problem(
        f"The C++ compiler does not find the header {header}.",
        _cause_and_remedy(header)[0],
        f"{_cause_and_remedy(header)[1]} {DOCTOR}",
        facts,
    )


def _cause_and_remedy(header: str) -> tuple[str, str]:
    if header == "Python.h":
        return (
            "It comes with Python's development files, which are not installed.",
            "Install them (Debian: apt-get install python3-dev) for the Python that runs here.",
        )
    if header == "omp.h":
        return (
            "It comes with OpenMP, which this compiler lacks.",
            "Install it (Debian, clang: apt-get install libomp-dev; macOS: brew install libomp).",
        )
    if header.startswith(("cuda", "hip/", "cublas", "cudnn")):
        return (
            "It comes with the GPU's toolkit.",
            "Install the toolkit of the version torch was built with, and set CUDA_HOME to it.",
        )
    if header.startswith(("torch/", "ATen/", "c10/")):
        return (
            "It comes with torch, whose installation lacks it.",
            "Install torch again.",
        )
    return (
        "It belongs to the C++ standard library or the system.",
        "Install a complete C++ compiler (Debian: apt-get install g++), or check CXX.",
    )


_KINDS: list[tuple[str, str, Callable[[re.Match[str], str], Problem]]] = [
    ("\nError in op: ", _ASSERT, _assertion),
    ("\nError in op: ", _TYPE, _other_type),
    (" API call failed at ", _CALL, _failed_call),
    (", index out of bounds: ", _INDEX, _out_of_bounds),
    (" fatal error: ", _HEADER, _missing_header),
    ("aoti_torch_", _UNDECLARED, _undeclared),
    (" symbol", _SYMBOL, _missing_symbol),
    ("CudaKernelParamCache", _NOT_KEPT, _kernel_not_kept),
]
"""For each kind of message: the text that it contains, its parser and its meaning."""


def _problem(what: str, why: str, remedy: str, facts: dict[str, str]) -> Problem:
    return Problem(
        severity="error",
        what=what,
        why=why,
        remedy=remedy,
        facts={name: value for name, value in facts.items() if value},
    )


def _qualified_operator(operator: str) -> str:
    """``torch.ops.gg.pyop.default`` as ``gg::pyop``."""
    namespace, _, name = operator.removeprefix("torch.ops.").partition(".")
    return f"{namespace}::{name.removesuffix('.default')}" if name else operator


def _is_own(operator: str) -> bool:
    """Whether the operator is a custom one, not torch's."""
    return operator.partition("::")[0] not in TORCH_NAMESPACES


def _first(text: str) -> str:
    """The message's first line, without what C++ puts before and after it."""
    line = next((text_line.strip() for text_line in text.splitlines() if text_line.strip()), "")
    return re.sub(r"^\[enforce fail at [^\]]*\]\s*(?:\.\s*)?", "", line)
