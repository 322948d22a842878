"""Variants that were built and can be called again: to measure them, or to compare a new one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from ..isolation.code_swap import CodeCopies, CodeSet
from ..isolation.muted_output import quiet
from ..isolation.thread_switching import undisturbed
from ..isolation.user_state import Snapshot
from ..measure.stopwatch import Call
from ..progress.progress import Monitor
from ..report.variant import Variant
from ..torch_api.dynamo.compile_variant import ISOLATES
from ..torch_api.dynamo.compiled_graphs import KeptLayers
from ..torch_api.dynamo.kept_code import KeptCode
from ..torch_api.dynamo.process_state import begin, isolated
from ..torch_api.inductor import workers
from ..torch_api.process import caches
from ..torch_api.trace.compiled_callable import wrapper_code_of
from .build import Built
from .eager_call import eager_call
from .recompiling_calls import RecompilingCalls

MAX_BUILDS = 8
"""How many builds a subject keeps; the oldest is evicted first."""

EAGER = "eager"
COMPILES_NOTHING = "Eager compiles nothing."
"""Why eager has no compilations."""


class VariantBuild(msgspec.Struct, kw_only=True, eq=False):
    """A build. Call it inside `BuiltVariants.open`, while its code is installed."""

    variant: Variant
    compiled: Callable[..., Any]
    """What ``torch.compile`` returned."""
    call: Callable[[], object]
    code_set: CodeSet
    layers: KeptLayers


class BuiltVariants:
    """The builds of one subject.

    Parameters
    ----------
    fn, args, kwargs
        The call.
    code_copies
        The functions that it reaches.
    device
        The device of its tensors, except those on the CPU.

    Attributes
    ----------
    recompiling
        The calls in a row that recompile, for the guards of each variant, once `State` has made
        them.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        code_copies: CodeCopies,
        device: str = "cpu",
        *,
        has_worked: bool = False,
    ) -> None:
        self.fn, self.args, self.kwargs = fn, args, kwargs
        self.has_worked = has_worked
        self.device = device
        self.code_copies = code_copies
        self.recompiling: list[tuple[Variant, RecompilingCalls]] = []
        self._builds: dict[str, VariantBuild] = {}
        self._code = KeptCode()
        self._shared: CodeSet | None = None
        self._version = code_copies.version
        self._is_open = False
        self._is_closed = False

    @contextmanager
    def open(self) -> Iterator[None]:
        """The builds may be called in the block, and new ones made: Dynamo is isolated.

        Builds of functions whose code somebody has replaced since are dropped.
        """
        self.code_copies.renew()
        if self._version != self.code_copies.version:
            self._version = self.code_copies.version
            self.clear()
        self._is_open = True
        try:
            with self.code_copies.guarded(), isolated(self._code), workers.temporary():
                begin()
                self.install(None)
                yield
        finally:
            self._is_open = False
            if self._is_closed:
                self.clear()

    def code_set(self) -> CodeSet:
        """The code for a new build.

        All builds share one code set if compiled callables have separate caches, so that no code is
        swapped between two calls; otherwise each has its own.
        """
        if not ISOLATES:
            return self.code_copies.copy()
        if self._shared is None:
            self._shared = self.code_copies.copy()
        return self._shared

    def begin(self, name: str) -> None:
        """Assigns further compilations to this build, and drops an earlier one of that name."""
        self.drop(name)
        self._code.begin(name)

    def resume(self, name: str) -> None:
        """Assigns further compilations to a build that is kept."""
        self._code.begin(name)

    def add(self, built: Built, variant: Variant) -> None:
        """Keeps a build as the latest, and evicts the oldest if there are too many."""
        call, args, kwargs = built.call, self.args, self.kwargs
        self._builds[built.name] = VariantBuild(
            variant=variant,
            compiled=call,
            call=lambda: call(*args, **kwargs),
            code_set=built.code_set,
            layers=built.layers,
        )
        wrapper = wrapper_code_of(call)
        self._code.track([*built.code_set, *([wrapper] if wrapper is not None else [])])
        for name in list(self._builds)[:-MAX_BUILDS]:
            self.drop(name)

    def find(self, name: str, variant: Variant) -> VariantBuild | None:
        """The build of a variant, if it is kept."""
        kept_build = self._builds.get(name)
        return kept_build if kept_build is not None and kept_build.variant == variant else None

    def build(self, name: str) -> VariantBuild:
        """A build that is kept."""
        return self._builds[name]

    def holds(self, name: str, build: object) -> bool:
        """Whether a build is still the one of that name."""
        return self._builds.get(name) is build

    def calls(self, names: Sequence[str], snapshot: Snapshot) -> dict[str, Call]:
        """Eager's call and those of builds, by name."""
        builds = {name: self._builds[name].call for name in names if name != EAGER}
        return {EAGER: eager_call(self.fn, self.args, self.kwargs, snapshot), **builds}

    def installing_calls(self, names: Sequence[str], snapshot: Snapshot) -> dict[str, Call]:
        """The calls, each of which installs its build's code first."""

        def installing(name: str, call: Call) -> Call:
            def installed() -> object:
                self.install(name)
                return call()

            return installed

        return {name: installing(name, call) for name, call in self.calls(names, snapshot).items()}

    def needs(self, code_set: CodeSet) -> bool:
        """Whether a kept build needs what was compiled for a set of code."""
        return any(build.code_set is code_set for build in self._builds.values())

    def install(self, name: str | None) -> None:
        """Installs a build's code, unless all share one."""
        if ISOLATES:
            if name is None:
                self.code_copies.install(self.code_set())
        elif name in self._builds:
            self.code_copies.install(self._builds[name].code_set)

    def fit(
        self, requested: Mapping[str, Variant], snapshot: Snapshot, monitor: Monitor
    ) -> list[str]:
        """The requested variants whose builds may be called again; outdated builds are dropped.

        Parameters
        ----------
        requested
            Names and settings; those without a build are left out.
        snapshot
            The user's state, which is restored after each check.
        monitor
            Ends the checks when the job is canceled.
        """
        fit = []
        for name, variant in requested.items():
            if self.find(name, variant) is None:
                continue
            monitor.check()
            try:
                is_fit = self.is_fit(name)
            except Exception:  # noqa: BLE001 - it is built again, and says why it cannot be
                is_fit = False
            snapshot.restore()
            if is_fit:
                fit.append(name)
            else:
                self.drop(name)
        return fit

    def is_fit(self, name: str) -> bool:
        """Calls a build once; returns whether that ran the code compiled when it was built.

        If not, its guards failed: something that it depends on has changed, and torch recompiled.
        Library code after a graph break is always recompiled here, as its code is not kept.
        """
        self._code.begin(name)
        self.install(name)
        before = self._code.compiled
        with undisturbed(), caches.scratch(), quiet():
            self._builds[name].call()
        return self._code.compiled == before

    def drop(self, name: str) -> None:
        """Forgets a build."""
        gone = self._builds.pop(name, None)
        if gone is not None:
            self._code.drop(name, () if gone.code_set is self._shared else gone.code_set)

    def clear(self) -> None:
        """Forgets all builds."""
        self._builds.clear()
        self._code.release()
        self._shared = None
        self.recompiling.clear()

    def release(self) -> None:
        """Forgets all builds, unless they are in use; from any thread."""
        if not self._is_open:
            self.clear()

    def close(self) -> None:
        """Forgets all builds, and keeps none from now on; from any thread, at any time.

        If they are in use, this waits until they are not.
        """
        self._is_closed = True
        self.release()
