"""The process of a first call: times what it imports, then the call itself."""

from __future__ import annotations

import gc
import pickle
import resource
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import psutil

from ...analysis.phases.compile_time import split, union_us
from ...processes.child import ChildProcess, serve
from ...processes.memory_status import status_bytes
from ...report import Compilation, Phase, Startup
from ...report.variant import Variant

if TYPE_CHECKING:
    from ...builds.build import Built
    from ...subject.pickled_subject import Call

COMMAND = (
    "import time; start = time.time(); {imports}; loaded = time.time(); "
    "from compilescope.studies.first_calls.startup_process import main; main(start, loaded)"
)
"""What the process runs. compilescope comes last: what it imports itself is not counted."""
_HEADERS = ("CppBuilder.preprocess_header", "CppBuilder.precompile_header")


def main(start: float, loaded: float) -> None:
    """Makes the first call and gives a `Startup` as JSON.

    Parameters
    ----------
    start, loaded
        When Python was ready, and when torch was loaded (seconds since the epoch).
    """
    serve(lambda inside: _work(inside, before(start, loaded)))


def before(start: float, loaded: float) -> float:
    """What the process took until torch was loaded (seconds)."""
    return (start - psutil.Process().create_time()) + loaded - start


def _work(inside: ChildProcess, imports_s: float) -> bytes:
    from ...torch_api.inductor import headers

    header = inside.header
    headers.keep_in(Path(header["caches"]) / "precompiled_headers")
    headers.precompile(header["precompiled_headers"])
    variant, call, took_s = unpack_task(inside)
    inside.step("compiling")
    startup, _ = first_call(inside, variant, call)
    startup.precompiled_headers = header["precompiled_headers"]
    startup.imports_s = imports_s + took_s
    return msgspec.json.encode(startup)


def unpack_task(
    inside: ChildProcess, calling: Callable[[str], None] = lambda what: None
) -> tuple[Variant, Call, float]:
    """What the process was given: a variant, and a call with its settings now in force.

    And how many seconds loading them took, which the subject's own imports are part of.

    Parameters
    ----------
    calling
        As for `pickled_subject.unpack`.
    """
    from ...subject.pickled_subject import unpack

    start_s = time.perf_counter()
    variant, packed = pickle.loads(inside.task())
    call = unpack(packed, calling)
    _name_in_main()
    return variant, call, time.perf_counter() - start_s


def _name_in_main() -> None:
    """Gives ``__main__`` the classes and functions of the sender's ``__main__``, pickled by value.

    Pickle then finds them by name, as in the sender's process: what ``aot_compile`` saves refers to
    the class of the model.
    """
    main = vars(sys.modules["__main__"])
    for value in gc.get_objects():
        # By its type: a proxy's __class__ may run code.
        kind = type(value)
        if issubclass(kind, type) or kind is types.FunctionType:
            name = value.__qualname__
            if value.__module__ == "__main__" and name.isidentifier():
                main.setdefault(name, value)


def first_call(inside: ChildProcess, variant: Variant, call: Call) -> tuple[Startup, Built]:
    """Compiles a call by making it: what that took, and what it returned."""
    from ...builds.build import build
    from ...isolation.code_swap import CodeCopies
    from ...isolation.own_backward import Backward
    from ...subject.functions import functions_of

    code_copies = CodeCopies(functions_of(*call))
    built = build(
        *call,
        name="startup",
        variant=variant,
        code_copies=code_copies,
        code_set=code_copies.copy(),
        folder=Path(inside.header["caches"]),
        backward=Backward({}),  # the arguments were made for this process,
    )
    startup = Startup(cache=inside.header["cache"], memory_bytes=most_held(), problem=built.problem)
    if built.problem is None:
        startup.first_call_s = built.first_call_s
        startup.parts = split(built.compilations, built.first_call_s).parts
        startup.headers_s = _headers_s(built.compilations)
    return startup, built


def _headers_s(compilations: list[Compilation]) -> float | None:
    phases = [phase for compilation in compilations for phase in _all(compilation.phases)]
    header_phases = [phase for phase in phases if phase.name in _HEADERS]
    return union_us(header_phases) / 1e6 if header_phases else None


def _all(phases: list[Phase]) -> list[Phase]:
    return [descendant for phase in phases for descendant in (phase, *_all(phase.children))]


def most_held() -> float:
    """The largest resident size of this process so far (bytes)."""
    # getrusage() also counts what the parent held when it started this one.
    peak_bytes = status_bytes("VmHWM")
    if peak_bytes is not None:
        return peak_bytes
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(most if sys.platform == "darwin" else most * 1024)
