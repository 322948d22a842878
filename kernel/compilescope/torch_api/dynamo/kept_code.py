"""Keeps Dynamo's compilations of code that only an inspection calls, from one block to the next.

Between two blocks of `process_state.isolated` the compilations stay on the code objects, which
nothing else runs; the globals that Dynamo installed for them in the user's modules
(``__compiled_fn_…``, ``__resume_at_…``) are removed until the next block. Relies on
``torch._dynamo.resume_execution`` (ContinueExecutionCache.generated_code_metadata) and
``torch._dynamo.utils`` (CleanupHook).
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any, NamedTuple

from torch._C._dynamo.eval_frame import reset_code
from torch._dynamo.resume_execution import ContinueExecutionCache

from .retained_memory import Finalizers


class _Name(NamedTuple):
    """A global that Dynamo installed."""

    scope: dict[str, Any]
    name: str
    value: Any


class KeptCode:
    """Code objects whose compilations are kept, each for one of several builds.

    The caller makes sure that nothing else runs them, and drops or releases all of them in the end:
    Dynamo's cache on a code object keeps objects alive in ways that Python's garbage collector
    cannot see.
    """

    def __init__(self) -> None:
        self._own: dict[int, types.CodeType] = {}
        self._compiled: dict[int, types.CodeType] = {}
        self._names: dict[str, list[_Name]] = {}
        self._makers: dict[int, str] = {}
        self._build = ""
        self.finalizers = Finalizers()
        """The finalizers of the guards of kept compilations."""
        self.compiled = 0
        """How many compilations of kept code there have been."""

    def track(self, codes: Iterable[types.CodeType]) -> None:
        """Keeps, from now on, compilations of these code objects and of their resume functions."""
        self._own |= {id(code): code for code in codes}

    def begin(self, build: str) -> None:
        """Assigns everything compiled from now on to this build."""
        self._build = build

    def note_compiled(self, code: types.CodeType, compiled: types.CodeType) -> None:
        """Records that Dynamo compiled ``code``, which from now on runs as ``compiled``."""
        self._makers[id(compiled)] = self._build
        if self.has(code):
            self.compiled += 1

    def has(self, code: types.CodeType) -> bool:
        """Whether compilations of this code are kept: `track` got it, or it resumes such code."""
        return id(_resumed(code)) in self._own

    def add_compiled(self, code: types.CodeType) -> None:
        """Adds code that Dynamo compiled, whose compilations are cleared with the others."""
        self._compiled[id(code)] = code

    def take_over_globals(self, compiled: types.CodeType, hooks: Iterable[Any]) -> None:
        """Takes over the globals that Dynamo installed for a compilation, and their hooks."""
        build = self._makers.get(id(compiled), self._build)
        names = self._names.setdefault(build, [])
        for hook in hooks:
            if hook.name in hook.scope:
                names.append(_Name(hook.scope, hook.name, hook.scope[hook.name]))
                hook()

    def restore_globals(self) -> None:
        """Restores the globals that the compilations look up."""
        for names in self._names.values():
            for scope, name, value in names:
                scope[name] = value

    def clear_away(self) -> None:
        """Removes these globals again."""
        for names in self._names.values():
            for scope, name, _ in names:
                scope.pop(name, None)
        self._makers.clear()

    def drop(self, build: str, codes: Iterable[types.CodeType] = ()) -> None:
        """Drops a build's graphs; its compilations stay, unused, on code that other builds share.

        Parameters
        ----------
        codes
            The code objects that no other build shares.
        """
        self._names.pop(build, None)
        gone = {id(code): code for code in codes}
        gone |= {key: code for key, code in self._compiled.items() if id(_resumed(code)) in gone}
        for key, code in gone.items():
            self._own.pop(key, None)
            self._compiled.pop(key, None)
            reset_code(code)
        self.finalizers.remove_dropped()

    def release(self) -> None:
        """Drops everything."""
        for code in [*self._own.values(), *self._compiled.values()]:
            reset_code(code)
        self.finalizers.remove_dropped()
        self._own.clear()
        self._compiled.clear()
        self._names.clear()


def _resumed(code: types.CodeType) -> types.CodeType:
    """The original code that a resume function continues; ``code`` itself if it is none."""
    metadata = ContinueExecutionCache.generated_code_metadata
    while code in metadata:
        code = metadata[code].code
    return code
