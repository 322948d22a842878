"""What examples/symptoms/latent_ode.py, the README's story, says of its two versions."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import torch

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "symptoms" / "latent_ode.py"


def test_as_written_it_recompiles_to_the_limit_and_breaks_and_changed_it_does_neither() -> None:
    spec = importlib.util.spec_from_file_location("latent_ode", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    torch.manual_seed(0)
    counting, plain = example.CountingField(), example.LatentField()
    plain.load_state_dict(counting.state_dict())
    x = torch.randn(100, 4)
    # Dynamo decides both: no code need be generated.
    _, before = example.watched(example.step_as_written, counting, x, backend="eager")
    _, after = example.watched(example.step_changed, plain, x, backend="eager")
    assert example.counts(before) == (
        "10 compilations, 7 recompiles, the graph breaks at 1 place(s)"
    )
    assert example.counts(after) == ("1 compilations, 0 recompiles, the graph breaks at 0 place(s)")
    guards = {
        f.guard
        for c in before.variants[0].compilations
        if c.recompile
        for f in c.recompile.failures
    }
    assert all("evaluations ==" in guard for guard in guards)
