"""The ways to deploy a model, compared: first calls, latency, what is shipped.

    python benchmarks/deploy.py --out results/ [--only transformer]
    python benchmarks/deploy.py --out results/ --only gpt --width 768 --layers 6 --device cuda
        --half
    python benchmarks/deploy.py --table results/deploy.jsonl

By default the seven models of ``benchmarks/wrappers.py``; ``--only`` also takes the small ones of
``benchmarks/subjects.py``, and ``gpt``, by default twelve layers of width 256. Each way is taken in
processes of its own (``cs.study(report, "deploy")``), about a minute a way with the C++ headers
that an empty cache needs; Ctrl-C leaves out the model's remaining ways. Each report is saved, its
table printed with what `Report.best` recommends for each objective, and its figures appended to
``deploy.jsonl``, a JSON object a model. The last command prints such a file as tables in Markdown.
What was measured is kept in ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import compilescope as cs
import msgspec
import torch
import wrappers
from compilescope.report import DeployWay
from compilescope.studies.deploy import candidates
from compilescope.views.rows import deploy
from real_subjects import gpt
from subjects import SUBJECTS

SMALL = {
    "small": SUBJECTS["mlp"],
    "transformer": SUBJECTS["transformer"],
    "training": SUBJECTS["training"],
}
CODE = {"code", "ship_code", "load_code", "contexts", "paste_code"}
"""Fields of a way that are no figures."""


def make(name: str, options: argparse.Namespace) -> tuple[Any, tuple[Any, ...]]:
    """A model and its input, where the command line wants them."""
    if name in wrappers.MODELS:
        return wrappers.make(name, options.device)
    torch.manual_seed(0)
    with torch.device(options.device):
        if name != "gpt":
            return SMALL[name]()
        model, args = gpt(options.width)(False, options.layers)
    assert isinstance(model, torch.nn.Module)
    return (model.half() if options.half else model), args


def measure(name: str, options: argparse.Namespace) -> None:
    """Compares the ways to deploy one model, saves the report and prints the table."""
    out = options.out
    fn, args = make(name, options)
    with torch.set_grad_enabled("train" in name):
        report = cs.inspect(fn, args, variants="python", run=False)
        choices = candidates.choices(fn, args, {}, report.variants[0])
        ways = [choice.name for choice in choices if choice.name not in options.without]
        try:
            cs.study(report, "deploy", ways=ways)
        except KeyboardInterrupt:
            print(f"{name} was interrupted: these ways were measured.")
    out.mkdir(parents=True, exist_ok=True)
    report.save(out / f"{name}-deploy.compilescope.json", redact=True)
    (variant,) = report.variants
    where = f"{torch.get_num_threads()} threads"
    if options.device == "cuda":
        where = torch.cuda.get_device_name()
    with (out / "deploy.jsonl").open("a") as file:
        print(figures_of(name, where, variant.ways), file=file)
    print(f"\n{name}, torch {torch.__version__}, {where}")
    rows = [deploy.TABLE.head, *deploy.rows(variant)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)))
    for line in deploy.remarks(variant)[1:]:
        print(f"- {line}")
    for objective in ("latency", "cold", "balanced"):
        print(f"{objective}: {report.best(objective).way.name}", flush=True)


def figures_of(name: str, where: str, ways: list[DeployWay]) -> str:
    """What is kept of one model, as JSON."""
    rows = [
        {field: value for field, value in msgspec.to_builtins(way).items() if field not in CODE}
        for way in ways
    ]
    return json.dumps({"model": name, "where": where, "torch": torch.__version__, "ways": rows})


def table(file: Path) -> str:
    """First calls with nothing cached and as shipped, and speedups over eager: a way a row."""
    models: dict[str, dict[str, DeployWay]] = {}
    for text in file.read_text().splitlines():
        row = json.loads(text)
        ways = msgspec.convert(row["ways"], list[DeployWay])
        models[row["model"]] = {way.name: way for way in ways}
    figures: dict[str, Callable[[DeployWay], str]] = {
        "nothing cached, s": lambda way: _seconds(way.cold_s),
        "as shipped, s": lambda way: _seconds(way.shipped_s),
        "later calls": lambda way: "" if way.speedup is None else way.speedup.text,
    }
    names = dict.fromkeys(name for ways in models.values() for name in ways)
    titles = [wrappers.MODELS.get(name, name) for name in models]
    lines = []
    for title, figure in figures.items():
        lines += ["", f"| {title} | {' | '.join(titles)} |", f"|{' --- |' * (1 + len(models))}"]
        for name in names:
            cells = [figure(ways[name]) if name in ways else "" for ways in models.values()]
            if any(cells):
                lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines[1:])


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def main() -> None:
    """Measures the models that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--out", type=Path, metavar="FOLDER")
    what.add_argument("--table", type=Path, metavar="FILE")
    parser.add_argument("--only", action="append", choices=(*wrappers.MODELS, *SMALL, "gpt"))
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--width", type=int, default=256, help="of the GPT; a multiple of 8")
    parser.add_argument("--layers", type=int, help="of the GPT; 12 by default")
    parser.add_argument(
        "--without", action="append", default=[], metavar="WAY", help="one that takes too long"
    )
    parser.add_argument("--half", action="store_true", help="the GPT in half precision")
    options = parser.parse_args()
    if options.table:
        print(table(options.table))
        return
    for name in options.only or wrappers.MODELS:
        measure(name, options)


if __name__ == "__main__":
    main()
