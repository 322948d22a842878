"""What the first call costs under the C++ wrapper, model by model, and what shortens it.

    python benchmarks/cold.py --table results/ [--chart chart.html]
    python benchmarks/cold.py --out results/ [--only pointwise] [--variant cpp]

The first reads the sweeps that ``benchmarks/wrappers.py --out results/`` left: every cell of one
was compiled in empty caches in a process of its own. The table says what the first call took under
the Python wrapper and under the C++ wrapper, the quotient of both, and where the difference went;
the chart shows the quotients. The C++ headers were precompiled before: a sweep builds them once for
all of its cells and begins the cell anew.

The second measures what torch's settings change in it (``cs.study(report, "cold")``), on a machine
with a GPU: some twenty first calls a model. It saves each report and prints it.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import compilescope as cs
from wrappers import MODELS, TITLES, VARIANTS, make, options_of, run

PARTS = {"cpp_build": "C++ build", "triton": "Triton"}
"""What of a first call differs most between the wrappers."""


def first_calls(folder: Path) -> dict[str, dict[str, Any]]:
    """Model → variant → the first call's time, of the models that have both wrappers'."""
    result = {}
    for name in MODELS:
        path = folder / f"{name}.compilescope.json"
        sweep = cs.load(path).sweep if path.exists() else None
        if sweep is None:
            continue
        times = {cell.name: cell.compile_time for cell in sweep.cells if cell.compile_time}
        if {"python", "cpp"} <= times.keys():
            result[name] = times
    return result


def slow_down(times: dict[str, Any]) -> float:
    """The C++ wrapper's first call over the Python wrapper's."""
    quotient: float = times["cpp"].total_s / times["python"].total_s
    return quotient


def table(folder: Path) -> str:
    """The first calls as a table in Markdown."""
    heads = ["model", "Python wrapper", "C++ wrapper", "slow-down", "longer by"]
    heads += [f"of it {title}" for title in PARTS.values()]
    rows = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    slow_downs = []
    for name, times in first_calls(folder).items():
        python, cpp = times["python"], times["cpp"]
        slow_downs.append(slow_down(times))
        row = [MODELS[name], _s(python.total_s), _s(cpp.total_s), f"{slow_downs[-1]:.1f}x"]
        row += [_s(cpp.total_s - python.total_s)]
        row += [_s(cpp.parts.get(part, 0.0) - python.parts.get(part, 0.0)) for part in PARTS]
        rows.append(f"| {' | '.join(row)} |")
    if slow_downs:
        rows.append(
            f"\nGeometric mean of the slow-down over {len(slow_downs)} models: "
            f"{math.exp(sum(map(math.log, slow_downs)) / len(slow_downs)):.1f}."
        )
    return "\n".join(rows)


def chart(folder: Path) -> Any:
    """How many times as long the first call takes under the C++ wrapper, as a Plotly figure."""
    from plotly.graph_objects import Bar, Figure

    times_by_model = first_calls(folder)
    title, color = TITLES["cpp"]
    figure = Figure(
        Bar(
            name=title,
            x=[MODELS[name] for name in times_by_model],
            y=[slow_down(times) for times in times_by_model.values()],
            text=[
                f"{slow_down(times):.1f}x<br>{times['cpp'].total_s:.0f} s"
                f" / {times['python'].total_s:.1f} s"
                for times in times_by_model.values()
            ],
            textposition="outside",
            cliponaxis=False,
            marker_color=color,
        )
    )
    figure.add_hline(y=1, line_dash="dash", line_color="#666")
    figure.update_layout(
        template="plotly_white",
        yaxis={
            "title": "first call, C++ wrapper over Python wrapper",
            "type": "log",
            "tickvals": [1, 2, 5, 10, 20, 50],
            "range": [-0.1, 1.75],
        },
        margin={"t": 40, "r": 20},
        font={"size": 13},
    )
    return figure


def measure(name: str, variant: str, out: Path) -> None:
    """Studies one model's first call, setting by setting, and saves the report."""
    fn, args = make(name)
    report = cs.inspect(fn, args, variants={variant: VARIANTS[variant]}, run=False)
    cs.study(report, "cold")
    out.mkdir(parents=True, exist_ok=True)
    report.save(out / f"{name}-{variant}-cold.compilescope.json", redact=True)
    for row in report.variant(variant).cold:
        figures = [row.cold_s, row.warm_s, row.call_us]
        text = " ".join(
            f"{'' if figure is None else format(figure, '.2f'):>10}" for figure in figures
        )
        print(f"{text}  {row.switch} {row.value} {row.why}", flush=True)


def _s(seconds: float) -> str:
    return f"{seconds:.1f} s"


def main() -> None:
    """Measures, or prints the table of what was measured."""
    parser = options_of(__doc__)
    parser.add_argument("--variant", choices=list(VARIANTS), default="cpp")
    run(
        parser,
        table=table,
        chart=chart,
        measure=lambda name, options: measure(name, options.variant, options.out),
    )


if __name__ == "__main__":
    main()
