"""Shows what torch.compile did with your code, in the notebook where you wrote it.

>>> import compilescope as cs
>>> report = cs.inspect(fn, (x,), run=False)
>>> "async_compile" in report.compilation("0/0").code.python
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# The first import of a subpackage binds its name here and would hide a function of that name, so
# these packages are imported first. `from compilescope.measure import …` still works.
from . import measure as _measure  # noqa: F401
from . import sweep as _sweep  # noqa: F401
from . import tiers as _tiers  # noqa: F401
from .api.inspecting import chart, inspect, measure, reproducer
from .api.installation import configure, doctor
from .api.reading import load, open_package, read_trace
from .api.recording import budget, watch, what_if
from .api.sweeping import add_target, grid, plan_sweep, ranks, sweep
from .api.tiering import pin_tier, tiered, tiers
from .version import __version__

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from .api.studying import study
    from .budgets.budget import BudgetError
    from .report import CompilescopeError, Report, Variant
    from .tiers.tier_warning import TierWarning

__all__ = [
    "BudgetError",
    "CompilescopeError",
    "Report",
    "TierWarning",
    "Variant",
    "__version__",
    "add_target",
    "budget",
    "chart",
    "configure",
    "doctor",
    "grid",
    "inspect",
    "load",
    "measure",
    "open_package",
    "pin_tier",
    "plan_sweep",
    "ranks",
    "read_trace",
    "reproducer",
    "study",
    "sweep",
    "tiered",
    "tiers",
    "watch",
    "what_if",
]

_LATE = {
    "BudgetError": ".budgets.budget",
    "CompilescopeError": ".report.errors",
    "Report": ".report",
    "TierWarning": ".tiers.tier_warning",
    "Variant": ".report",
    "study": ".api.studying",
}
"""Names that are imported on first use, so that a command imports only what it needs."""


def __getattr__(name: str) -> Any:
    if name in _LATE:
        globals()[name] = getattr(importlib.import_module(_LATE[name], __name__), name)
        return globals()[name]
    if name == "report":
        return importlib.import_module(".report", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "report", *(name for name in globals() if name.startswith("__"))]


def load_ipython_extension(shell: InteractiveShell) -> None:
    """``%load_ext compilescope``: registers the magics and connects the panel."""
    from .notebook import magic

    magic.load_ipython_extension(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """``%unload_ext compilescope``."""
    from .notebook import magic

    magic.unload_ipython_extension(shell)
