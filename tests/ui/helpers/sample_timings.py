"""A stored report with rounds of made-up times, on all the surfaces that Python writes.

``python sample_timings.py REPORT FOLDER`` writes ``page.html``, ``cell.html`` and ``printed.txt``,
and prints the figure of each pair of variants as JSON: ``{"cpp over eager": "2.50× faster"}``.
"""  # noqa: RUF002

import json
import random
import statistics
import sys
from itertools import permutations
from pathlib import Path

import compilescope as cs
from compilescope.analysis.figures.intervals import median_interval, ratio
from compilescope.analysis.figures.speedups import between, speedup
from compilescope.analysis.overview.limit_verdict import verdict
from compilescope.report import Layer, Layers
from compilescope.report.measurements.sweeps import Sweep, SweepCell
from compilescope.report.measurements.timings import RatioAtRound
from compilescope.sweep.ranking import rank

MEDIANS_US = {"eager": 100.0, "python": 50.0, "cpp": 40.0}
ROUNDS = 64
LAYERS_US = {"guards": 10.0, "wrapper": 25.0, "kernels": 15.0}


def main(source, folder):
    """Write all surfaces of one report."""
    report = cs.load(source)
    chance = random.Random(7)
    load = [1 + abs(chance.gauss(0, 0.05)) for _ in range(ROUNDS)]
    rounds = {
        name: [us * busy * chance.lognormvariate(0, 0.01) for busy in load]
        for name, us in MEDIANS_US.items()
    }
    for variant in report.variants:
        timing, samples = variant.timing, rounds[variant.name]
        timing.samples_us, timing.median_us = samples, statistics.median(samples)
        timing.interval_us, timing.turns, timing.first_round = median_interval(samples), "a", 0
        timing.fill_interval()
        timing.running = []
        if variant.name != "eager":
            measured = ratio(rounds["eager"], samples)
            timing.ratio, timing.ratio_interval, timing.differs = measured
            timing.speedup = speedup(measured, "eager")
            timing.running = [
                RatioAtRound(rounds_so_far, earlier.value, earlier.interval)
                for rounds_so_far in (8, 16, 32, ROUNDS)
                if (earlier := ratio(rounds["eager"][:rounds_so_far], samples[:rounds_so_far]))
            ]
    python = report.variant("python")
    layers = [Layer(kind=kind, us=us) for kind, us in LAYERS_US.items()]
    whole_us = sum(LAYERS_US.values())
    python.layers = [Layers(whole_us=whole_us, sum_us=whole_us, layers=layers)]
    for variant in report.variants:
        variant.verdict = verdict(variant, report)
    cells = [
        SweepCell(
            key=variant.name,
            name=variant.name,
            variant=variant.requested,
            state="done",
            timing=variant.timing,
        )
        for variant in report.variants
    ]
    report.sweep = Sweep(id="s", cells=cells, state="done")
    rank(report.sweep)
    report.save(folder / "page.html")
    (folder / "cell.html").write_text(report._repr_html_(), encoding="utf-8")
    (folder / "printed.txt").write_text(str(report), encoding="utf-8")
    pairs = permutations(report.variants, 2)
    figures = {f"{first.name} over {other.name}": between(first, other) for first, other in pairs}
    json.dump(
        {pair: candidate.text for pair, candidate in figures.items() if candidate}, sys.stdout
    )


main(Path(sys.argv[1]), Path(sys.argv[2]))
