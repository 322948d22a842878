"""Parses a notebook cell: the statements to run, and the call that is the subject."""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import io
import linecache
import tokenize
import traceback
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple, TypeGuard

from ..notebook_cells import running_number
from ..report import Problem, SourceLine
from ..report.errors import CompilescopeError, code_to_paste
from .inner_calls import (
    Statement,
    in_a_function,
    note_inner_calls,
    value_of,
    without_backward,
)

EXAMPLE = "For example:\n\n    %%compile\n    y = x * 2\n    model(y)"
Shell = Any
"""IPython's ``InteractiveShell``, which is typed in part only."""

_CALL_NAME = "__compilescope_call__"


class Cell(NamedTuple):
    """A cell that ends in a call."""

    file: str
    """What Python, and so torch, calls the cell's lines."""
    before: list[ast.stmt]
    last: Statement
    blocks: Sequence[ast.With] = ()
    """The ``with`` blocks that it is in, from the outside in."""
    shown: bool = False
    """Whether the value of the last line appears, as it would without ``%%compile``."""


class Call:
    """The cell's last call: what is called and with what, each evaluated once."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    modes: Sequence[Any] | None = None
    """torch's modes in the call, as of `SavedModes.now`, if a ``with`` block sets them."""
    notes: Sequence[Problem] = ()
    """What the report should say about the call."""

    def __init__(
        self, last: Statement, blocks: Sequence[ast.With], namespace: Mapping[str, Any]
    ) -> None:
        self._last, self._blocks, self._namespace = last, blocks, namespace
        self._ends_in = _ends_in(blocks[0]) if blocks else ""

    def mode(self, context: Any) -> Any:
        """Return a block's context if it sets a mode that later calls can be made in, too.

        Raises
        ------
        CompilescopeError
            It does something else, which would be missing in them.
        """
        import torch

        from ..isolation.global_state import AUTOCAST_DEVICES

        modes = (torch.no_grad, torch.enable_grad, torch.set_grad_enabled)
        if not isinstance(context, (*modes, torch.inference_mode, torch.autocast, nullcontext)):
            raise CompilescopeError(self._ends_in, _WHOLE, _IN_A_FUNCTION)
        if isinstance(context, torch.autocast) and context.device not in AUTOCAST_DEVICES:
            raise CompilescopeError(
                f"The cell's call runs under autocast for {context.device}.",
                "compilescope can repeat calls under autocast for "
                f"{' and '.join(AUTOCAST_DEVICES)}.",
                "Put autocast into the function that the cell calls.",
            )
        return context

    def hold(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> None:
        """Keep what the cell's own line evaluates to."""
        self._check(fn)
        self.fn, self.args, self.kwargs = fn, args, kwargs
        self.notes = note_inner_calls(self._last, self._blocks, self._namespace)
        if self._blocks:
            from ..isolation.global_state import SavedModes

            self.modes = SavedModes().now()

    def _check(self, fn: object) -> None:
        """Refuse calls that torch has nothing to compile of, before they are made."""
        name = getattr(fn, "__name__", type(fn).__name__)
        owner = getattr(fn, "__self__", None)
        remedy = EXAMPLE
        if owner is builtins or isinstance(fn, type):
            what = f"The cell's last call is {name}(...)."
        elif type(owner).__module__.split(".")[0] == "torch" and type(owner).__name__ == "Tensor":
            what = f"The cell's last call is the tensor's own .{name}(...)."
            if name == "backward":
                remedy = without_backward(self._last, self._blocks, self._namespace)
                raise CompilescopeError(
                    what,
                    "It would break the graph. A report on the forward includes its backward.",
                    _sentence(remedy),
                )
            remedy = _sentence(in_a_function(self._last, self._blocks, self._namespace))
        elif inspect.iscoroutinefunction(fn):
            raise CompilescopeError(
                f"{name} is an async function.",
                "Calling it computes nothing, and torch.compile takes no coroutines.",
                "Await it in a separate cell, and call with the result.",
            )
        else:
            return
        why = "torch.compile has nothing to compile there: the outermost call is the subject."
        raise CompilescopeError(what, why, remedy)


def parse(shell: Shell, magic_line: str, body: str, raw: str | None = None) -> Cell:
    """Parse a cell's body, with the line numbers that it has in the cell.

    Parameters
    ----------
    shell
        Its input transformers make ``!ls`` and ``%time`` Python.
    magic_line, body
        The cell's first line, and the lines below it.
    raw
        The cell as typed, where the front end sent it; it may begin with blank lines.

    Raises
    ------
    CompilescopeError
        The body is not Python, or its last statement is no call that can be inspected.
    """
    if raw is None or not raw.rstrip().endswith(body.rstrip()):
        raw = f"{magic_line}\n{body}"
    # IPython takes away blank lines at the start; here they count.
    code = body.lstrip("\n \t").rstrip()
    above = raw[: raw.rstrip().rindex(code)].count("\n") if code else 0
    # As when any cell is run: the traceback, the debugger and torch find the text by this name.
    file = shell.compile.cache(raw, running_number(shell), raw_code=raw)
    code = "\n" * above + shell.transform_cell(body)
    try:
        tree = shell.compile.ast_parse(code, filename=file)
    except SyntaxError as error:
        raise _syntax_error(error) from None
    statements = shell.transform_ast(tree).body
    if not statements:
        raise CompilescopeError("The cell is empty.", _EXPECTED, EXAMPLE)
    for statement in statements:
        _refuse_await(statement)
    try:
        # Some errors are found only now: `return` outside a function.
        shell.compile(ast.Module(statements, []), file, "exec")
    except SyntaxError as error:
        error.text = linecache.getline(file, error.lineno or 0)
        raise _syntax_error(error) from None
    last, blocks = statements[-1], list[ast.With]()
    while isinstance(last, ast.With):
        if not all(_may_be_mode(item.context_expr, shell.user_ns) for item in last.items):
            raise CompilescopeError(_refused(last), _WHOLE, _IN_A_FUNCTION)
        blocks.append(last)
        last = last.body[-1]
    assigned = isinstance(last, (ast.Expr, ast.Assign, ast.AnnAssign))
    if not (assigned and isinstance(last.value, ast.Call)):
        shown = _refused(last)
        if isinstance(last, (ast.For, ast.While)):
            raise CompilescopeError(shown, _WHOLE, _ONE_STEP)
        if assigned and last.value is not None and _is_method(last.value, shell.user_ns):
            called = copy.copy(last)
            called.value = ast.Call(last.value, [], [])
            why = f"That is the method {last.value.attr} itself: its call `()` is probably missing."
            remedy = in_a_function(called, blocks, shell.user_ns)
            raise CompilescopeError(shown, why, _sentence(remedy))
        if assigned and last.value is not None and _calls_something(last.value):
            remedy = in_a_function(last, blocks, shell.user_ns)
            raise CompilescopeError(shown, _WHOLE, _sentence(remedy))
        if _calls_something(last):
            raise CompilescopeError(shown, _WHOLE, _IN_A_FUNCTION)
        raise CompilescopeError(shown, _EXPECTED, EXAMPLE)
    if ast.unparse(last.value.func).startswith("get_ipython()."):
        raise CompilescopeError(
            f"The cell ends in a magic or a shell command. {_NOT_RUN}", _EXPECTED, EXAMPLE
        )
    is_shown = not blocks and _is_shown(shell, last, body)
    return Cell(file, statements[:-1], last, blocks, is_shown)


_MODES = ["no_grad", "enable_grad", "set_grad_enabled", "inference_mode", "autocast", "nullcontext"]


def _may_be_mode(context: ast.expr, namespace: Mapping[str, Any]) -> bool:
    """Whether a context may set a mode, as far as that is known before the cell runs."""
    if not isinstance(context, ast.Call):
        return True
    if ast.unparse(context.func).rpartition(".")[2] in _MODES:
        return True
    # Other names of the modes, and functions that return one.
    called = value_of(context.func, namespace)
    return isinstance(called, types.FunctionType) or getattr(called, "__name__", "") in _MODES


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _is_method(value: ast.expr, namespace: Mapping[str, Any]) -> TypeGuard[ast.Attribute]:
    """Whether a value is a tensor's method, as far as that is known before the cell runs."""
    import torch

    return (
        isinstance(value, ast.Attribute)
        and callable(getattr(torch.Tensor, value.attr, None))
        and (
            isinstance(value.value, ast.Call)
            or isinstance(value_of(value.value, namespace), torch.Tensor)
        )
    )


def _refused(statement: ast.stmt) -> str:
    return f"{_ends_in(statement)} {_NOT_RUN}"


_NOT_RUN = "None of the cell was run."


def _ends_in(statement: ast.stmt) -> str:
    return f"The cell ends in `{ast.unparse(statement).splitlines()[0]}`."


def _syntax_error(error: SyntaxError) -> CompilescopeError:
    error.filename = "cell"
    message = "".join(traceback.format_exception_only(error)).strip()
    return CompilescopeError(f"Syntax error in the cell.\n  {message}")


def line_of(cell: Cell) -> SourceLine:
    """The line of the cell's last call."""
    line = cell.last.lineno
    code = linecache.getline(cell.file, line).strip()
    return SourceLine(file=cell.file, line=line, function="<module>", code=code)


def _is_shown(shell: Shell, last: ast.stmt, body: str) -> bool:
    """Whether IPython shows the value of a cell that ends so: not behind a semicolon."""
    if not isinstance(last, ast.Expr) or shell.ast_node_interactivity == "none":
        return False
    words = [
        token_info.string
        for token_info in tokenize.generate_tokens(io.StringIO(shell.transform_cell(body)).readline)
        if token_info.type not in _BLANK
    ]
    return words[-1:] != [";"]


_BLANK = (
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
)
_EXPECTED = "%%compile inspects the call in the cell's last line, and there is none."
_WHOLE = (
    "%%compile inspects one call, which must be the cell's entire last statement, or that of a "
    "`with` block of torch.no_grad(), torch.inference_mode() or torch.autocast(...)."
)
_IN_A_FUNCTION = (
    "Put what the cell computes into a function, and call that. For example:\n\n    %%compile\n"
    "    def compute(x):\n        return model(x) + 1\n"
    "    compute(x)"
)

_ONE_STEP = (
    "Inspect one step of the loop: put it into a function, if it is not one yet, and call that. "
    "For example:\n\n    %%compile\n    step(batch)\n\nIf the loop calls what is compiled already, "
    "a watch reports what it compiles; in a cell without %%compile:"
) + code_to_paste(
    "with compilescope.watch() as report:\n    for batch in batches:\n        compiled_step(batch)"
)


def _calls_something(statement: ast.AST) -> bool:
    defines = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return not isinstance(statement, defines) and any(
        isinstance(node, ast.Call) for node in ast.walk(statement)
    )


def run(shell: Shell, cell: Cell) -> Call:
    """Run a cell in the user's namespace, its last call too, once; return that call.

    The call is made by the cell's own line, so that a traceback looks as it always does, and its
    result goes to the assignment's target if there is one, else it is shown.

    Parameters
    ----------
    shell, cell
        Where to run, and what.
    """
    # IPython leaves this frame and those above it out of the user's tracebacks.
    __tracebackhide__ = "__ipython_bottom__"
    namespace = shell.user_ns
    # Their nodes are replaced.
    last, blocks = copy.copy(cell.last), copy.deepcopy(cell.blocks)
    call = Call(last, blocks, namespace)
    with shell.builtin_trap:
        for statement in cell.before:
            shown = shell.ast_node_interactivity == "all" and isinstance(statement, ast.Expr)
            _execute(shell, statement, cell.file, "single" if shown else "exec")
        namespace[_CALL_NAME] = call
        try:
            held, called = _split(cell.last)
            if cell.blocks:
                cell.blocks[-1].body[-1:] = [held, called]
                _execute(shell, _of_modes(cell.blocks), cell.file, "exec")
            else:
                _execute(shell, held, cell.file, "exec")
                _execute(shell, called, cell.file, "single" if cell.shown else "exec")
        finally:
            namespace.pop(_CALL_NAME, None)
    return call


def _execute(shell: Shell, statement: ast.stmt, file: str, mode: str) -> None:
    __tracebackhide__ = "__ipython_bottom__"
    module = ast.Interactive([statement]) if mode == "single" else ast.Module([statement], [])
    exec(shell.compile(module, file, mode), shell.user_global_ns, shell.user_ns)


def _split(last: Statement) -> tuple[ast.stmt, ast.stmt]:
    """Turn ``y = f(a, b=c)`` into the holding of f, a and c, and the call with what is held."""
    called = last.value
    assert isinstance(called, ast.Call)
    hold = ast.Call(
        ast.parse(f"{_CALL_NAME}.hold", mode="eval").body,
        [called.func, *called.args],
        called.keywords,
    )
    call = ast.parse(
        f"{_CALL_NAME}.fn(*{_CALL_NAME}.args, **{_CALL_NAME}.kwargs)", mode="eval"
    ).body
    held = ast.Expr(hold)
    for new_node in (held, hold, hold.func, call):
        for node in ast.walk(new_node) if new_node in (hold.func, call) else (new_node,):
            ast.copy_location(node, called)
    last.value = call
    return held, last


def _of_modes(blocks: Sequence[ast.With]) -> ast.With:
    """The outermost block, with every context checked before it is entered."""
    for item in (item for block in blocks for item in block.items):
        context = item.context_expr
        check = ast.Call(ast.parse(f"{_CALL_NAME}.mode", mode="eval").body, [context], [])
        for node in (check, *ast.walk(check.func)):
            ast.copy_location(node, context)
        item.context_expr = check
    return blocks[0]


def _refuse_await(statement: ast.stmt) -> None:
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        is_awaited = isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith)) or (
            isinstance(node, ast.comprehension) and node.is_async
        )
        if is_awaited:
            raise CompilescopeError(
                f"Line {_first_line(node)} awaits.",
                "torch.compile takes no coroutines, and %%compile runs its cell without awaiting.",
                "Await it in a separate cell, and call with the result.",
            )
        waiting.extend(_run_now(node))


def _run_now(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that run with it: a function's body and a generator run later."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    if isinstance(node, ast.GeneratorExp):
        yield node.generators[0].iter
        return
    for name, value in ast.iter_fields(node):
        if not (name == "body" and isinstance(node, functions)):
            parts = value if isinstance(value, list) else [value]
            yield from (part for part in parts if isinstance(part, ast.AST))


def _first_line(node: ast.AST) -> int:
    """The line where a node begins; a comprehension's clause has none of its own."""
    if isinstance(node, ast.comprehension):
        return node.target.lineno
    line: int = getattr(node, "lineno", 0)
    return line
