"""Turns exceptions of a compilation into problems: what happened, why, what to do.

Relies on ``torch._dynamo.exc`` and ``torch._inductor.exc``. An exception of neither family is
attributed to compilescope if its code raised it, to torch.compile if the call works without it, and
otherwise to the subject.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable

import torch
from torch._dynamo import exc as dynamo
from torch._inductor import exc as inductor
from torch.fx.experimental.symbolic_shapes import ConstraintViolationError

from ...package_folder import INSIDE
from ...report import Break, Problem, SourceLine
from ...report.break_advice import TRACE_GRAD_ONLY, advice_lines
from ...report.errors import CompilescopeError
from ...report.problem import (
    COMPILE_FAILED,
    FIND_FAILING_PART,
    FULLGRAPH_BREAK,
    SUBJECT_RAISED,
    fault,
    first_line_of,
    in_short,
    message_of,
)
from ...report.restart_explanations import explanation_of
from ..trace.graphs import source_lines
from . import backend, cpp, cpp_compiler, disk, operators
from .places import last_traced, line_of_node, text_after, users_part, where_raised
from .restrictions import restriction


def explain(error: BaseException) -> Problem:
    """The problem for an exception that was raised while a subject was compiled or run."""
    return of_torch(error) or _own_fault(error) or subject_failure(error)


def before_call(error: BaseException, raiser: str) -> Problem:
    """The problem for an exception that was raised while the call to inspect was made.

    Parameters
    ----------
    raiser
        What raised it: ``The factory``.
    """
    return (
        of_torch(error)
        or _own_fault(error)
        or Problem(
            severity="error",
            what=f"{raiser} raised {in_short(error)}.",
            why="It is its own exception, raised before there was a call to compile.",
            remedy="Make it work in a new process without compilescope first.",
            where=where_raised(error),
            detail=_trace(error),
        )
    )


def of_process(error: BaseException, raiser: str = "") -> Problem:
    """The problem for an exception in a process that creates a call and measures it.

    Parameters
    ----------
    raiser
        As for `before_call`; empty once there is a call.
    """
    if isinstance(error, CompilescopeError):
        return error.problem
    return before_call(error, raiser) if raiser else explain(error)


def under_compile(error: BaseException, *, backward: bool = False) -> Problem:
    """The problem for an exception under torch.compile in a call that works without it.

    Parameters
    ----------
    backward
        Whether the call itself returned, and the backward of its result raised the exception.
    """
    return (
        of_torch(error)
        or _own_fault(error)
        or Problem(
            severity="error",
            what=_failed(error),
            why=_BACKWARD if backward else _CALL,
            remedy=_TRACE_GRAD if _DOUBLE_BACKWARD in message_of(error) else FIND_FAILING_PART,
            where=where_raised(error),
            detail=_trace(error),
        )
    )


_CALL = "The call works without torch.compile; under it, it raises this."
_BACKWARD = (
    "The call works under torch.compile, but the backward of its result raises this; without "
    "torch.compile it does not."
)
_DOUBLE_BACKWARD = "does not currently support double backward"
_TRACE_GRAD = (
    "Set torch._dynamo.config.trace_autograd_ops = True before the first call: a call of "
    "torch.autograd.grad then breaks no graph, and its result can be differentiated again. "
    f"{TRACE_GRAD_ONLY}"
)


def of_way(error: BaseException) -> Problem:
    """The problem for an exception from a way to deploy a call that works in eager."""
    return (
        _of_unsavable_guard(error)
        or _of_failed_guard(error)
        or of_torch(error)
        or _own_fault(error)
        or Problem(
            severity="error",
            what=f"torch failed with {type(error).__name__}"
            + (f": {line}" if (line := first_line_of(error)) else "."),
            why="The call works as it is written; deployed this way, it raises this.",
            remedy="This way to deploy does not support this call; choose another.",
            where=where_raised(error),
            detail=_trace(error),
        )
    )


def _of_unsavable_guard(error: BaseException) -> Problem | None:
    """The problem if ``aot_compile`` cannot save a guard, as torch's ``guards.py`` says."""
    match = _UNSAVABLE.search(message_of(error))
    if match is None:
        return None
    return Problem(
        severity="error",
        what=f"aot_compile cannot save a guard of type {match[1]}.",
        why="Such a guard compares with an object of this process, like a module's own dictionary "
        "or a function, which a saved file cannot contain.",
        remedy="Choose another way, or do not change that object in the call: keep a cache in the "
        "arguments, for example.",
        where=where_raised(error),
        detail=_trace(error),
    )


def _of_failed_guard(error: BaseException) -> Problem | None:
    """The problem if a guard fails in code of ``aot_compile``, as its ``__call__`` says."""
    message = message_of(error)
    if not message.startswith(_CHECK_FAILED):
        return None
    match = _FAILED_PARTS.search(message)
    # What follows is the line of code that the guard is from.
    guard = _NOTE.split(match[2])[0].strip() if match is not None else ""
    guard = _LOCAL.sub(r"\1", guard).replace("GLOBAL_STATE changed", "the global state changed")
    return Problem(
        severity="error",
        what="A guard of the code from aot_compile fails" + (f": {guard}." if guard else "."),
        why="aot_compile compiles one case. A call that its guards do not admit is an error, where "
        "torch.compile would recompile.",
        remedy="Keep what the guard checks as it is in the call that is compiled, or choose "
        "another way.",
        where=where_raised(error),
        detail=_trace(error),
    )


_CHECK_FAILED = "GuardManager check failed"
_FAILED_PARTS = re.compile(r"verbose_code_parts=\[([\"'])(.*?)\1(?:, [\"']|\],?\n)", re.S)
_NOTE = re.compile(r"\s{2,}# ")
_LOCAL = re.compile(r"L\['(\w+)'\]")
_UNSAVABLE = re.compile(r"(\w+) guard cannot be serialized")


def of_later_call(error: BaseException) -> Problem:
    """The problem for an exception in a repeated call that succeeded before."""
    return of_torch(error) or _own_fault(error) or subject_failure(error, has_worked=True)


def of_codegen(error: BaseException) -> Problem:
    """The problem for an exception during code generation, when no code of the subject runs."""
    return of_torch(error) or _own_fault(error) or _of_inductor(error, _full_traceback(error))


def of_torch(error: BaseException) -> Problem | None:
    """The problem if torch.compile or generated code raised the exception; otherwise None."""
    for cause in _causes(error):
        if _is_freed(cause):
            return subject_failure(cause)
        generated = cpp.explain(cause) or backend.explain(cause)
        if generated is not None:
            return generated
        for kind, describe in _KINDS:
            if isinstance(cause, kind) and (problem := describe(cause)) is not None:
                return problem
    if isinstance(error, dynamo.RestartAnalysis):
        return _restart(error)
    if isinstance(error, dynamo.BackendCompilerFailed):
        return _of_inductor(error, message_of(error))
    if isinstance(error, dynamo.TorchDynamoException):
        return _internal(error, message_of(error))
    return None


def _own_fault(error: BaseException) -> Problem | None:
    """The problem if compilescope's own code raised the exception; otherwise None.

    Running out of memory can happen anywhere, and is not an error of compilescope.
    """
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return None
    last = frames[-1]
    is_inside = last.filename.startswith(INSIDE) and not _PASSES_ON.search(last.line or "")
    return fault(error) if is_inside else None


_FREED = "backward through the graph a second time"
"""Part of torch's message if a graph was freed."""
_FREED_WHY = (
    "Autograd frees a graph when a backward runs through it. This graph was recorded before the "
    "inspection, which calls the subject several times; or the call runs two backwards through it."
)
_FREED_REMEDY = (
    "Record the graph inside the inspected function, pass tensors without a history "
    "(h.detach().requires_grad_()), or call backward(retain_graph=True)."
)
_PASSES_ON = re.compile(r"\b(?:original|function|whole)\(")
"""In a line of compilescope that passes a call on. What it calls has no frame if it is written in
C, as a generated kernel is: the exception is that function's."""


def _failed(error: BaseException) -> str:
    return f"{COMPILE_FAILED}: {first_line_of(error) or type(error).__name__}"


def _full_traceback(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def _trace(error: BaseException) -> str:
    """The traceback without the frames that lead to the user's, or to torch's if there are none."""
    return "".join(traceback.format_exception(type(error), error, users_part(error)))


def _internal(error: BaseException, detail: str) -> Problem:
    return Problem(
        severity="error",
        what=_failed(error),
        why="An internal error of Dynamo or of the backend.",
        remedy=FIND_FAILING_PART,
        where=where_raised(error),
        detail=detail,
    )


def _of_inductor(error: BaseException, detail: str) -> Problem:
    """The problem if the backend Inductor fails: itself, or AOTAutograd, which it calls."""
    problem = _internal(error, detail)
    is_own = isinstance(error, inductor.InductorError)
    problem.why = _INDUCTOR if is_own else _INDUCTOR_OR_AOT
    problem.remedy = _WITHOUT_INDUCTOR if is_own else _TRY_AOT_EAGER
    if isinstance(error, dynamo.BackendCompilerFailed):  # its own first line names the backend only
        problem.what = f"{COMPILE_FAILED}: {in_short(error.inner_exception)}"
    problem.where = line_of_node(error) or problem.where
    return problem


_INDUCTOR = "An internal error of Inductor: Dynamo and AOTAutograd had captured the graph."
_WITHOUT_INDUCTOR = (
    "Keep the operator out of the graph with torch.compiler.disable, or choose "
    "backend='aot_eager', which does not use Inductor."
)
_INDUCTOR_OR_AOT = (
    "An internal error of AOTAutograd or of Inductor, which calls it: Dynamo had captured the "
    "graph."
)
_TRY_AOT_EAGER = "Try backend='aot_eager': if it fails, too, AOTAutograd is the part that fails."


def _restart(error: BaseException) -> Problem:
    """The problem if Dynamo's request to start again reaches the caller, as of ``aot_compile``."""
    problem = _internal(error, _full_traceback(error))
    explanation = explanation_of(type(error).__name__)
    if explanation is not None:
        why, remedy = explanation
        problem.why = f"Dynamo would have to restart its analysis, but cannot do so here: {why}."
        problem.remedy = remedy or problem.remedy
    return problem


def subject_failure(error: BaseException, *, has_worked: bool = False) -> Problem:
    """The problem for an exception that the subject raises with or without torch.compile.

    Parameters
    ----------
    has_worked
        Whether the call has succeeded before: in its cell, or earlier in the inspection.
    """
    if isinstance(error, dynamo.UncapturedHigherOrderOpError):
        # In eager torch.cond compiles its branches by itself.
        problem = _higher_order(error)
        problem.what = f"{SUBJECT_RAISED} {type(error).__name__}: {problem.what}"
        return problem
    why = "It is the subject's own exception, raised by the call that was inspected."
    remedy = "Make the call work without compilescope first."
    if has_worked:
        why, remedy = _LATER, _REPEATABLE
    if _is_freed(error):
        why, remedy = _FREED_WHY, _FREED_REMEDY
    return Problem(
        severity="error",
        what=f"{SUBJECT_RAISED} {type(error).__name__}"
        + (f": {line}" if (line := first_line_of(error)) else "."),
        why=why,
        remedy=remedy,
        where=where_raised(error),
        detail=_trace(error),
    )


_LATER = (
    "The call went well at first. To be inspected it is made again, many times if it is timed, and "
    "a later one raised this."
)
_REPEATABLE = (
    "Inspect a call that can be made again and again: one that does not use up or remove what it "
    "needs."
)


def _is_freed(error: BaseException) -> bool:
    return isinstance(error, RuntimeError) and _FREED in message_of(error)


def causes(error: BaseException) -> list[tuple[str, str]]:
    """The types and messages of an exception and of those that it wraps, innermost first."""
    return [(type(cause).__name__, message_of(cause)) for cause in _causes(error)]


def _causes(error: BaseException) -> list[BaseException]:
    """The exception and those that it wraps, innermost first."""
    base_exceptions: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in base_exceptions:
        base_exceptions.append(current)
        inner = getattr(current, "inner_exception", None)
        current = inner if isinstance(inner, BaseException) else current.__cause__
    return base_exceptions[::-1]


def _graph_break(error: BaseException) -> Problem:
    message = message_of(error)
    if _LIMIT in message:  # the cause of a FailOnRecompileLimitHit
        return _limit(error)
    stack = getattr(error, "real_stack", None)
    frames = source_lines("".join(traceback.format_list(stack))) if stack else []
    kind = getattr(error, "gb_type", "") or first_line_of(error)
    return Problem(
        severity="error",
        what=f"{FULLGRAPH_BREAK}: {kind}",
        why=text_after("Explanation: ", message)
        or text_after("Developer debug context: ", message),
        remedy=_hints(message, where=frames[-1] if frames else None),
        where=frames[-1] if frames else None,
        detail=message,
    )


def _hints(message: str, where: SourceLine | None = None) -> str:
    """What to do about a graph break, in one line, as for one after which torch continues."""
    link = re.search(r"https?://\S*gb\d+\S*", message)
    hints = re.findall(r"^\s*Hint: (.*)$", message, re.MULTILINE)
    context = text_after("Developer debug context: ", message)
    graph_break = Break(reason=message, hints=hints, context=context, where=where)
    return " ".join([*advice_lines(graph_break), f"See {link.group()}" if link else ""]).strip()


def _higher_order(error: BaseException) -> Problem:
    """A function that is passed to torch.cond and its like breaks the graph."""
    message = message_of(error)
    operator = text_after("Higher Order Operator: ", message) or "A higher-order operator"
    reason = message.partition("Got graph break/error:")[2].strip().partition("\n")[0]
    return Problem(
        severity="error",
        what=f"{operator} takes only functions without a graph break"
        + (f": {reason.rstrip('.')}." if reason else "."),
        why=text_after("Explanation: ", message) or first_line_of(error),
        remedy=_hints(message) or "Take what breaks the graph out of the functions it is given.",
        where=last_traced(error),
        detail=message,
    )


def _restriction(error: BaseException) -> Problem:
    """Code that torch.compile does not take, as torch documents."""
    message = message_of(error)
    named = restriction(message, "UserError")
    return Problem(
        severity="error",
        what=f"{COMPILE_FAILED}: {named.what if named else first_line_of(error)}",
        why=named.why if named else "",
        remedy=named.remedy if named else "",
        where=last_traced(error),
        detail=message,
    )


_LIMIT = "Dynamo recompile limit exceeded"


def _limit(error: BaseException) -> Problem:
    message = message_of(error)
    limit = re.search(r"Limit type: (\w+)", message)
    name = limit.group(1) if limit else "recompile_limit"
    return Problem(
        severity="error",
        what="The recompile limit was hit.",
        why=text_after("Explanation: ", message) or first_line_of(error),
        remedy="TORCH_LOGS=recompiles says what changes from call to call: mark a size with "
        "torch._dynamo.mark_dynamic, pass another value as a tensor. If each case is meant to be "
        f"compiled, raise torch._dynamo.config.{name}.",
        detail=message,
    )


def _not_dynamic(error: BaseException) -> Problem | None:
    message = message_of(error)
    named = restriction(message, type(error).__name__)
    frames = source_lines(message.partition("User stack:")[2])
    return named and Problem(
        severity="error",
        what=named.what,
        why=named.why or first_line_of(error),
        remedy=named.remedy,
        where=frames[-1] if frames else None,
        detail=message,
    )


def _stance(error: BaseException) -> Problem | None:
    if "stance is 'fail_on_recompile'" not in message_of(error):
        return None
    return Problem(
        severity="error",
        what="torch's stance is fail_on_recompile: nothing may be compiled.",
        why="Every variant is compiled again to be inspected, which this stance makes an error.",
        remedy='Run torch.compiler.set_stance("default").',
        detail=message_of(error),
    )


def _scripted(error: BaseException) -> Problem | None:
    if "not support compiling torch.jit.script" not in message_of(error):
        return None
    return Problem(
        severity="error",
        what=f"{COMPILE_FAILED}: the module is TorchScript.",
        why="torch.compile refuses modules of torch.jit.script and torch.jit.freeze, with every "
        "backend.",
        remedy="Compile the module that it was made from; a module of torch.jit.load needs its "
        "Python code.",
        detail=message_of(error),
    )


_KINDS: list[tuple[type[BaseException], Callable[[BaseException], Problem | None]]] = [
    (inductor.InvalidCxxCompiler, cpp_compiler.no_compiler),
    (inductor.CppCompileError, cpp_compiler.compile_error),
    (inductor.MissingOperatorWithoutDecomp, operators.unknown_operator),
    (inductor.MissingOperatorWithDecomp, operators.unknown_operator),
    (inductor.LoweringException, operators.lowering),
    (dynamo.UncapturedHigherOrderOpError, _higher_order),
    (dynamo.UserError, _restriction),
    (dynamo.Unsupported, _graph_break),
    (dynamo.FailOnRecompileLimitHit, _limit),
    (dynamo.TorchRuntimeError, operators.fake_tensors),
    (OSError, disk.not_written),
    (ConstraintViolationError, _not_dynamic),
    (RuntimeError, _stance),
    (RuntimeError, _scripted),
]
