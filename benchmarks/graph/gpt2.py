"""Make the graphs of GPT-2 (12 layers, from its configuration) that the benchmark draws.

Needs transformers. Writes ``data/gpt2.json.gz``: by stage the nodes, each as a list in the order of
``FIELDS``.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import compilescope as cs
import torch
from transformers import GPT2Config, GPT2LMHeadModel

FIELDS = ("name", "op", "target", "inputs", "shape", "dtype", "module", "module_type", "origins")
OUT = Path(__file__).parent / "data" / "gpt2.json.gz"


def main() -> None:
    torch.manual_seed(0)
    config = GPT2Config(n_layer=12, n_embd=96, n_head=4, vocab_size=500, use_cache=False)
    model = GPT2LMHeadModel(config)
    ids = torch.randint(0, 500, (1, 32))

    def loss(ids: torch.Tensor) -> torch.Tensor:
        return model(ids, labels=ids).loss

    stages: dict[str, Any] = {}
    model.eval()
    with torch.no_grad():
        stages |= collect(cs.inspect(model, (ids,), variants=("python",), run=False), "post_grad")
    model.train()
    report = cs.inspect(loss, (ids,), variants=("python",), run=False)
    stages |= collect(report, "joint", "backward_post_grad")
    write(stages)


def collect(report: cs.Report, *names: str) -> dict[str, Any]:
    """The largest compilation's graphs at some stages."""
    compilations = report.variants[0].compilations
    largest = max(
        compilations,
        key=lambda compilation: sum(len(graph.nodes) for graph in compilation.graphs.values()),
    )
    return {
        name: [[getattr(node, field) for field in FIELDS] for node in largest.graphs[name].nodes]
        for name in names
    }


def write(stages: dict[str, Any]) -> None:
    OUT.parent.mkdir(exist_ok=True)
    text = json.dumps({"fields": FIELDS, "stages": stages}, separators=(",", ":"))
    OUT.write_bytes(gzip.compress(text.encode(), mtime=0))
    sys.stdout.write(f"{OUT.name}: {', '.join(f'{s} {len(n)}' for s, n in stages.items())}\n")


if __name__ == "__main__":
    main()
