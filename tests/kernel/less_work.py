"""Less of what each compilation and each measurement does, where no test looks at it.

In the tests' process, in the processes that it starts, and in the kernels of notebooks and of the
browser tests.
"""

from __future__ import annotations

import math
from typing import Any

from compilescope.builds import build_and_time
from compilescope.inspection import first_timings
from compilescope.measure import layers as timed_layers
from compilescope.measure import peaks, timing
from compilescope.report.tiers import SwapGain
from compilescope.studies import kernels, steps
from compilescope.studies.layers import layers
from compilescope.torch_api.inductor import ahead_of_time
from torch._dynamo import guards
from torch._inductor import dtype_propagation, utils


def less_compiling() -> None:
    """Compilations do without what takes a sixth of a small one's time.

    Dynamo times its new guards, and flushes the processor's caches for that: 20 ms. Inductor fills
    its table of the operators' types again for each value of a kernel: 60 µs.
    """
    guards.profile_guard_manager = lambda *_: 0.0

    handler = dtype_propagation.DtypePropagationOpsHandler
    fill, filled = handler.__init__, -1

    def fill_once(self: dtype_propagation.DtypePropagationOpsHandler) -> None:
        nonlocal filled
        # There is one handler. Rules are added while Inductor is imported.
        if filled != (rules := len(utils.op_dtype_propagation_rules)):
            fill(self)
            filled = rules

    handler.__init__ = fill_once  # type: ignore[method-assign]


MEASURED_SLOWER = SwapGain.is_slower


def keep_slower_wrappers() -> None:
    """Tiers keep a C++ wrapper that measured as slower: calls of so small graphs are about equal.

    Which wrapper serves would depend on the machine's load. A test of the return to the Python
    wrapper restores `MEASURED_SLOWER`.
    """
    SwapGain.is_slower = property(lambda gain: False)  # type: ignore[method-assign, assignment]


def short_timing() -> None:
    """Builds and studies are timed for a tenth as long as they are for a user.

    The minimum number of rounds is taken however long that takes, and all variants are timed
    together however long the first build takes: no test depends on the machine.
    """
    first_timings.LONG_S = math.inf
    build_and_time.SECONDS_PER_VARIANT, build_and_time.MAX_SLOW_CALLS_S = 0.04, 0.1
    layers.SECONDS = 0.3
    timed_layers.OVERTIME = timing.OVERTIME = math.inf
    kernels.SECONDS = 0.2
    peaks._COPY_S = peaks._PRODUCT_S = 0.03
    steps.SECONDS = 0.4


def short_timing_in_processes() -> None:
    """As `short_timing`, also for the programs that this process becomes."""
    short_timing()
    time_calls = timing.time_calls

    def short(calls: Any, *, budget_s: float, **more: Any) -> Any:
        return time_calls(calls, budget_s=0.1 * budget_s, **more)

    timing.time_calls = short
    packages_without_optimization()


def packages_without_optimization() -> None:
    """AOTInductor precompiles no headers for a wrapper, and the compiler does not optimize it."""
    package = ahead_of_time.package
    quick = {
        "aot_inductor.precompile_headers": False,
        "aot_inductor.compile_wrapper_opt_level": "O0",
    }

    def package_quickly(program: Any, path: Any, settings: Any) -> Any:
        # Sources alone show the settings that they have.
        sources = "aot_inductor.package_cpp_only" in settings
        return package(program, path, settings if sources else {**quick, **settings})

    ahead_of_time.package = package_quickly
