"""The Python wrapper, the C++ wrapper and CUDA graphs beside eager, model by model, by `cs.sweep`.

    python benchmarks/wrappers.py --out results/ [--only gpt2 --only mlp] [--seconds 2]
    python benchmarks/wrappers.py --table results/ [--chart chart.html]

The first needs a CUDA device, `transformers` and `timm`; models are made from their configs, with
random weights. Every cell is compiled in empty caches in a process of its own and timed there in
turns with eager. Each model's sweep is saved as a report that JupyterLab opens. The second prints
the table, with the geometric mean of the C++ wrapper's speed-up over the Python wrapper, and
writes a chart of it. What was measured is kept in ``benchmarks/results``.

Python/C++ is the quotient of both speed-ups over eager, not of both medians: the processes ran at
different times, and a machine is not as quick at all of them.
"""

from __future__ import annotations

import argparse
import functools
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import compilescope as cs

VARIANTS = {
    "python": cs.Variant(),
    "cpp": cs.Variant(cpp_wrapper=True),
    "cudagraphs": cs.Variant(options={"triton.cudagraphs": True}),
}

BACKWARD = {"triton.autotune_at_compile_time": True, "triton.store_cubin": True}
"""What torch 2.11 sets for the C++ wrapper of a forward and not of a backward, which fails without
the second."""

TITLES = {
    "python": ("Python wrapper", "#4477aa"),
    "cpp": ("C++ wrapper", "#ee7733"),
    "cudagraphs": ("CUDA graphs", "#bbbbbb"),
}

MODELS = {
    "pointwise": "pointwise, 128 by 128",
    "mlp": "12-layer MLP 512",
    "gpt2": "GPT-2 small, 32 tokens",
    "bert": "BERT base, 128 tokens",
    "vit": "ViT-B/16",
    "resnet18": "ResNet-18",
    "train_mlp": "MLP, forward and backward",
}
"""Name → title. Inference at batch 1, fp16 on a GPU and fp32 on the CPU, but for the training step:
fp32, batch 64."""


def output_of(model: Any, name: str) -> Any:
    """The model as a module that returns one field of its output."""
    import torch

    class Output(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, ids: torch.Tensor) -> Any:
            return getattr(self.model(ids), name)

    return Output()


def make(name: str, on: str = "cuda") -> tuple[Any, tuple[Any, ...]]:
    """A model and its input. Runs in the process that measures."""
    import torch

    torch.manual_seed(0)
    device = torch.device(on)
    dtype = torch.half if on == "cuda" else torch.float

    def frozen(model: torch.nn.Module) -> torch.nn.Module:
        return model.to(device, dtype).eval().requires_grad_(False)

    if name == "pointwise":

        def pointwise(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return (x + y).relu().sum(-1)

        return pointwise, (
            torch.randn(128, 128, device=device),
            torch.randn(128, 128, device=device),
        )
    if name in ("mlp", "train_mlp"):
        layers = [
            torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.GELU(), torch.nn.LayerNorm(512))
            for _ in range(12)
        ]
        net = torch.nn.Sequential(*layers)
        if name == "mlp":
            return frozen(net), (torch.randn(1, 512, device=device, dtype=dtype),)
        net.to(device)

        # Only the model is compiled: not its loss, as in most training loops.
        @torch.compiler.disable
        def learn(out: torch.Tensor) -> torch.Tensor:
            loss: torch.Tensor = out.square().mean()
            loss.backward()
            return loss.detach()

        def step(x: torch.Tensor) -> torch.Tensor:
            return learn(net(x))

        return step, (torch.randn(64, 512, device=device),)
    if name == "gpt2":
        from transformers import GPT2Config, GPT2LMHeadModel

        gpt2 = frozen(GPT2LMHeadModel(GPT2Config(use_cache=False)))
        ids = torch.randint(0, 50_000, (1, 32), device=device)
        return output_of(gpt2, "logits"), (ids,)
    if name == "bert":
        from transformers import BertConfig, BertModel

        bert = frozen(BertModel(BertConfig()))
        ids = torch.randint(0, 30_000, (1, 128), device=device)
        return output_of(bert, "last_hidden_state"), (ids,)
    import timm

    known = {"vit": "vit_base_patch16_224", "resnet18": "resnet18"}
    image = torch.randn(1, 3, 224, 224, device=device, dtype=dtype)
    return frozen(timm.create_model(known[name], pretrained=False)), (image,)


def variants_of(name: str) -> dict[str, cs.Variant]:
    """What a model is swept under."""
    import torch

    if name != "train_mlp" or not torch.__version__.startswith("2.11."):
        return VARIANTS
    return {**VARIANTS, "cpp": cs.Variant(cpp_wrapper=True, options=BACKWARD)}


def measure(name: str, out: Path, seconds: float) -> None:
    """Sweeps one model and saves the report."""
    result = cs.sweep(
        factory=functools.partial(make, name),
        variants=variants_of(name),
        seconds=seconds,
        timeout_s=300,
        resume=False,
    )
    out.mkdir(parents=True, exist_ok=True)
    result.report.save(_file(out, name), redact=True)
    print(result, flush=True)


def table(folder: Path) -> str:
    """The kept sweeps as a table in Markdown."""
    heads = ("model", "eager, µs", *(f"{name} over eager" for name in VARIANTS), "Python/C++")
    heads += ("compile, Python", "compile, C++")
    rows = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    ratios = []
    for name, title in MODELS.items():
        if not _file(folder, name).exists():
            continue
        sweep = cs.load(_file(folder, name)).sweep
        assert sweep is not None
        cells = {cell.name: cell for cell in sweep.cells}
        python, cpp = cells["python"].timing, cells["cpp"].timing
        eager = python.ratio * python.median_us if python and python.ratio else None
        ratio = None
        if python and cpp and python.ratio and cpp.ratio:
            ratio = cpp.ratio / python.ratio
            ratios.append(ratio)
        row = [title, _us(eager), *(_speed_up(cells[key]) for key in VARIANTS)]
        row += ["" if ratio is None else f"{ratio:.2f}"]
        row += [_compile(cells["python"]), _compile(cells["cpp"])]
        rows.append(f"| {' | '.join(row)} |")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        rows.append(f"\nGeometric mean of Python/C++ over {len(ratios)} models: {mean:.2f}.")
    return "\n".join(rows)


def chart(folder: Path) -> Any:
    """Each variant's speed-up over eager, model by model, as a Plotly figure."""
    from plotly.graph_objects import Bar, Figure

    sweeps = {
        name: cs.load(path).sweep for name in MODELS if (path := _file(folder, name)).exists()
    }
    figure = Figure()
    for variant, (title, color) in TITLES.items():
        cells = [
            next(cell for cell in sweep.cells if cell.name == variant)
            for sweep in sweeps.values()
            if sweep is not None
        ]
        ratios = [cell.timing.ratio if cell.timing else None for cell in cells]
        figure.add_trace(
            Bar(
                name=title,
                x=[MODELS[name] for name in sweeps],
                y=ratios,
                text=["" if ratio is None else f"{ratio:.2f}" for ratio in ratios],
                marker_color=color,
            )
        )
    figure.add_hline(y=1, line_dash="dash", line_color="#666")
    figure.update_layout(
        barmode="group",
        template="plotly_white",
        legend={"orientation": "h", "y": 1.12},
        yaxis={
            "title": "times as fast as eager",
            "type": "log",
            "tickvals": [0.25, 0.5, 1, 2, 4, 8],
        },
        margin={"t": 40, "r": 20},
        font={"size": 14},
    )
    return figure


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.compilescope.json"


def _us(value: float | None) -> str:
    return "" if value is None else f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"


def _speed_up(cell: Any) -> str:
    return f"{cell.timing.ratio:.2f}" if cell.timing and cell.timing.ratio else cell.state


def _compile(cell: Any) -> str:
    return f"{cell.compile_time.total_s:.1f} s" if cell.compile_time else ""


def options_of(doc: str | None) -> argparse.ArgumentParser:
    """The options that the benchmarks of these models share; ``doc`` is the module's."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, help="measure; folder for the reports")
    parser.add_argument("--only", action="append", choices=list(MODELS))
    parser.add_argument("--table", type=Path, help="print the table of a folder of sweeps")
    parser.add_argument("--chart", type=Path, help="with --table: write the chart as a page")
    return parser


def run(
    parser: argparse.ArgumentParser,
    *,
    table: Callable[[Path], str],
    chart: Callable[[Path], Any],
    measure: Callable[[str, argparse.Namespace], None],
) -> None:
    """Measures each model, or prints what was measured, as the command line says."""
    options = parser.parse_args()
    if options.table:
        print(table(options.table))
        if options.chart:
            chart(options.table).write_html(options.chart)
    elif options.out:
        for name in options.only or MODELS:
            measure(name, options)
    else:
        parser.print_usage(sys.stderr)
        sys.exit(2)


def main() -> None:
    """Measures, or prints what was measured."""
    parser = options_of(__doc__)
    parser.add_argument("--seconds", type=float, default=2.0)
    run(
        parser,
        table=table,
        chart=chart,
        measure=lambda name, options: measure(name, options.out, options.seconds),
    )


if __name__ == "__main__":
    main()
