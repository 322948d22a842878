"""Turns exceptions of a compilation into problems: what happened, why, what to do.

Relies on ``torch._dynamo.exc`` and ``torch._inductor.exc``. An exception of neither family is
attributed to compilescope if its code raised it, to torch.compile if the call works without it, and
otherwise to the subject.
"""

from __future__ import annotations

import ast
import os
import re
import traceback
import types
from collections.abc import Callable
from pathlib import Path

import msgspec
import torch
from torch._dynamo import exc as dynamo
from torch._inductor import exc as inductor
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import ConstraintViolationError

from ...package_folder import INSIDE
from ...report import Break, Problem, SourceLine
from ...report.break_advice import OUTSIDE, TRACE_GRAD_ONLY, calls_backward
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
from ..trace.graphs import source_lines
from . import backend, cpp, cpp_compiler, disk


def explain(error: BaseException) -> Problem:
    """The problem for an exception that was raised while a subject was compiled or run."""
    return of_torch(error) or _ours(error) or subject_failure(error)


def before_call(error: BaseException, raiser: str) -> Problem:
    """The problem for an exception that was raised while the call to inspect was made.

    Parameters
    ----------
    raiser
        What raised it: ``The factory``.
    """
    return (
        of_torch(error)
        or _ours(error)
        or Problem(
            severity="error",
            what=f"{raiser} raised {in_short(error)}.",
            why="It is its own exception, raised before there was a call to compile.",
            remedy="Make it work in a new process without compilescope first.",
            where=_where(error),
            detail=_trace(error),
        )
    )


def under_compile(error: BaseException, *, backward: bool = False) -> Problem:
    """The problem for an exception under torch.compile in a call that works without it.

    Parameters
    ----------
    backward
        Whether the call itself returned, and the backward of its result raised the exception.
    """
    return (
        of_torch(error)
        or _ours(error)
        or Problem(
            severity="error",
            what=_failed(error),
            why=_BACKWARD if backward else _CALL,
            remedy=_TRACE_GRAD if _DOUBLE_BACKWARD in message_of(error) else FIND_FAILING_PART,
            where=_where(error),
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
        or of_torch(error)
        or _ours(error)
        or Problem(
            severity="error",
            what=f"torch failed with {type(error).__name__}"
            + (f": {line}" if (line := first_line_of(error)) else "."),
            why="The call works as it is written; deployed this way, it raises this.",
            remedy="This way to deploy does not support this call; choose another.",
            where=_where(error),
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
        where=_where(error),
        detail=_trace(error),
    )


_UNSAVABLE = re.compile(r"(\w+) guard cannot be serialized")


def of_later_call(error: BaseException) -> Problem:
    """The problem for an exception in a repeated call that succeeded before."""
    return (
        of_torch(error)
        or _ours(error)
        or msgspec.structs.replace(
            subject_failure(error),
            why="The call went well at first. To be timed and studied it is made many times, and a "
            "later one raised this.",
            remedy="Inspect a call that can be made again and again: one that does not use up or "
            "remove what it needs.",
        )
    )


def of_codegen(error: BaseException) -> Problem:
    """The problem for an exception during code generation, when no code of the subject runs."""
    return of_torch(error) or _ours(error) or _internal(error, _whole(error))


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
    if isinstance(error, dynamo.TorchDynamoException):
        return _internal(error, message_of(error))
    return None


def _ours(error: BaseException) -> Problem | None:
    """The problem if compilescope's own code raised the exception; otherwise None.

    Running out of memory can happen anywhere, and is not an error of compilescope.
    """
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return None
    last = frames[-1]
    is_ours = last.filename.startswith(INSIDE) and not _PASSES_ON.search(last.line or "")
    return fault(error) if is_ours else None


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
"""In a line of ours that passes a call on. What it calls has no frame if it is written in C, as a
generated kernel is: the exception is that function's."""


def _failed(error: BaseException) -> str:
    return f"{COMPILE_FAILED}: {first_line_of(error) or type(error).__name__}"


def _whole(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def _trace(error: BaseException) -> str:
    """The traceback from the first frame that is the user's."""
    return "".join(traceback.format_exception(type(error), error, users_part(error)))


def _internal(error: BaseException, detail: str) -> Problem:
    return Problem(
        severity="error",
        what=_failed(error),
        why="An internal error of Dynamo or of the backend.",
        remedy=FIND_FAILING_PART,
        where=_where(error),
        detail=detail,
    )


def subject_failure(error: BaseException) -> Problem:
    """The problem for an exception that the subject raises with or without torch.compile."""
    if isinstance(error, dynamo.UncapturedHigherOrderOpError):
        # In eager torch.cond compiles its branches by itself.
        problem = _higher_order(error)
        problem.what = f"{SUBJECT_RAISED} {type(error).__name__}: {problem.what}"
        return problem
    why = "It is the subject's own exception, raised by the call that was inspected."
    remedy = "Make the call work without compilescope first."
    if _is_freed(error):
        why, remedy = _FREED_WHY, _FREED_REMEDY
    return Problem(
        severity="error",
        what=f"{SUBJECT_RAISED} {type(error).__name__}"
        + (f": {line}" if (line := first_line_of(error)) else "."),
        why=why,
        remedy=remedy,
        where=_where(error),
        detail=_trace(error),
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
        why=_after("Explanation: ", message) or _after("Developer debug context: ", message),
        remedy=_hints(message),
        where=frames[-1] if frames else None,
        detail=message,
    )


def _hints(message: str) -> str:
    """What torch advises against a graph break, in one line."""
    link = re.search(r"https?://\S*gb\d+\S*", message)
    hints = re.findall(r"^\s*Hint: (.*)$", message, re.MULTILINE)
    if calls_backward(Break(reason=message, hints=hints)):
        hints = [OUTSIDE]
    return " ".join([*hints, f"See {link.group()}" if link else ""]).strip()


def _higher_order(error: BaseException) -> Problem:
    """A function that is passed to torch.cond and its like breaks the graph."""
    message = message_of(error)
    operator = _after("Higher Order Operator: ", message) or "A higher-order operator"
    reason = message.partition("Got graph break/error:")[2].strip().partition("\n")[0]
    return Problem(
        severity="error",
        what=f"{operator} takes only functions without a graph break"
        + (f": {reason.rstrip('.')}." if reason else "."),
        why=_after("Explanation: ", message) or first_line_of(error),
        remedy=_hints(message) or "Take what breaks the graph out of the functions it is given.",
        where=_last_traced(error),
        detail=message,
    )


def _restriction(error: BaseException) -> Problem:
    """Code that torch.compile does not take, as torch documents."""
    message = message_of(error)
    advice, failure = _ADVICE.match(first_line_of(error)).groups("")  # type: ignore[union-attr]
    link = re.search(r"https?://\S*/exportdb/\S*", message)
    see = f" See {link.group()}" if link else ""
    return Problem(
        severity="error",
        what=f"{COMPILE_FAILED}: {failure}",
        why="It is a restriction of torch.compile on the code that it takes.",
        remedy=(advice or "Rewrite the line, or keep it out with torch.compiler.disable.") + see,
        where=_last_traced(error),
        detail=message,
    )


_ADVICE = re.compile(r"(?:(Consider .*?\.) (?=[A-Z]))?(.*)")
"""The first line of torch's message: what it advises, if it does, and what went wrong."""


def _last_traced(error: BaseException) -> SourceLine | None:
    """The user's last line that Dynamo traced."""
    stack = getattr(error, "real_stack", None) or []
    users = [frame for frame in stack if not _is_internal(frame.filename)]
    frames = source_lines("".join(traceback.format_list(users)))
    return frames[-1] if frames else _where(error)


def _unknown_operator(error: BaseException) -> Problem:
    return _at_operator(
        error,
        "Inductor has no code for the operator",
        remedy="Register a lowering or a decomposition, or keep the call out with "
        "torch.compiler.disable.",
    )


def _lowering(error: BaseException) -> Problem:
    # Raised while an operator is lowered to code; most of these operators do have a lowering.
    return _at_operator(
        error,
        "Inductor failed on the operator",
        remedy="Remove the options that the reason names, or keep the call out with "
        "torch.compiler.disable.",
    )


def _at_operator(error: BaseException, what: str, *, remedy: str) -> Problem:
    message = message_of(error)
    target = re.search(r"target: (\S+)", message)
    frames = source_lines(message) or _lowered(error)
    return Problem(
        severity="error",
        what=f"{what} {target.group(1) if target else ''}".rstrip() + ".",
        why=first_line_of(error),
        remedy=remedy,
        where=frames[-1] if frames else None,
        detail=message,
    )


def _lowered(error: BaseException) -> list[SourceLine]:
    """The source line of the node that was being lowered; some messages do not name it."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        node = frame.f_locals.get("n") if frame.f_code.co_name == "run_node" else None
        if isinstance(node, Node):
            return source_lines(node.meta.get("stack_trace") or "")
    return []


def _fake(error: BaseException) -> Problem:
    message = message_of(error)
    explained = _after("Explanation: ", message)
    called = _CALLED.search(explained)
    operator = f"The operator {called[1] or called[2]}" if called else "An operator"
    return Problem(
        severity="error",
        what=f"{operator} failed on fake tensors, as Dynamo traces it.",
        # The operator's own exception comes last, after Dynamo's arguments.
        why=_raised(explained.rpartition(": got ")[2]) or first_line_of(error),
        remedy=_REGISTER if _is_custom(explained) else _TEST,
        where=_last_traced(error),
        detail=message,
    )


_REGISTER = (
    "If the call works without torch.compile, give the operator a fake implementation "
    "(torch.library.register_fake)."
)
_TEST = (
    "If the call works without torch.compile, as it catches this error, let it test sizes and "
    "types before it calls the operator."
)
_CALLED = re.compile(
    r"call_(?:function|method) (?:<(?:built-in )?(?:function|method) (\w+)[^>]*>|([\w.]+))\("
)
"""The node that failed: ``call_function mylib.double.default(``, ``call_method view(``."""
_EXCEPTION = re.compile(r"(\w+)\((.*)\)", re.DOTALL)


def _raised(exception: str) -> str:
    """An exception's type and message, of its representation: ``ValueError('too long')``."""
    match = _EXCEPTION.fullmatch(exception)
    try:
        message = ast.literal_eval(match[2]) if match else None
    except (ValueError, SyntaxError):
        return exception
    return f"{match[1]}: {message}" if match and isinstance(message, str) else exception


_OPERATOR = re.compile(r"call_function (?!aten\.|prims\.)\w+\.\w+\.\w+\(")


def _is_custom(explained: str) -> bool:
    """Whether a node that failed calls an operator that is not torch's own, by namespace."""
    return _OPERATOR.search(explained) is not None


_LIMIT = "Dynamo recompile limit exceeded"


def _limit(error: BaseException) -> Problem:
    message = message_of(error)
    limit = re.search(r"Limit type: (\w+)", message)
    name = limit.group(1) if limit else "recompile_limit"
    return Problem(
        severity="error",
        what="The recompile limit was hit.",
        why=_after("Explanation: ", message) or first_line_of(error),
        remedy="TORCH_LOGS=recompiles says what changes from call to call: mark a size with "
        "torch._dynamo.mark_dynamic, pass another value as a tensor. If each case is meant to be "
        f"compiled, raise torch._dynamo.config.{name}.",
        detail=message,
    )


def _not_dynamic(error: BaseException) -> Problem:
    message = message_of(error)
    names = re.search(r"Constraints violated \((.+?)\)!", message)
    reasons = re.findall(r"^\s*- (.*)$", message, re.MULTILINE)
    # What follows is torch's advice for every way to mark a size.
    whys = [reason.partition(" If you're using ")[0] for reason in reasons]
    frames = source_lines(message.partition("User stack:")[2])
    return Problem(
        severity="error",
        what="A size is marked as dynamic, which it cannot be"
        + (f": {names.group(1)}." if names else "."),
        why=" ".join(whys) or first_line_of(error),
        remedy="Remove mark_dynamic from it, or use torch._dynamo.maybe_mark_dynamic, which leaves "
        "it constant where it must be.",
        where=frames[-1] if frames else None,
        detail=message,
    )


def _stance(error: BaseException) -> Problem | None:
    if "stance is 'fail_on_recompile'" not in message_of(error):
        return None
    return Problem(
        severity="error",
        what="torch's stance is fail_on_recompile: nothing may be compiled.",
        why="Every variant is compiled anew to be inspected, which this stance makes an error.",
        remedy='Run torch.compiler.set_stance("default").',
        detail=message_of(error),
    )


_KINDS: list[tuple[type[BaseException], Callable[[BaseException], Problem | None]]] = [
    (inductor.InvalidCxxCompiler, cpp_compiler.no_compiler),
    (inductor.CppCompileError, cpp_compiler.compile_error),
    (inductor.MissingOperatorWithoutDecomp, _unknown_operator),
    (inductor.MissingOperatorWithDecomp, _unknown_operator),
    (inductor.LoweringException, _lowering),
    (dynamo.UncapturedHigherOrderOpError, _higher_order),
    (dynamo.UserError, _restriction),
    (dynamo.Unsupported, _graph_break),
    (dynamo.FailOnRecompileLimitHit, _limit),
    (dynamo.TorchRuntimeError, _fake),
    (OSError, disk.not_written),
    (ConstraintViolationError, _not_dynamic),
    (RuntimeError, _stance),
]


def _where(error: BaseException) -> SourceLine | None:
    frames = traceback.extract_tb(error.__traceback__)
    users = [frame for frame in frames if not _is_internal(frame.filename)]
    if not users:
        return None
    last = users[-1]
    return SourceLine(
        file=last.filename, line=last.lineno or 0, function=last.name, code=last.line or ""
    )


def users_part(error: BaseException) -> types.TracebackType | None:
    """The traceback from the first frame that is the user's."""
    current = error.__traceback__
    while current is not None and _is_internal(current.tb_frame.f_code.co_filename):
        current = current.tb_next
    return current or error.__traceback__


_INTERNAL = (f"{Path(torch.__file__).parent}{os.sep}", INSIDE)
"""The folders of torch and compilescope: frames in them are not the user's."""


def _is_internal(file: str) -> bool:
    return file.startswith(_INTERNAL)


def _after(label: str, text: str) -> str:
    match = re.search(rf"^\s*{re.escape(label)}(.*)$", text, re.MULTILINE)
    return match.group(1) if match else ""
