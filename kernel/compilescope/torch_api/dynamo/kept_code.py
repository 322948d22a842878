"""What Dynamo compiled for code that only an inspection calls, kept from one block to the next.

Between two blocks of `process_state.isolated` the compilations stay on the code objects, which
nobody else runs; the globals that Dynamo made for them in the user's modules (``__compiled_fn_…``,
``__resume_at_…``) are put aside. Stands on ``torch._dynamo.resume_execution``
(ContinueExecutionCache.generated_code_metadata) and ``torch._dynamo.utils`` (CleanupHook).
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any, NamedTuple

from torch._C._dynamo.eval_frame import reset_code
from torch._dynamo.resume_execution import ContinueExecutionCache

from .leftovers import Finalizers


class _Name(NamedTuple):
    """A global that Dynamo made."""

    scope: dict[str, Any]
    name: str
    value: Any


class KeptCode:
    """Code objects whose compilations are kept, each for one of several builds.

    The caller sees to it that nothing else runs them, and drops or releases them all in the end:
    what hangs on a code object is kept alive in ways that Python's garbage collector cannot see.
    """

    def __init__(self) -> None:
        self._own: dict[int, types.CodeType] = {}
        self._compiled: dict[int, types.CodeType] = {}
        self._names: dict[str, list[_Name]] = {}
        self._makers: dict[int, str] = {}
        self._build = ""
        self.finalizers = Finalizers()
        """Those of the guards of what is kept."""
        self.compiled = 0
        """How many compilations were made for code that is kept by then."""

    def own(self, codes: Iterable[types.CodeType]) -> None:
        """From now on, compilations for these are kept, and for what Dynamo makes of them."""
        self._own |= {id(code): code for code in codes}

    def begin(self, build: str) -> None:
        """What is compiled from now on belongs to this build."""
        self._build = build

    def note(self, code: types.CodeType, compiled: types.CodeType) -> None:
        """Dynamo has compiled ``code``: it runs as ``compiled`` from now on."""
        self._makers[id(compiled)] = self._build
        if self.has(code):
            self.compiled += 1

    def has(self, code: types.CodeType) -> bool:
        """Whether compilations for this code are kept: it is own, or resumes what is."""
        return id(_resumed(code)) in self._own

    def keep(self, code: types.CodeType) -> None:
        """Notes code that something was compiled for, to be cleared with the others."""
        self._compiled[id(code)] = code

    def put_aside(self, compiled: types.CodeType, hooks: Iterable[Any]) -> None:
        """Takes over the globals that Dynamo made for a compilation, with its hooks for them."""
        build = self._makers.get(id(compiled), self._build)
        names = self._names.setdefault(build, [])
        for hook in hooks:
            if hook.name in hook.scope:
                names.append(_Name(hook.scope, hook.name, hook.scope[hook.name]))
                hook()

    def lay_out(self) -> None:
        """Puts the globals where the compilations look for them."""
        for names in self._names.values():
            for scope, name, value in names:
                scope[name] = value

    def clear_away(self) -> None:
        """Takes them away again."""
        for names in self._names.values():
            for scope, name, _ in names:
                scope.pop(name, None)
        self._makers.clear()

    def drop(self, build: str, codes: Iterable[types.CodeType] = ()) -> None:
        """Lets a build's graphs go; its compilations stay, unused, on code that others share.

        Parameters
        ----------
        codes
            Those that no other build shares.
        """
        self._names.pop(build, None)
        gone = {id(code): code for code in codes}
        gone |= {key: code for key, code in self._compiled.items() if id(_resumed(code)) in gone}
        for key, code in gone.items():
            self._own.pop(key, None)
            self._compiled.pop(key, None)
            reset_code(code)
        self.finalizers.settle()

    def release(self) -> None:
        """Lets everything go."""
        for code in [*self._own.values(), *self._compiled.values()]:
            reset_code(code)
        self.finalizers.settle()
        self._own.clear()
        self._compiled.clear()
        self._names.clear()


def _resumed(code: types.CodeType) -> types.CodeType:
    """The code that a function which Dynamo made goes on with; ``code`` itself if it is none."""
    known = ContinueExecutionCache.generated_code_metadata
    while code in known:
        code = known[code].code
    return code
