"""Advice that removes a recompile, as code to paste.

It gives only advice that `tests/kernel/inspection/advice/test_advice.py` applies and proves to
remove the recompile.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ....report import Advice, Failure, SourceLine
from ....report.resumed import resumed_at
from ..conditions import as_written
from ..frames import Caller
from ..reasons.expected_recompiles import normal_recompile, serves_larger_sizes, serves_later_sizes
from ..reasons.other_changes import first_few, other_guards
from ..reasons.recompile_words import describe
from .advice_names import Names, names_of
from .compile_calls import with_dynamic
from .general_advice import pass_loop_variable, run_in_eager
from .number_uses import OPTIMIZER, NumberUses
from .remaining_changes import remaining
from .sizes_together import LAYOUT, marks_together

_NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:e[+-]?\d+)?$|-?(?:inf|nan)$")
_SCALARS = {"Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16"}
_SIZE = re.compile(r"(.+)\.size\(\)\[(\d+)\]$", re.S)
_ARGUMENT = re.compile(r"L\['\w+'\](?!.*(?:_parameters|_buffers)\[)", re.S)
"""A source that is no parameter of a module."""
_LOCAL = re.compile(r"L\['\w+'\]")
_MARK_UNBACKED = "Call torch._dynamo.decorators.mark_unbacked(tensor, dimension) before each call"
_OPTIMIZER_STATE = re.compile(r"\.state\[list\(dict\.keys\(.*\.state\)\)\[\d+\]\]$")
_ONE_VALUE = (
    "mark_unbacked",
    "contiguous",
    "dtype",
    "requires_grad",
    "tensor",
    "tensor_lr",
    "cycle_momentum",
    "scalar_argument",
    "hoist",
    "grad_mode",
)
"""Kinds of advice for the first failed guard alone: useless if something else changed too."""
_ARITHMETIC = "Suitable for a number that is used only in arithmetic."
_ALL_DYNAMIC = "dynamic=True makes every size and number dynamic from the first compilation on."
_NOT_GUARDED = f"A tensor's value is not guarded. {_ARITHMETIC}"
_ONE_TYPE = f"A tensor has one type, and its value is not guarded. {_ARITHMETIC}"
_PLAIN = "torch.tensor({0})"
_FLOAT = "torch.tensor(float({0}))"


def advise(
    failures: Sequence[tuple[str, Failure]],
    *,
    frame: SourceLine | None,
    caller: Caller | None,
    settings: Mapping[str, Any],
    first: Caller | None = None,
    seen: Sequence[Failure] = (),
    became: Sequence[str] = (),
    existed: Callable[[str], bool] = lambda _: True,
    others: Callable[[Failure], Sequence[Failure]] = lambda _: (),
    uses: NumberUses | None = None,
    recurring: Collection[tuple[str, str]] = (),
) -> list[Advice]:
    """Advice that removes the recompile, most specific first.

    Parameters
    ----------
    failures
        The guards that failed, each with torch's own words.
    frame, caller
        The compiled function, and the call of it.
    settings
        Dynamo's settings in force (``specialize_float``, ``assume_static_by_default``), if torch
        logged them.
    first
        The call that was compiled first: a mark on a later call's tensor recompiles as well.
    seen
        The failures that an earlier recompile of the frame had too.
    became
        Sources that became symbols in this compilation (``L['x'].size()[0]``): everything that
        changed, while torch names only the guard that failed first.
    existed
        Whether a part of an argument (``L['cache'].k[0]``) was there at the first compilation.
    others
        What else changed since the compilation of a failed guard.
    uses
        What the new compilation does with its numbers.
    recurring
        What caused earlier recompiles of the frame, as `guarded_value` gives it.
    """
    if serves := serves_later_sizes([each for _, each in failures], became, recurring, others):
        return [Advice(kind="normal", what=serves)]
    uses = uses or NumberUses()
    adviser = _Adviser(frame, caller, first or caller, settings, became, existed, uses)
    by_code: dict[str, Advice] = {}
    # A guard that failed before led to a newer compilation, so that compilation's guard counts.
    fresh = [failed for failed in failures if failed[1] not in seen]
    insufficient: dict[str, Advice] = {}
    for reason, failure in fresh or failures:
        changes = others(failure)
        if marks := marks_together(failure, changes, became, adviser.before):
            by_code.setdefault(marks.code, marks)
            continue
        suggested = list(adviser.on(reason, failure))
        if changes and not suggested and failure.kind == "size":
            # What helps for a size of 1 helps only where no other size changed.
            sentence = other_guards(failure, changes)
            insufficient.setdefault(sentence, Advice(kind="other_guards", what=sentence))
        for advice in suggested:
            left = remaining(advice, changes, uses, settings)
            if advice.kind == "constant":
                insufficient.setdefault(advice.what, advice)
            elif left:
                sentence = other_guards(failure, left)
                insufficient.setdefault(sentence, Advice(kind="other_guards", what=sentence))
            else:
                by_code.setdefault(advice.code or advice.what, advice)
    if not by_code and failures:
        _, failure = (fresh or failures)[0]
        normal = normal_recompile([failure, *others(failure)]) or serves_larger_sizes(
            [each for _, each in fresh or failures], became, others
        )
        if normal:
            return [Advice(kind="normal", what=normal)]
        return [*insufficient.values(), run_in_eager()]
    return list(by_code.values())


class _Adviser:
    def __init__(
        self,
        frame: SourceLine | None,
        caller: Caller | None,
        first: Caller | None,
        settings: Mapping[str, Any],
        became: Sequence[str],
        existed: Callable[[str], bool],
        uses: NumberUses,
    ) -> None:
        self.frame = frame
        self.uses = uses
        self.existed = existed
        self.became = became
        self.caller = caller.where if caller else None
        self.settings = settings
        # dynamic=True sets it for its compilations.
        self.is_dynamic = settings.get("assume_static_by_default") is False
        self.resumed = frame is not None and resumed_at(frame.function) is not None
        self.names: Names = names_of(frame, caller)
        self.first = first.where if first else None
        # Two calls may be on one line.
        self.first_names = self.names if first == caller else names_of(frame, first)
        self.written = with_dynamic(frame, caller, self.names)

    def on(self, reason: str, failure: Failure) -> Iterator[Advice]:
        rules: dict[str, Callable[[str, Failure], Iterator[Advice]]] = {
            "size": self._size,
            "stride": self._stride,
            "dtype": self._dtype,
            "requires_grad": self._requires_grad,
            "value": self._value,
            "global": self._value,
            "type": self._type,
            "identity": self._identity,
            "length": self._length,
            "grad_mode": self._grad_mode,
        }
        rule = rules.get(failure.kind)
        if rule is None:
            return
        for advice in rule(reason, failure):
            if advice.kind not in _ONE_VALUE or self._changed_alone(failure):
                yield advice

    def _changed_alone(self, failure: Failure) -> bool:
        """Whether no other size or number became a symbol, as far as torch shows."""
        own = failure.source
        if failure.kind == "size":
            own += f".size()[{failure.dimension}]"
        return all(source == own or LAYOUT.search(source) for source in self.became)

    def _size(self, reason: str, failure: Failure) -> Iterator[Advice]:
        if "duck sizing" in reason:
            yield Advice(
                kind="duck_shape",
                what=(
                    "Sizes that are equal at the first call get separate symbols. Set it before "
                    "the first call."
                ),
                code="torch.fx.experimental._config.use_duck_shape = False",
            )
            return
        numbers = _NUMBER.match(failure.old) and _NUMBER.match(failure.new)
        special = failure.old == "at least 2" or {failure.old, failure.new} & {"0", "1"}
        if not numbers and failure.old != "at least 2":
            return
        at = failure.dimension
        if special:
            what = (
                f"Size {at} of {{0}} becomes one symbol that includes 0 and 1. Code that branches "
                "on it no longer compiles."
            )
            marks = list(
                self.before(
                    failure,
                    "mark_unbacked",
                    what + self.first_names.outside(failure.source),
                    f"torch._dynamo.decorators.mark_unbacked({{0}}, {at})",
                    f" {_MARK_UNBACKED} in which the tensor exists; at the first compilation it "
                    "did not.",
                )
            )
            if not marks and not self.resumed and _ARGUMENT.match(failure.source):
                argument = describe(failure).subject.rpartition(".size(")[0]
                what = f"{what.format(argument)} {_MARK_UNBACKED}."
                marks.append(Advice(kind="mark_unbacked", what=what))
            yield from marks
            return
        if self.uses.is_constant(failure):
            yield from self._constant(failure)
            return
        yield from self._mark_dynamic(failure)
        yield from self._dynamic()

    def _mark_dynamic(self, failure: Failure) -> Iterator[Advice]:
        """Advice for every size that changed; none if a number changed too.

        Marking a size raises an error if it depends on another size that is a constant.
        """
        sizes = {(failure.source, failure.dimension): failure}
        for source in self.became:
            match = _SIZE.match(source)
            if match is not None:
                at = int(match.group(2))
                other = msgspec.structs.replace(failure, source=match.group(1), dimension=at)
                sizes.setdefault((other.source, at), other)
            elif not LAYOUT.search(source):
                return
        marks = [
            advice
            for (_, at), size in sizes.items()
            for advice in self.before(
                size,
                "mark_dynamic",
                f"size {at} of {{0}}",
                f"torch._dynamo.mark_dynamic({{0}}, {at})",
            )
        ]
        if len(marks) == len(sizes) and not all(mark.code for mark in marks):
            what = first_few([mark.what for mark in marks])
            yield Advice(
                kind="mark_dynamic",
                what=(
                    f"Mark {what} as dynamic: call torch._dynamo.mark_dynamic(tensor, dimension) "
                    "before each call, on those that exist. At the first compilation they did not "
                    "all exist yet."
                ),
                where=self.first,
            )
            return
        together = len(marks) == 1 or all("\n" not in mark.code for mark in marks)
        if len(marks) < len(sizes) or not together:
            return
        marked = ", ".join(mark.what for mark in marks)
        yield Advice(
            kind="mark_dynamic",
            what=(
                f"Mark {marked} as dynamic from the first compilation on."
                f"{self.first_names.outside(*(source for source, _ in sizes))}"
            ),
            code="\n".join(mark.code for mark in marks),
            where=self.first,
        )

    def _stride(self, reason: str, failure: Failure) -> Iterator[Advice]:
        yield from self._rebound(
            failure, "contiguous", "Give every call the same layout.", "{0}.contiguous()"
        )

    def _dtype(self, reason: str, failure: Failure) -> Iterator[Advice]:
        dtype = _SCALARS.get(failure.old)
        if dtype:
            what = "Give every call the same dtype."
            yield from self._rebound(failure, "dtype", what, f"{{0}}.to(torch.{dtype})")

    def _requires_grad(self, reason: str, failure: Failure) -> Iterator[Advice]:
        if failure.old == "False":
            what = "Detach {0} in every call, if its gradients are not needed."
            yield from self._rebound(failure, "requires_grad", what, "{0}.detach()")
        else:
            what = "Have every call compute gradients of {0}."
            yield from self._rebound(failure, "requires_grad", what, "{0}.requires_grad_()")

    def _value(self, reason: str, failure: Failure) -> Iterator[Advice]:
        is_constant = self.uses.is_constant(failure)
        takes_tensor = self.uses.takes_tensor(failure)
        constant_advice = list(self._constant(failure)) if is_constant else []
        if constant_advice:
            yield from constant_advice
            return
        if not _NUMBER.match(failure.old) or not (_NUMBER.match(failure.new) or not failure.new):
            return
        whole = _is_whole(failure.old)
        static = "integer attributes of the nn.Module" in reason
        constant = failure.kind == "global"
        once = static or constant
        # Without the source, the module is probably the one that is called, under a name unknown.
        is_named = takes_tensor and (
            not static or self.names.is_in_source or failure.source.startswith("G[")
        )
        is_retyped = bool(failure.new) and whole != _is_whole(failure.new)
        if is_named and (variable := self.names.loop_variable(failure.source)):
            yield pass_loop_variable(variable)
        elif is_named and is_retyped:
            yield from self._one_type(failure, once=once)
        elif is_named:
            yield from self._rebound(failure, "tensor", _NOT_GUARDED, _PLAIN, once=once)
        if is_retyped:
            return  # a number that is dynamic has one type, too
        if static:
            yield from self._dynamic(
                "module_int",
                "torch._dynamo.config.allow_unspec_int_on_nn_module = True",
                "Integer attributes of modules are dynamic from the first compilation on.",
            )
        elif not whole and self.settings.get("specialize_float") is True:
            yield from self._dynamic(
                "specialize_float",
                "torch._dynamo.config.specialize_float = False",
                (
                    "Numbers are dynamic from the first compilation on; specialize_float makes "
                    "floats constants now."
                ),
            )
        elif not constant and not is_constant:
            yield from self._dynamic()

    def _constant(self, failure: Failure) -> Iterator[Advice]:
        advice = self.uses.on_constant(failure, self.frame)
        if advice is not None:
            yield advice

    def _type(self, reason: str, failure: Failure) -> Iterator[Advice]:
        numbers = ("<class 'int'>", "<class 'float'>")
        if failure.old in numbers and failure.new in numbers:
            yield from self._one_type(failure)

    def _one_type(self, failure: Failure, *, once: bool = False) -> Iterator[Advice]:
        """Advice on a number that is an integer in some calls and a float in others."""
        advice = list(self._rebound(failure, "tensor", _ONE_TYPE, _FLOAT, once=once))
        if not advice and self.resumed and _LOCAL.fullmatch(failure.source):
            # Where the value is created, before the graph break, is not known.
            value = _FLOAT.format(as_written(failure.source))
            advice = [Advice(kind="tensor", what=f"Use {value} in every call. {_ONE_TYPE}")]
        yield from advice

    def _identity(self, reason: str, failure: Failure) -> Iterator[Advice]:
        source = re.sub(r"\.__code__$", "", failure.source)
        argument = self.names.expression(source)
        match = re.fullmatch(r"L\['(\w+)'\]", source)
        passed = self.names.arguments.get(match.group(1)) if match else None
        if not argument or match is None or not isinstance(passed, (ast.Call, ast.Lambda)):
            return
        parameter = match.group(1)
        name = self.names.new_name(parameter)
        yield Advice(
            kind="hoist",
            what="Create the object once, before the loop, and pass it to every call.",
            code=f"{name} = {ast.unparse(passed)}\n{self.names.called_with(parameter, name)}",
            where=self.caller,
        )

    def _length(self, reason: str, failure: Failure) -> Iterator[Advice]:
        in_optimizer = self.frame is not None and OPTIMIZER.search(self.frame.file)
        is_first_step = failure.old == "0"
        if in_optimizer and is_first_step and _OPTIMIZER_STATE.search(failure.source):
            yield Advice(
                kind="optimizer_state",
                what=(
                    "The first step creates the optimizer's state. Make one training step in "
                    'eager, under torch.compiler.set_stance("force_eager"), before the compiled '
                    "ones."
                ),
            )

    def _grad_mode(self, reason: str, failure: Failure) -> Iterator[Advice]:
        # The global state of the earlier compilation may be unknown; there are only two modes.
        old = failure.old or {"True": "False", "False": "True"}.get(failure.new, "")
        if self.names.call is not None and old:
            call = ast.unparse(self.names.call)
            mode = "enable_grad" if old == "True" else "no_grad"
            yield Advice(
                kind="grad_mode",
                what=(
                    "Make all calls in the same grad mode. One compilation for training and one "
                    "for evaluation is normal: then there is nothing to change."
                ),
                code=f"with torch.{mode}():\n    {call}",
                where=self.caller,
            )

    def _dynamic(
        self,
        kind: str = "dynamic",
        setting: str = "",
        what: str = _ALL_DYNAMIC,
    ) -> Iterator[Advice]:
        if self.frame is None:
            return
        written = self.written
        if self.is_dynamic:
            # The torch.compile with dynamic=True may be elsewhere, the written one an older one.
            if setting:
                yield Advice(kind=kind, what=what, code=setting, where=self.frame)
            return
        is_readable = written is not None and bool(written.code)
        if written is None or not is_readable:
            what += " Add dynamic=True to its torch.compile."
            lines = [setting]
        else:
            lines = [setting, "" if written.was_dynamic else written.code]
        code = "\n".join(filter(None, lines))
        if code or not is_readable:
            where = written.where if written is not None else self.frame
            yield Advice(kind=kind, what=what, code=code, where=where)

    def before(
        self, failure: Failure, kind: str, what: str, code: str, absent: str = ""
    ) -> Iterator[Advice]:
        """A statement before the first call, on the argument itself.

        No code for a part that was missing at the first call, where the statement would fail, but
        ``what`` followed by ``absent``.
        """
        argument = None if self.resumed else self.first_names.expression(failure.source)
        if argument is None:
            return
        named = argument.is_assignable
        target = (argument.expression if named else argument.name) + argument.rest
        lines = [code.format(target)]
        if not named:
            lines.insert(0, f"{argument.name} = {argument.expression}")
            lines.append(self.first_names.called_with(argument.parameter, argument.name))
        sentence = what.format(target)
        if argument.rest and not self.existed(failure.source):
            yield Advice(kind=kind, what=sentence + absent, where=self.first)
            return
        yield Advice(kind=kind, what=sentence, code="\n".join(lines), where=self.first)

    def _rebound(
        self, failure: Failure, kind: str, what: str, value: str, *, once: bool = False
    ) -> Iterator[Advice]:
        """Code that passes another value for the argument.

        ``once``: where the object is created, not before each call.
        """
        argument = None if self.resumed else self.names.expression(failure.source)
        if argument is None or (argument.rest and not self.existed(failure.source)):
            return
        named = argument.is_assignable
        target = (argument.expression if named else argument.name) + argument.rest
        if named or not argument.rest:
            lines = [f"{target} = {value.format(argument.expression + argument.rest)}"]
        else:
            lines = [
                f"{argument.name} = {argument.expression}",
                f"{target} = {value.format(target)}",
            ]
        if not named:
            lines.append(self.names.called_with(argument.parameter, argument.name))
        where = failure.where if once else self.caller
        what = what.format(target) + ("" if once else self.names.outside(failure.source))
        yield Advice(kind=kind, what=what, code="\n".join(lines), where=where)


def _is_whole(number: str) -> bool:
    """Whether Python writes an integer so."""
    return number.lstrip("-").isdecimal()
