"""The process of a first call: times what it imports, then the call itself."""

from __future__ import annotations

import pickle
import re
import resource
import sys
import time
from pathlib import Path

import msgspec
import psutil

from ..analysis.compile_time import split, union_us
from ..report import Compilation, Phase, Startup
from .inside import Inside, serve

COMMAND = (
    "import time; start = time.time(); {imports}; loaded = time.time(); "
    "from compilescope.compiler.startup_process import main; main(start, loaded)"
)
"""What the process runs. compilescope comes last: what it imports itself is not counted."""
_STATUS = Path("/proc/self/status")
_HEADERS = ("CppBuilder.preprocess_header", "CppBuilder.precompile_header")


def main(start: float, loaded: float) -> None:
    """Makes the first call and gives a `Startup` as JSON.

    Parameters
    ----------
    start, loaded
        When Python was ready, and when torch was loaded (seconds since the epoch).
    """
    serve(lambda inside: _work(inside, (start - psutil.Process().create_time()) + loaded - start))


def _work(inside: Inside, imports_s: float) -> bytes:
    from ..torch_api import headers
    from .building import build
    from .callees import functions_of
    from .shipping import unpack
    from .wardrobe import Wardrobe

    asked = inside.header
    caches = Path(asked["caches"])
    headers.keep_in(caches / "precompiled_headers")
    headers.precompile(asked["precompiled_headers"])
    begun = time.perf_counter()
    variant, packed = pickle.loads(inside.task())
    call = unpack(packed)
    imports_s += time.perf_counter() - begun
    inside.step("compiling")
    wardrobe = Wardrobe(functions_of(*call))
    built = build(
        *call,
        name="startup",
        variant=variant,
        wardrobe=wardrobe,
        outfit=wardrobe.outfit(),
        folder=caches,
        gradients=dict,
    )
    startup = Startup(
        cache=asked["cache"],
        precompiled_headers=asked["precompiled_headers"],
        imports_s=imports_s,
        memory_bytes=_most_held(),
        problem=built.problem,
    )
    if built.problem is None:
        startup.first_call_s = built.first_call_s
        startup.parts = split(built.compilations, built.first_call_s).parts
        startup.headers_s = _headers_s(built.compilations)
    return msgspec.json.encode(startup)


def _headers_s(compilations: list[Compilation]) -> float | None:
    phases = [phase for one in compilations for phase in _all(one.phases)]
    found = [phase for phase in phases if phase.name in _HEADERS]
    return union_us(found) / 1e6 if found else None


def _all(phases: list[Phase]) -> list[Phase]:
    return [one for phase in phases for one in (phase, *_all(phase.children))]


def _most_held() -> float:
    """The largest resident size of this process so far (bytes)."""
    if _STATUS.exists():
        # getrusage() also counts what the parent held when it started this one.
        found = re.search(r"VmHWM:\s+(\d+) kB", _STATUS.read_text())
        if found:
            return float(found[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(most if sys.platform == "darwin" else most * 1024)
