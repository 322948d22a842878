"""Runs the subject once under Dynamo with a backend that only keeps the graphs."""

from __future__ import annotations

import contextvars
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import msgspec

from ..capture.live import recording
from ..capture.records import Record
from ..capture.renumber import numbers
from ..guards.kept_guards import EvaluableGuards, by_report_id
from ..isolation.code_swap import CodeCopies
from ..isolation.muted_output import quiet
from ..measure.garbage_collection import gc_disabled
from ..report import Node
from ..report.problem import Problem, fault
from ..report.variant import Variant
from ..torch_api.dynamo import needed_run
from ..torch_api.dynamo.compile_variant import (
    GUARD_FILTER,
    compile_callable,
    guard_filter,
    settings_of,
)
from ..torch_api.dynamo.disabled_compile import other_backend, turned_off
from ..torch_api.dynamo.process_state import begin, isolated
from ..torch_api.failures import failures
from ..torch_api.guards.guard_managers import KeptGuards, collecting_guards
from ..torch_api.guards.guard_timing import untimed
from ..torch_api.guards.size_guard_lines import SizeGuards
from ..torch_api.inductor import workers
from ..torch_api.inductor.captured_graph import Capture
from ..torch_api.inductor.codegen import CapturingBackend
from ..torch_api.inductor.dynamic_results import uses_aot_autograd
from ..torch_api.inductor.equal_kernels import EqualKernels
from ..torch_api.process.devices import settle
from ..torch_api.trace.graphs import collecting
from .pregenerated_code import Key as SettingsKey
from .pregenerated_code import PregeneratedCode, key_of_settings
from .subject_error import CALL_ERRORS


class Captured(msgspec.Struct, kw_only=True):
    """The result of one run under Dynamo, from which every variant that shares it is generated."""

    graphs: list[Capture] = []
    records: list[Record] = []
    nodes: dict[str, list[Node]] = {}
    problem: Problem | None = None
    """Why the capture ended early or is incomplete, if it is."""
    off: Problem | None = None
    """What kept torch from compiling, if something did."""
    evaluable_guards: EvaluableGuards | None = None
    """The guards of what Dynamo compiled."""
    size_guards: dict[SettingsKey, dict[str, SizeGuards]] = {}
    """Inductor's settings → what the code generated with them adds to the guards on sizes, by the
    report's compile id."""
    kernels: EqualKernels = msgspec.field(default_factory=EqualKernels)
    """Generated kernels that further variants reuse."""
    pregenerated: PregeneratedCode = msgspec.field(default_factory=PregeneratedCode)
    """Code that was generated together with another variant's."""
    shares: bool = False
    """Whether both wrappers have already been generated from one lowering."""
    took_s: float = 0.0
    """How long the run took."""
    context: contextvars.Context
    """Inductor's settings are context variables: another thread must take them from here."""

    def evaluable_guards_of(self, variant: Variant) -> EvaluableGuards | None:
        """The guards of a variant of Inductor, with those that its code adds once generated."""
        added = self.size_guards.get(key_of_settings(settings_of(variant)))
        if self.evaluable_guards is None or not added:
            return self.evaluable_guards
        return self.evaluable_guards.with_sizes(added)

    def fault(self, error: Exception) -> None:
        """Records that a graph could not be kept, for a reason other than the subject."""
        self.problem = self.problem or fault(error)


Key = tuple[bool | None, bool, str | None, bool]
"""The options of a variant that affect Dynamo: ``dynamic``, ``fullgraph``, ``guard_filter_fn``, and
whether its backend marks the dynamic sizes of results."""


def key_of(variant: Variant) -> Key:
    """Variants with the same key share a capture: Dynamo makes the same graphs and guards for them.

    ``dynamic`` None and False differ from the second size on, which a single call does not reach,
    and for sizes that the user marked; so they are kept apart only where something was marked.
    """
    marks_sizes = uses_aot_autograd(variant.backend)
    return variant.dynamic, variant.fullgraph, variant.options.get(GUARD_FILTER), marks_sizes


def capture(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    variant: Variant,
    code_copies: CodeCopies,
    *,
    within: Callable[[], AbstractContextManager[Any]] | None = None,
    explain: Callable[[BaseException], Problem] = failures.explain,
    traces_only: bool = False,
) -> Captured:
    """Runs as much of the subject as its graphs depend on; the caller restores its state.

    Failures of Dynamo and of the subject end the capture and become its ``problem``.

    Parameters
    ----------
    within
        Makes a context in which the graphs run; the code between them runs outside of it.
    explain
        Turns an exception into a problem.
    traces_only
        Whether no graph runs: the call is known to succeed, and its tensors have no data.
    """
    captured = Captured(
        context=contextvars.copy_context(), off=turned_off(), problem=other_backend()
    )
    code_set = code_copies.copy()
    guards: list[KeptGuards] = []
    with (
        gc_disabled(),
        code_copies.guarded(),
        isolated(),
        untimed(),
        workers.temporary(),
        quiet(),
        recording(captured.records),
        collecting(captured.nodes),
        collecting_guards(guards.append),
    ):
        begin()
        began = time.monotonic()
        code_copies.install(code_set)
        try:
            # Fails by itself where torch's cache folder cannot be made.
            compiled = compile_callable(
                fn,
                backend=CapturingBackend(
                    captured.graphs.append,
                    captured.fault,
                    within,
                    marks_sizes=uses_aot_autograd(variant.backend),
                    traces_only=traces_only,
                ),
                settings=guard_filter(variant) or None,
                dynamic=variant.dynamic,
                fullgraph=variant.fullgraph,
            )
            if captured.problem is None:
                needed_run.call(compiled, args, kwargs)
                settle()
        except CALL_ERRORS as error:
            captured.problem = explain(error)
        captured.took_s = time.monotonic() - began
    ids = numbers(captured.records)
    captured.evaluable_guards = EvaluableGuards(guards=by_report_id(guards, ids), code_set=code_set)
    captured.evaluable_guards.drop_compiled()
    return captured
