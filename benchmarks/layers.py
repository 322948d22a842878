"""Whether the layers of a call, each timed by itself, add up to the whole call.

    python benchmarks/layers.py [--repeats 3]

Each subject is inspected under both wrappers, and the study "layers" is made several times. Printed
is the sum of the layers over the whole call, for each direction, beside how far the whole call
itself is known: its interval over its time. A sum that lies outside by more than that interval
counts costs twice, or misses some.
"""

from __future__ import annotations

import argparse

import compilescope as cs
import torch
from subjects import mlp, training


def main() -> None:
    """Study each subject and print the ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    print("subject    variant  direction   sum / whole   interval of the whole")
    for subject in (mlp, training):
        fn, args = subject()
        for _ in range(repeats):
            report = cs.inspect(fn, args, variants=("python", "cpp"))
            cs.study(report, "layers")
            for variant in report.variants:
                for layers in variant.layers:
                    low, high = layers.whole_interval_us or (layers.whole_us, layers.whole_us)
                    print(
                        f"{subject.__name__:10} {variant.name:8} {layers.direction:10} "
                        f"{layers.sum_us / layers.whole_us:12.2f}   "
                        f"{low / layers.whole_us:.2f} to {high / layers.whole_us:.2f}"
                    )


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    main()
