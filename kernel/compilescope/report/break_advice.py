"""What to do about a graph break: torch's hint, where it applies, with the setting in full."""

from __future__ import annotations

import ast
import re

from .compilation.breaks import Break
from .problem import SourceLine
from .resumed import plain_function

_SETTING = re.compile(
    r"torch\._dynamo\.(?:config\.)?(?P<name>[a-z_]+)"
    r"(?P<joint> ?= ?|`? to `?)(?P<value>True|False|\d+)"
)
"""A setting that torch's hint names, of Dynamo: no option of torch.compile has those.

Some hints leave out ``config``, without which the assignment changes nothing.
"""

_SCALAR = "A branch on the number still breaks the graph: use torch.where on the tensor instead."
_TORCH = re.compile(r"[/\\]site-packages[/\\]torch[/\\]")
_PYTHON = re.compile(r"[/\\]lib[/\\]python3\.\d+[/\\](?!(?:site|dist)-packages\b)")
_OPTIMIZER = re.compile(_TORCH.pattern + r"optim[/\\]")
_BUILTIN = "If it is a Python builtin"
"""Asks to file an issue, and refers to the hint after it."""
_SPARSE = "Sparse tensor operations are not yet fully supported"
"""Advises ``fullgraph=False``, without which there is no break, but an error."""
_FAKE_KERNELS = "see https://"
"""Refers to a page about fake implementations, without saying that one is missing."""
_DISABLED = "Remove the `torch.compiler.disable` call"
"""Of a function that is torch's own as often as the user's: the step of some optimizers."""
_EARLIER = "This graph break may have been caused by an earlier graph break"
"""Does not say what to do."""
_SKIPPED = re.compile(r"Avoid calling the function `(.+)`\.$")
"""A program that needs the function, as a training step needs ``Adam.step``, cannot avoid it."""
_OPTIMIZERS_STEP = re.compile(r"module: torch\.optim\.\w+, qualname: (\w+\.step)\b")
"""The context of a break at an optimizer's step that a learning rate scheduler wraps."""
_STEP = (
    "Call the optimizer's step ({}) outside the compiled code if it may run in eager. Otherwise "
    "leave the break: torch compiles the step on its own after it, and advice on its recompiles "
    "applies only there."
)
_SKIPPED_FILE = re.compile(r"filename: `(.+?)`")
_APPLICABLE = {
    _DISABLED: "Move this call out of the compiled code, or remove the function's "
    "torch.compiler.disable if it is yours.",
    _BUILTIN: "Call it outside the compiled code, and pass its result. A function of an "
    "extension can be a custom operator (torch.library.custom_op).",
    _SPARSE: "torch.compile does not support sparse tensors: keep them outside the compiled code.",
}


TRACE_AUTOGRAD = "trace_autograd_ops"
_GRAD = "torch.autograd.grad"
OUTSIDE = (
    "Call backward() and the optimizer's step() outside the compiled function, and compile the "
    "forward and the loss only. The setting that torch's hint names, trace_autograd_ops, can lose "
    "the gradients of backward() without an error."
)
TRACE_GRAD_ONLY = "Only if the compiled code has no backward(), whose gradients it can lose."


def calls_backward(graph_break: Break) -> bool:
    """Whether the break is a call of ``Tensor.backward()``.

    Torch's hint names a setting of Dynamo with which it is traced. In torch 2.13 a step that
    clears the gradients, calls ``backward()`` and then the optimizer trains no more with it.
    """
    hints = " ".join(graph_break.hints)
    return TRACE_AUTOGRAD in hints and _GRAD not in graph_break.reason


_SCALAR_OUTPUTS = "capture_scalar_outputs"
_DYNAMIC_OUTPUTS = "capture_dynamic_output_shape_ops"
_SIZES = (
    "With it, tolist() of a result of unknown size raises an error, and a loop over the result or "
    "a branch on its size can break the graph again."
)
_RNN = "allow_rnn"
_UNROLLED = (
    "torch then unrolls the sequence: compile time grows with its length and the layers, to "
    "minutes for 2 layers and 20 steps."
)
_COSTS = {
    TRACE_AUTOGRAD: TRACE_GRAD_ONLY,
    _SCALAR_OUTPUTS: _SCALAR,
    _DYNAMIC_OUTPUTS: _SIZES,
    _RNN: _UNROLLED,
}
"""What the settings that torch's hints name cost, or do not do."""
_BRANCH = re.compile(
    r"(?:if|elif|while)\b|.*\bif\b[^:]*(?:\.item\(|\b(?:bool|float|int)\().*\belse\b"
)
"""A line on which a number is read that decides a branch.

An ``assert`` is none: with the setting it becomes an assertion in the graph.
"""
_BRANCHLESS = (
    "The value decides a branch: use torch.where or torch.cond, or move the check out of the "
    "compiled function. With the setting that torch's hint names, capture_scalar_outputs, the "
    "branch breaks the graph."
)
_DATA_DEPENDENT = "Data-dependent branching"
"""The beginning of torch's reason for a break at a branch on a tensor."""
_IN_LOOP = re.compile(r"graph break in (?:a for/while )?loop", re.IGNORECASE)
_DECIDES_LOOP = (
    "The data decides how this loop goes on: compile the step that it repeats, such as the model's "
    "forward, instead of the loop, or test the stop condition outside the compiled function. A "
    "branch that only changes values can be torch.where."
)
_READ_RESULTS = re.compile(r"(?:async )?for\b|.*\.tolist\(")
"""A line that reads results, whose number depends on the data, in Python."""
_KEPT_IN_TENSORS = (
    "How many results there are depends on the data, and this line reads them in Python. Keep them "
    "in tensors, as torch.where(mask, x, 0) does, or call this part under torch.compiler.disable. "
    "Do not use the setting that torch's hint names, capture_dynamic_output_shape_ops: with it, "
    "tolist() raises an error, and a loop leaves the whole function to eager."
)
_NUMBERS_IN_INDEX = re.compile(r".*(?:\.tolist\(|\[[^\]]*\.item\()")
"""A line that reads numbers which may become indices."""
_INDEX = "With the setting, an index of two such numbers, as in x[i, j], raises an error."
_RNN_IN_EAGER = (
    "Call the RNN in a method under torch.compiler.disable, which reads it from self: it runs in "
    "eager, and the code before and after it compiles. Or set torch._dynamo.config.allow_rnn = "
    f"True: {_UNROLLED}"
)
"""A function that has the RNN as a parameter does not help: Dynamo looks at what it passes."""
BY_DESIGN = (
    "Leave the break: torch breaks the graph here on purpose, and compiles the optimizer's step on "
    "its own after it."
)
_IN_TORCH = "The break is in torch's own code: move this call out of the compiled code."
_IN_PYTHON = (
    "The break is in Python's standard library: move this call out of the compiled code, and pass "
    "its result."
)


def _branches_on_number(graph_break: Break) -> bool:
    where = graph_break.where
    return (
        where is not None
        and any(_SCALAR_OUTPUTS in hint for hint in graph_break.hints)
        and _BRANCH.match(where.code.strip()) is not None
    )


def _decides_loop(graph_break: Break) -> bool:
    """Whether data decides a branch in a loop, for which torch leaves the function to eager."""
    return (
        graph_break.reason.startswith(_DATA_DEPENDENT) or _branches_on_number(graph_break)
    ) and any(_IN_LOOP.search(text) for text in (graph_break.reason, graph_break.explanation))


def _reads_results(graph_break: Break) -> bool:
    where = graph_break.where
    return (
        where is not None
        and any(_DYNAMIC_OUTPUTS in hint for hint in graph_break.hints)
        and _READ_RESULTS.match(where.code.strip()) is not None
    )


_UNSUPPORTED = re.compile(r"unsupported operator: (\w+)\.(\w+)")
"""The context of a break at an operator without a fake implementation."""


def _on_fake_implementation(graph_break: Break) -> str:
    """What to do about an operator without a fake implementation; empty at other breaks."""
    operator = _UNSUPPORTED.match(graph_break.context)
    if operator is None:
        return ""
    name = f"{operator[1]}::{operator[2]}"
    if operator[1] == "aten":
        return f"torch has no fake implementation of {name}: call it outside the compiled code."
    return (
        f'Write a fake implementation of {name}: decorate it with @torch.library.register_fake("'
        f"{name}\"). It takes the same arguments, and returns torch.empty of the result's shape, "
        "dtype and device."
    )


def _calls_rnn(graph_break: Break) -> bool:
    """Whether the user's code calls an RNN, which is not what is compiled itself."""
    where = graph_break.where
    return (
        where is not None
        and not is_torchs(where)
        and any(_RNN in hint for hint in graph_break.hints)
    )


_WRONG = (calls_backward, _branches_on_number, _reads_results, _calls_rnn)
"""Where the setting that torch's hint names is wrong."""


def setting_of(graph_break: Break) -> str:
    """The setting that ends a break, as code; empty if there is none, or it is wrong there."""
    if any(is_wrong(graph_break) for is_wrong in _WRONG):
        return ""
    named = next(filter(None, map(_SETTING.search, graph_break.hints)), None)
    return f"torch._dynamo.config.{named['name']} = {named['value']}" if named else ""


def is_torchs(where: SourceLine | None) -> bool:
    """Whether a line is torch's own."""
    return where is not None and _TORCH.search(where.file) is not None


def is_librarys(where: SourceLine | None) -> bool:
    """Whether a line is torch's own, or in Python's standard library."""
    return is_torchs(where) or _is_pythons(where)


def _is_pythons(where: SourceLine | None) -> bool:
    return where is not None and _PYTHON.search(where.file) is not None


def _in_library(where: SourceLine | None) -> str:
    """What to do about a break in torch or in Python's library; empty elsewhere."""
    if is_torchs(where):
        return _IN_TORCH
    return _IN_PYTHON if _is_pythons(where) else ""


def advice_on(graph_break: Break) -> str:
    """What ends a break: torch's first hint, or what applies in its place; empty without one.

    Nobody edits a line in torch or in Python's library: only a setting ends such a break, or its
    caller.
    """
    if without_output(graph_break.where):
        return _on_output(graph_break)
    hint = next((hint for hint in graph_break.hints if not hint.startswith(_EARLIER)), "")
    where = graph_break.where
    if not hint:
        return _in_library(where)
    if calls_backward(graph_break):
        return OUTSIDE
    if is_by_design(graph_break):
        return BY_DESIGN
    if (in_library := _in_library(where)) and not _SETTING.search(hint):
        return in_library
    for beginning, applicable in _APPLICABLE.items():
        if hint.startswith(beginning):
            return applicable
    if hint.startswith(_FAKE_KERNELS) and (fake := _on_fake_implementation(graph_break)):
        return fake
    skipped = _SKIPPED.match(hint)
    if skipped is not None and (step := wrapped_step(graph_break)):
        return _STEP.format(step)
    if skipped is not None:
        return f"Call {skipped[1]} outside the compiled code."
    if _decides_loop(graph_break):
        return _DECIDES_LOOP
    if _branches_on_number(graph_break):
        return _BRANCHLESS
    if _reads_results(graph_break):
        return _KEPT_IN_TENSORS
    if _calls_rnn(graph_break):
        return _RNN_IN_EAGER
    return _with_cost(_SETTING.sub(_in_full, hint), where)


def _with_cost(hint: str, where: SourceLine | None) -> str:
    """Torch's hint as a sentence, with what the setting that it names costs."""
    cost = next((words for setting, words in _COSTS.items() if setting in hint), "")
    if _SCALAR_OUTPUTS in hint and where and _NUMBERS_IN_INDEX.match(where.code.strip()):
        cost += f" {_INDEX}"
    return f"{hint.rstrip('.')}. {cost}".rstrip()


_ALONE = frozenset(
    {
        OUTSIDE,
        BY_DESIGN,
        _BRANCHLESS,
        _DECIDES_LOOP,
        _KEPT_IN_TENSORS,
        _IN_TORCH,
        _IN_PYTHON,
        *_APPLICABLE.values(),
    }
)
"""Advice instead of all of torch's hints."""


def advice_lines(graph_break: Break) -> list[str]:
    """What to do about a break: `advice_on`, then torch's other hints that apply besides it."""
    advice = advice_on(graph_break)
    if (
        advice in _ALONE
        or without_output(graph_break.where)
        or (advice and _skips_torchs_function(graph_break))
    ):
        return [advice]
    hints = [_SETTING.sub(_in_full, hint) for hint in graph_break.hints]
    replaced = next(
        (index for index, hint in enumerate(hints) if not hint.startswith(_EARLIER)), None
    )
    if replaced is not None and advice:
        hints[replaced] = advice
    return hints


_OUTPUT = re.compile(r"print|warnings\.warn|(\w+\.)?(log|logger|logging)\.\w+")
"""Calls that only print or log."""
_REORDERABLE = "reorderable_logging_functions"
"""In torch's hint on a break of the output itself, not of a number that the line reads."""
_READS_NUMBER = re.compile(r"\.(item|tolist)\(|\b(bool|float|int)\(")
_NO_OUTPUT = (
    "Output breaks the graph. Under `if not torch.compiler.is_compiling():` it does not, and "
    "compiled calls skip it and write nothing."
)
_OUTPUT_AFTER = "To keep it, return the value and write it after the call."
_PRINT_AFTER = (
    "To keep it, write it after the call, or have torch do so: "
    f"torch._dynamo.config.{_REORDERABLE}.add(print)."
)


def _on_output(graph_break: Break) -> str:
    """What it costs to leave out the output of a line, and how to keep it."""
    code = graph_break.where.code.strip() if graph_break.where is not None else ""
    can_reorder = (
        code.startswith("print(")
        and not _READS_NUMBER.search(code)
        and any(_REORDERABLE in hint for hint in graph_break.hints)
    )
    return f"{_NO_OUTPUT} {_PRINT_AFTER if can_reorder else _OUTPUT_AFTER}"


def without_output(where: SourceLine | None) -> str:
    """The line of a graph break, without its output under torch.compile; empty if it has none."""
    if where is None or is_librarys(where):
        return ""
    try:
        (statement,) = ast.parse(where.code.strip()).body
    except (SyntaxError, ValueError):
        return ""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return ""
    if not _OUTPUT.fullmatch(ast.unparse(statement.value.func)):
        return ""
    return f"if not torch.compiler.is_compiling():\n    {where.code.strip()}"


BEFORE = "before the first call; code that is already compiled does not change"
"""Where to paste code that changes a setting."""


def code_against(graph_break: Break, *, has_backward: bool) -> tuple[str, str]:
    """The code that ends a break, and where to paste it; both empty if there is none.

    Parameters
    ----------
    has_backward
        Whether another break is a call of ``backward()`` (`calls_backward`).
    """
    where = graph_break.where
    code = without_output(where)
    if code and where is not None:
        # A setting that reads the number of `print(x.item())` leaves the break of the output.
        return (
            code,
            f"in place of line {where.line}: no variant can try it, as it changes your code",
        )
    setting = setting_of(graph_break)
    if has_backward and TRACE_AUTOGRAD in setting:
        return "", ""
    return setting, BEFORE if setting else ""


def _skips_torchs_function(graph_break: Break) -> bool:
    """Whether Dynamo does not trace a function of torch, such as ``Optimizer.zero_grad``.

    Torch's other hints are to decorate the function, and to file an issue.
    """
    file = _SKIPPED_FILE.search(graph_break.context)
    is_in_torch = file is not None and _TORCH.search(file[1]) is not None
    is_step = wrapped_step(graph_break) != ""
    return (is_in_torch or is_step) and any(map(_SKIPPED.match, graph_break.hints))


def is_by_design(graph_break: Break) -> bool:
    """Whether torch breaks the graph there on purpose: around the step of an optimizer.

    The step itself is compiled, and nothing ends the break.
    """
    where = graph_break.where
    return (
        where is not None
        and _OPTIMIZER.search(where.file) is not None
        and graph_break.reason.startswith("Call to `torch._dynamo.graph_break()`")
    )


def is_at_step(graph_break: Break) -> bool:
    """Whether the break is at the step of an optimizer, which torch compiles on its own."""
    return is_by_design(graph_break) or wrapped_step(graph_break) != ""


def wrapped_step(graph_break: Break) -> str:
    """The optimizer's step that a scheduler wraps, such as ``Adam.step``; empty at other breaks.

    torch names it by its class: that of ``AdamW`` is ``Adam.step``.
    """
    step = _OPTIMIZERS_STEP.match(graph_break.context)
    return step[1] if step else ""


def is_step(frame: SourceLine | None) -> bool:
    """Whether a compiled function is the step of an optimizer, or a part of it in torch."""
    return frame is not None and (
        _OPTIMIZER.search(frame.file) is not None or plain_function(frame.function) == "step"
    )


def _in_full(setting: re.Match[str]) -> str:
    joint = " = " if "=" in setting["joint"] else setting["joint"]
    return f"torch._dynamo.config.{setting['name']}{joint}{setting['value']}"
