"""Files of results as tables and a chart."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

from .calls import WAYS


class Measured:
    """What files of this benchmark say of each model, in the order in which it stands there."""

    def __init__(self, files: list[Path]) -> None:
        self.first: dict[str, dict[str, list[float]]] = {}
        """Model → ``cold python``, … → seconds of each round."""
        self.to_python: dict[str, dict[str, list[float]]] = {}
        """Model → ``cold tiers`` and ``warm tiers`` → over the Python wrapper's, round by round."""
        self.latency: dict[str, dict[str, dict[str, Any]]] = {}
        """Model → ``before`` or ``after`` → the row."""
        for file in files:
            rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
            rounds: dict[tuple[str, str, int], float] = {}
            for row in rows:
                if row.get("what") == "first call":
                    place = f"{row['phase']} {row['way']}"
                    self.first.setdefault(row["model"], {}).setdefault(place, [])
                    self.first[row["model"]][place].append(row["first_s"])
                    rounds[row["model"], place, row["round"]] = row["first_s"]
                elif row.get("what") == "latency":
                    self.latency.setdefault(row["model"], {})[row["phase"]] = row
            for (name, place, number), seconds in rounds.items():
                phase, way = place.split()
                python = rounds.get((name, f"{phase} python", number))
                if way == "tiers" and python is not None:
                    ratios = self.to_python.setdefault(name, {})
                    ratios.setdefault(place, []).append(seconds / python)

    def table(self) -> str:
        """First calls, and latency, as two tables in Markdown."""
        places = [f"{phase} {way}" for phase in ("cold", "warm") for way in WAYS]
        lines = [f"| model | {' | '.join(places)} |", f"|{' --- |' * (len(places) + 1)}"]
        for name, seconds in self.first.items():
            cells = [
                f"{statistics.median(seconds[place]):.1f} s" if place in seconds else ""
                for place in places
            ]
            for place, ratios in self.to_python.get(name, {}).items():
                cells[places.index(place)] += f" ({statistics.median(ratios):.2f})"
            lines.append(f"| {title(name)} | {' | '.join(cells)} |")
        heads = ("Python, µs", "C++, µs", "before, to Python", "after, to C++", "after, to Python")
        lines += ["", f"| model | {' | '.join(heads)} |", f"|{' --- |' * (len(heads) + 1)}"]
        for name, phases in self.latency.items():
            before, after = phases["before"], phases["after"]
            cells = [f"{after['python_us']:,.0f}", f"{after['cpp_us']:,.0f}"]
            cells += [
                f"{row[f'to_{way}']:.2f} ({low:.2f} to {high:.2f})"
                for row, way in ((before, "python"), (after, "cpp"), (after, "python"))
                for low, high in [row[f"to_{way}_quartiles"]]
            ]
            lines.append(f"| {title(name)} | {' | '.join(cells)} |")
        return "\n".join(lines)

    def chart(self) -> Any:
        """First calls, cold and warm, in seconds, as a Plotly figure."""
        from plotly.graph_objects import Bar, Figure
        from wrappers import TITLES

        ways = {**TITLES, "tiers": ("tiers", "#228833")}
        figure = Figure()
        for way in WAYS:
            label, color = ways[way]
            for phase, pattern in (("cold", ""), ("warm", "/")):
                seconds = {
                    title(name).replace(", ", "<br>"): statistics.median(places[f"{phase} {way}"])
                    for name, places in self.first.items()
                    if f"{phase} {way}" in places
                }
                figure.add_trace(
                    Bar(
                        name=f"{label}, {'nothing cached' if phase == 'cold' else 'cached'}",
                        x=list(seconds),
                        y=list(seconds.values()),
                        text=[f"{value:.0f}" for value in seconds.values()],
                        textposition="outside",
                        cliponaxis=False,
                        marker={"color": color, "pattern": {"shape": pattern}},
                    )
                )
        figure.update_layout(
            barmode="group",
            template="plotly_white",
            legend={"orientation": "h", "y": 1.2},
            xaxis={"tickangle": 0},
            yaxis={
                "title": "first call, s",
                "type": "log",
                "tickvals": [1, 2, 5, 10, 20, 50],
                "range": [0, 2],
            },
            height=420,
            margin={"t": 40, "r": 20, "b": 50},
            font={"size": 13},
        )
        return figure


def title(name: str) -> str:
    """How a table names a model."""
    from wrappers import MODELS

    return MODELS.get(name, name)
