"""Runs in the other process: compiles a packed graph with the C++ wrapper.

Relies on ``torch._inductor.compile_fx`` (codegen_and_compile), on
``torch._inductor.compile_fx_ext`` and ``compile_fx_subproc`` (_run_in_child, the wire's input),
and ``CompiledFxGraph`` (guards_expr, prepare_for_serialization).
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

from ...process.patching import patched
from .library import Library, noting
from .packing import any_operator, enter
from .size_guards import size_guards
from .wrapper_modules import Module, compiled_module


def build(packed: bytes) -> bytes:
    """Compiles a packed graph under the C++ wrapper; gives what `loading.load` takes.

    Raises
    ------
    Exception
        Whatever torch raises.
    """
    from torch._inductor.compile_fx import _InProcessFxCompile
    from torch._inductor.compile_fx_ext import _WireProtocolPickledInput
    from torch._inductor.compile_fx_subproc import _SubprocessFxCompile

    job = pickle.loads(packed)
    enter(job["process"])
    built: list[bytes] = []
    modules: list[Module] = []
    libraries: list[Library] = []

    def keep(original: Any, self: Any, graph: Any, inputs: Any, *rest: Any) -> Any:
        compiled = original(self, graph, inputs, *rest)
        compiled.guards_expr = size_guards(inputs)
        # As torch's own cache keeps it: this loads with little else of Inductor.
        copied = copy.copy(compiled)
        copied.prepare_for_serialization()
        built.append(pickle.dumps(copied))
        modules.append(compiled_module(copied))
        return compiled

    with (
        patched(_InProcessFxCompile, "codegen_and_compile", keep),
        noting(libraries.append),
        any_operator(),
    ):
        _SubprocessFxCompile._run_in_child(_WireProtocolPickledInput(job["graph"]))
    details = {
        "settings": job["settings"],
        "module": tuple(modules[-1]),
        "library": tuple(libraries[-1]),
    }
    return pickle.dumps(details) + built[-1]
