"""Keeps guard managers as Dynamo creates them, or finds them on code that it compiled.

Relies on ``torch._dynamo.guards`` (``CheckFunctionManager.__init__(self, f_code, output_graph)``,
its ``guard_manager`` and ``output_graph.local_scope``, as read in 2.13; if its arguments differ, no
guards are kept), ``GuardManagerWrapper`` (``root``, ``id_matched_objs``, ``global_scope``,
``closure_vars``), ``_debug_get_cache_entry_list`` (an entry's ``code``) and the names that
``torch._dynamo.bytecode_transformation.unique_id("__resume_at_…")`` makes. A cache entry has
``isolate_recompiles_id`` from 2.13 on.

A kept manager holds the C++ tree, which refers to values only by ``id``, by weak reference or as
constants. It keeps no tensor, no compiled code and no cache entry of Dynamo alive.
"""

from __future__ import annotations

import contextlib
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

import msgspec
from torch._C._dynamo import guards as guards_in_c
from torch._C._dynamo.eval_frame import _debug_get_cache_entry_list, reset_code
from torch._dynamo import config, guards
from torch._guards import CompileContext

from ..process.patching import patched
from .installed_names import BUILTINS, INSTALLED_BY_ID
from .size_guard_lines import SizeGuards


class KeptGuards(msgspec.Struct, kw_only=True):
    """The guards of one compilation, which can be evaluated."""

    compile_id: str
    """torch's own, as counted in this process; see `capture.renumber`."""
    code: types.CodeType
    """A copy of the frame's code: Dynamo's cache belongs to the original, which is not kept
    alive."""
    manager: Any
    """The ``GuardManagerWrapper``."""
    helpers: dict[str, Any] = {}
    """Globals that Dynamo installed in the user's module for these guards. It removes them together
    with the compiled code."""
    calls: Any = None
    """A weak reference to the frame's ``fn``, if the frame is Dynamo's wrapper function."""
    f_locals: dict[str, Any] | None = None
    """The frame's values when it was compiled, until `drop_values`."""

    backend: Any = None
    """The backend; known only for compilations that Dynamo caches."""
    resumes: bool = False
    """Whether the compiled code continues in another frame, after a graph break; known only for
    compilations that Dynamo caches."""
    installed: tuple[str, ...] = ()
    """The globals that Dynamo installed for the compiled code: its graph, and the functions that
    continue after a graph break; known only for compilations that Dynamo caches."""
    region: int = -1
    """The cache that holds the compilation: see `torch_api.dynamo.skipping.Wrapper`."""
    sizes: SizeGuards | None = None
    """What the code generated since added to the guards on sizes, which the manager lacks."""

    def drop_values(self) -> None:
        """Drops the references to the user's values."""
        self.f_locals = None

    def invalid(self) -> str:
        """Why these guards can never pass again; empty while they can.

        torch drops a compilation when an object dies that a guard matches by ``id``.
        """
        reason = getattr(self.manager, "invalidation_reason", None)
        if reason is not None:
            return str(reason)
        matched: Mapping[str, Any] = getattr(self.manager, "id_matched_objs", None) or {}
        dead = [source for source, reference in matched.items() if reference() is None]
        return f"{dead[0]}, which it knows by its identity, no longer exists." if dead else ""

    @contextlib.contextmanager
    def root_in_scope(self) -> Iterator[Any]:
        """The root guard manager, while the globals that its guards look up are installed."""
        namespace = self.globals()
        missing = {name: value for name, value in self.helpers.items() if name not in namespace}
        namespace.update(missing)
        try:
            yield self.manager.root
        finally:
            for name in missing:
                namespace.pop(name, None)

    def globals(self) -> dict[str, Any]:
        """The globals of the frame: the user's own dictionary."""
        namespace: dict[str, Any] = (self.manager.global_scope or {}).get("G", {})
        return namespace

    def scope(self, f_locals: dict[str, Any]) -> dict[str, Any]:
        """The namespace of a guard's expression, for these values of the frame."""
        return {
            **(self.manager.closure_vars or {}),
            "L": f_locals,
            "G": self.globals(),
        }


_sink: ContextVar[Callable[[KeptGuards], None] | None] = ContextVar(
    "compilescope_guards", default=None
)


@contextlib.contextmanager
def collecting_guards(
    sink: Callable[[KeptGuards], None], *, values: bool = False
) -> Iterator[None]:
    """Passes the guards of this context's compilations in the block to ``sink``.

    Parameters
    ----------
    values
        Whether to keep the frame's values; the caller drops them soon (`KeptGuards.drop_values`).
    """

    def keep(guards: KeptGuards) -> None:
        if not values:
            guards.drop_values()
        sink(guards)

    token = _sink.set(keep)
    try:
        with patched(guards.CheckFunctionManager, "__init__", _report_build):
            yield
    finally:
        _sink.reset(token)


_ARGUMENTS = ("f_code", "output_graph")


def _report_build(original: Any, self: Any, *args: Any, **more: Any) -> None:
    original(self, *args, **more)
    sink = _sink.get()
    named = {**dict(zip(_ARGUMENTS, args, strict=False)), **more}
    f_code, output_graph = (named.get(name) for name in _ARGUMENTS)
    if sink is None or not isinstance(f_code, types.CodeType):
        return
    scope = getattr(output_graph, "local_scope", None)
    sink(
        KeptGuards(
            compile_id=str(CompileContext.current_compile_id()),
            code=f_code.replace(),
            manager=self.guard_manager,
            helpers=_helpers(self.guard_manager),
            calls=_weakly(scope.get("fn")) if scope is not None else None,
            f_locals=dict(scope) if scope is not None else None,
        )
    )


def _weakly(value: Any) -> Any:
    try:
        return weakref.ref(value)
    except TypeError:
        return None


def _helpers(manager: Any) -> dict[str, Any]:
    """The globals that the tree refers to and that Dynamo, not the user, installed.

    These are a dictionary of builtins, a weak reference or a module, so keeping them keeps nothing
    else alive.
    """
    namespace = (manager.global_scope or {}).get("G", {})
    result = {}
    for child in manager.root.get_child_managers():
        if child.get_source() != "G":
            continue
        for accessor in child.get_child_managers():
            name = accessor.get_source().removeprefix("G['").removesuffix("']")
            value = namespace.get(name)
            dunder = name.startswith("__")
            passing = isinstance(value, (weakref.ref, types.ModuleType))
            if name.startswith(BUILTINS) or (
                passing and (dunder or INSTALLED_BY_ID.fullmatch(name))
            ):
                result[name] = value
    return result


GRAPH = "__compiled_fn_"
"""How Dynamo begins the global names of its graphs."""
_RESUME = "__resume_at_"
"""How Dynamo begins the global names of the functions that continue after a graph break."""


def live_guards(code: types.CodeType) -> list[KeptGuards]:
    """The guards of Dynamo's cache entries for a code object, in Dynamo's order.

    This finds guards by compile id for code that the user compiled. Their managers are the live
    ones, so call only ``check_verbose`` on them, which changes nothing.
    """
    return [
        KeptGuards(
            compile_id=str(entry.compile_id),
            code=code.replace(),
            manager=entry.guard_manager,
            backend=getattr(entry, "backend", None),
            resumes=any(name.startswith(_RESUME) for name in entry.code.co_names),
            installed=tuple(
                name for name in entry.code.co_names if name.startswith((GRAPH, _RESUME))
            ),
            region=getattr(entry, "isolate_recompiles_id", -1),
        )
        for entry in _debug_get_cache_entry_list(code)
    ]


def graph_names(kept: KeptGuards) -> set[str]:
    """Dynamo's names of the graphs of a live compilation, with those after its graph breaks."""
    names: set[str] = set()
    seen: set[types.CodeType] = set()
    pending = [kept]
    while pending:
        guards = pending.pop()
        namespace = guards.globals()
        for name in guards.installed:
            if name.startswith(GRAPH):
                names.add(name)
                continue
            code = getattr(namespace.get(name), "__code__", None)
            if isinstance(code, types.CodeType) and code not in seen:
                seen.add(code)
                pending.extend(live_guards(code))
    return names


_idle: list[Any] = []


def idle_check() -> Callable[[Any], bool]:
    """A guard that checks almost nothing: it shows the overhead of a call from Python."""
    if not _idle:
        root: Any = guards_in_c.RootGuardManager()
        root.add_not_none_guard(["idle"], None)
        # The root keeps the guard alive.
        _idle.extend([root.get_leaf_guards()[0].__call__, root])
    leaf: Callable[[Any], bool] = _idle[0]
    return leaf


def forget_compiled(codes: Iterable[types.CodeType]) -> None:
    """Makes Dynamo drop its compilations of code objects, which are then cheap to keep."""
    for code in codes:
        reset_code(code)


def recompile_limit() -> int:
    """How often torch compiles a frame before it falls back to eager."""
    return int(_dynamo_config().recompile_limit)


def _dynamo_config() -> Any:
    return config


def global_modes() -> str:
    """The active global modes that guards check, as torch dumps them; empty if it dumps none."""
    state: Any = guards_in_c.GlobalStateGuard()
    dump = getattr(state, "__getstate__", None)
    dumped = dump() if dump is not None else ""
    return dumped if isinstance(dumped, str) else ""
