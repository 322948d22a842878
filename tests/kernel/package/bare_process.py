"""Run as a program: hides modules that are installed, then uses compilescope without them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

TRACE = "h200-torch2.11-mlp_b1_python.log.gz"


class Hiding:
    """A finder that does not find some modules."""

    def __init__(self, finder: Any, hidden: set[str]) -> None:
        self._finder = finder
        self._hidden = hidden

    def find_spec(self, name: str, *place: Any) -> Any:
        return None if name in self._hidden else self._finder.find_spec(name, *place)


def use(folder: Path) -> None:
    """Inspects, measures, saves, watches and reads a trace."""
    import compilescope as cs
    import torch

    def f(x: torch.Tensor) -> torch.Tensor:
        return (x.sin() + 1).sum(1)

    x = torch.randn(4, 8)
    report = cs.inspect(f, (x,), variants={"one": cs.Variant(backend="aot_eager")})
    cs.measure(report, seconds=0.01)
    (variant,) = report.variants[-1:]
    assert variant.stage == "built", variant.problems
    assert variant.timing is not None
    assert all(error.ok for error in variant.accuracy)
    sources = cs.inspect(f, (x,), run=False)
    assert sources.compilation("0/0", "cpp").code.cpp
    sources.save(folder / "report.html")
    assert "Code in a cell has no colors: Pygments is not installed" in sources._repr_html_()
    with cs.watch() as watched:
        compiled: Callable[..., Any] = torch.compile(f, backend="aot_eager")
        compiled(x)
    assert watched.compilations
    trace = Path(__file__).parents[2] / "data" / "traces" / TRACE
    assert cs.read_trace(trace).compilations


def main() -> None:
    hidden = set(sys.argv[1].split(","))
    sys.meta_path[:] = [Hiding(finder, hidden) for finder in sys.meta_path]
    for name in hidden:
        assert find_spec(name) is None
    use(Path(sys.argv[2]))


if __name__ == "__main__":
    main()
