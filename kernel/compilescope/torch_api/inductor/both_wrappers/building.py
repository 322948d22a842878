"""Runs in the other process: compiles a packed graph with the C++ wrapper.

Relies on ``torch._inductor.compile_fx`` (codegen_and_compile), on
``torch._inductor.compile_fx_ext`` and ``compile_fx_subproc`` (_run_in_child, the wire's input),
``CompiledFxGraph`` (guards_expr, prepare_for_serialization) and ``cpu_vec_isa.valid_vec_isa_list``.
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

from ...process.patching import patched
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
    from torch._inductor.cpu_vec_isa import valid_vec_isa_list

    job = pickle.loads(packed)
    enter(job["process"])
    built: list[bytes] = []
    modules: list[Module] = []

    def keep(original: Any, self: Any, graph: Any, inputs: Any, *rest: Any) -> Any:
        compiled = original(self, graph, inputs, *rest)
        compiled.guards_expr = size_guards(inputs)
        # As torch's own cache keeps it: this loads with little else of Inductor.
        copied = copy.copy(compiled)
        copied.prepare_for_serialization()
        built.append(pickle.dumps(copied))
        modules.append(compiled_module(copied))
        return compiled

    with patched(_InProcessFxCompile, "codegen_and_compile", keep), any_operator():
        _SubprocessFxCompile._run_in_child(_WireProtocolPickledInput(job["graph"]))
    details = {
        "settings": job["settings"],
        "module": tuple(modules[-1]),
        # With what torch notes in them when it tries them.
        "vector_instructions": valid_vec_isa_list(),
    }
    return pickle.dumps(details) + built[-1]
