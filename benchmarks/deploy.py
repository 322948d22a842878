"""The ways to deploy a model, compared: first calls, latency, what is shipped.

    python benchmarks/deploy.py --out results/ [--only transformer]
    python benchmarks/deploy.py --out results/ --only gpt --width 768 --layers 6 --device cuda
        --half

The small models of ``benchmarks/subjects.py``, and ``gpt``, by default twelve layers of width 256;
with ``--device cuda`` those of ``benchmarks/wrappers.py``. Each way is taken in processes of its
own (``cs.study(report, "deploy")``), about a minute a way with the C++ headers that an empty cache
needs; Ctrl-C leaves out the model's remaining ways. Each report is saved, and its table printed
with what `Report.best` recommends for each objective.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any
from unittest import mock

import compilescope as cs
import torch
import wrappers
from compilescope.studies.deploy import deploy as study
from compilescope.torch_api.dynamo.compile_variant import modes
from compilescope.views.rows import deploy
from real_subjects import gpt
from subjects import SUBJECTS

CPU_MODELS = (*SUBJECTS, "gpt")
GPU_MODELS = (*wrappers.MODELS, "gpt")


def make(name: str, options: argparse.Namespace) -> tuple[Any, tuple[Any, ...]]:
    """A model and its input, where the command line wants them."""
    if options.device == "cuda" and name in wrappers.MODELS:
        return wrappers.make(name)
    torch.manual_seed(0)
    with torch.device(options.device):
        if name != "gpt":
            return SUBJECTS[name]()
        model, args = gpt(options.width)(False, options.layers)
    assert isinstance(model, torch.nn.Module)
    return (model.half() if options.half else model), args


def measure(name: str, options: argparse.Namespace) -> None:
    """Compares the ways to deploy one model, saves the report and prints the table."""
    out = options.out
    fn, args = make(name, options)
    measured = tuple(mode for mode in modes() if mode not in options.without)
    with (
        torch.set_grad_enabled("train" in name),
        mock.patch.object(study, "modes", return_value=measured),
    ):
        report = cs.inspect(fn, args, variants="python", run=False)
        try:
            cs.study(report, "deploy")
        except KeyboardInterrupt:
            print(f"{name} was interrupted: these ways were measured.")
    out.mkdir(parents=True, exist_ok=True)
    report.save(out / f"{name}-deploy.compilescope.json", redact=True)
    (variant,) = report.variants
    where = f"{torch.get_num_threads()} threads"
    if options.device == "cuda":
        where = torch.cuda.get_device_name()
    print(f"\n{name}, torch {torch.__version__}, {where}")
    rows = [deploy.TABLE.head, *deploy.rows(variant)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
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
    parser.add_argument("--only", action="append", metavar="MODEL")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--width", type=int, default=256, help="of the GPT; a multiple of 8")
    parser.add_argument("--layers", type=int, help="of the GPT; 12 by default")
    parser.add_argument(
        "--without", action="append", default=[], metavar="MODE", help="one that takes too long"
    )
    parser.add_argument("--half", action="store_true", help="the GPT in half precision")
    options = parser.parse_args()
    models = GPU_MODELS if options.device == "cuda" else CPU_MODELS
    for name in options.only or models:
        if name not in models:
            parser.error(f"There is no model {name!r}: choose from {', '.join(models)}.")
    for name in options.only or models:
        measure(name, options)


if __name__ == "__main__":
    main()
