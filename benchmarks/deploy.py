"""The ways to deploy a model, compared: first calls, latency, what is shipped.

    python benchmarks/deploy.py --out results/ [--only transformer]

On the processor: the small models of ``benchmarks/subjects.py``, and ``gpt``, twelve layers of
width 256.
Each way is taken in processes of its own (``cs.study(report, "deploy")``), about a minute a way
with the C++ headers that an empty cache needs. Each report is saved, and its table printed with
what `Report.best` recommends for each objective.
"""

from __future__ import annotations

import argparse
import functools
from pathlib import Path

import compilescope as cs
import torch
from compilescope.views.rows import deploy
from real_subjects import gpt
from subjects import SUBJECTS

MODELS = {**SUBJECTS, "gpt": functools.partial(gpt(256), False, None)}


def measure(name: str, out: Path) -> None:
    """Compares the ways to deploy one model, saves the report and prints the table."""
    torch.manual_seed(0)
    fn, args = MODELS[name]()
    with torch.set_grad_enabled(name == "training"):
        report = cs.inspect(fn, args, variants="python", run=False)
        cs.study(report, "deploy")
    out.mkdir(parents=True, exist_ok=True)
    report.save(out / f"{name}-deploy.compilescope.json", redact=True)
    (variant,) = report.variants
    print(f"\n{name}, torch {torch.__version__}, {torch.get_num_threads()} threads")
    rows = [deploy.HEAD, *deploy.rows(variant)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(deploy.HEAD))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)))
    for line in deploy.remarks(variant)[1:]:
        print(f"- {line}")
    for objective in ("latency", "cold", "balanced"):
        print(f"{objective}: {report.best(objective).way.name}", flush=True)


def main() -> None:
    """Measures the models that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", action="append", choices=list(MODELS))
    options = parser.parse_args()
    for name in options.only or MODELS:
        measure(name, options.out)


if __name__ == "__main__":
    main()
