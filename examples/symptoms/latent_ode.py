"""A latent ODE that torch.compile made no faster, and what a report said about it.

    python examples/symptoms/latent_ode.py         # what is compiled, before and after; times
    python examples/symptoms/latent_ode.py --save  # also saves both reports as pages

The model is the vector field of the latent ODE of Chen et al., "Neural Ordinary Differential
Equations" (2018): three linear layers of width 20 on 4 latent dimensions, which count how often
they are evaluated, as the public implementation (rtqichen/torchdiffeq, examples/latent_ode.py)
does. The solver is Dormand and Prince's with adaptive steps, one trial step per call. Weights are
random.

The processor's time is measured, on one thread, in turns: other work on the machine disturbs it
less than the wall clock, and what disturbs one row disturbs all.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import compilescope as cs
import torch
from torch import Tensor, nn

STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
TIMES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
FOURTH_ORDER = (
    5179 / 57600,
    0.0,
    7571 / 16695,
    393 / 640,
    -92097 / 339200,
    187 / 2100,
    1 / 40,
)

Field = Callable[[Tensor, Tensor], Tensor]
Step = Callable[[Field, Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]


class LatentField(nn.Module):
    """dx/dt of the latent state."""

    def __init__(self, latent: int = 4, hidden: int = 20) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(latent, hidden),
            nn.ELU(),
            nn.Linear(hidden, hidden),
            nn.ELU(),
            nn.Linear(hidden, latent),
        )

    def forward(self, t: Tensor, x: Tensor) -> Tensor:
        return self.layers(x)


class CountingField(LatentField):
    """The same, which counts its evaluations: a number kept in a module."""

    def __init__(self) -> None:
        super().__init__()
        self.evaluations = 0

    def forward(self, t: Tensor, x: Tensor) -> Tensor:
        self.evaluations += 1
        return super().forward(t, x)


def weighted(weights: tuple[float, ...], slopes: list[Tensor]) -> Tensor:
    return sum(w * slope for w, slope in zip(weights, slopes, strict=False) if w)  # type: ignore[return-value]


def trial(field: Field, t: Tensor, x: Tensor, dt: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The state after a step, its error relative to what is tolerated, and the factor for dt."""
    slopes = [field(t, x)]
    after = x
    for weights, at in zip(STAGES, TIMES, strict=False):
        after = x + dt * weighted(weights, slopes)
        slopes.append(field(t + at * dt, after))
    error = after - x - dt * weighted(FOURTH_ORDER, slopes)
    tolerated = 1e-6 + 1e-5 * torch.maximum(x.abs(), after.abs())
    ratio = (error / tolerated).square().mean().sqrt()
    return after, ratio, (0.9 * ratio**-0.2).clamp(0.2, 5.0)


def step_as_written(
    field: Field, t: Tensor, x: Tensor, dt: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    after, ratio, factor = trial(field, t, x, dt)
    if ratio <= 1:  # Python needs to know a tensor's value: the graph breaks here
        t, x = t + dt, after
    return t, x, dt * factor


def step_changed(field: Field, t: Tensor, x: Tensor, dt: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    after, ratio, factor = trial(field, t, x, dt)
    accepted = ratio <= 1
    return torch.where(accepted, t + dt, t), torch.where(accepted, after, x), dt * factor


@torch.no_grad()
def integrate(step: Step, field: Field, x: Tensor, end: float = 20.0) -> Tensor:
    t, dt = torch.tensor(0.0), torch.tensor(0.1)
    while t < end:
        t, x, dt = step(field, t, x, torch.minimum(dt, end - t))
    return x


def watched(step: Step, field: Field, x: Tensor, **settings: Any) -> tuple[Step, cs.Report]:
    """The compiled step, and what one integration compiled."""
    compiled = torch.compile(step, **settings)
    with cs.watch() as report:
        integrate(compiled, field, x)
    return compiled, report


def counts(report: cs.Report) -> str:
    [variant] = report.variants
    # Beyond the recompile limit torch compiles nothing.
    recompiles = sum(
        compilation.recompile is not None and compilation.outcome == "compiled"
        for compilation in variant.compilations
    )
    return (
        f"{len(variant.compilations)} compilations, {recompiles} recompiles, "
        f"the graph breaks at {len(variant.breaks)} place(s)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    counting, plain = CountingField(), LatentField()
    plain.load_state_dict(counting.state_dict())
    x = torch.randn(100, 4)

    before, first = watched(step_as_written, counting, x)
    after, second = watched(step_changed, plain, x)
    native, _ = watched(step_changed, plain, x, options={"cpp_wrapper": True})
    print(f"torch {torch.__version__}, 1 thread, batch of {len(x)}")
    print(f"as written: {counts(first)}")
    print(f"changed:    {counts(second)}")
    if options.save:
        for report, name in ((first, "as-written"), (second, "changed")):
            report.save(f"latent-ode-{name}.html")

    runs = {
        "eager, as written": (step_as_written, counting),
        "compiled, as written": (before, counting),
        "eager, changed": (step_changed, plain),
        "compiled, changed": (after, plain),
        "compiled, changed, cpp_wrapper": (native, plain),
    }
    expected = integrate(step_as_written, counting, x)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(options.rounds):
        for name, (step, field) in runs.items():
            start = time.process_time()
            result = integrate(step, field, x)
            times[name].append(time.process_time() - start)
            torch.testing.assert_close(result, expected, rtol=1e-3, atol=1e-4)
    base = times["compiled, as written"]
    print("one integration, processor time, and how many times faster than compiled as written")
    for name, taken in times.items():
        ratios = sorted(b / each for b, each in zip(base, taken, strict=False))
        tail = len(ratios) // 20
        print(
            f"  {name:31} {statistics.median(taken) * 1e3:6.1f} ms  "
            f"{statistics.median(ratios):.2f} ({ratios[tail]:.2f} to {ratios[-1 - tail]:.2f})"
        )


if __name__ == "__main__":
    main()
