"""The stored reports and logs that the tests of the command line read."""

from __future__ import annotations

import gzip
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "data"
REPORTS = DATA / "reports"
MLP = REPORTS / "mlp.compilescope.json"
TRACES = DATA / "traces"
PYTHON = TRACES / "h200-torch2.11-mlp_b1_python.log.gz"
CPP = TRACES / "h200-torch2.11-mlp_b1_cpp.log.gz"
TRAINING = TRACES / "h200-torch2.11-train_mlp_python.log.gz"
LIMIT = TRACES / "cpu-torch2.13-limit.log.gz"


def text_of(log: Path) -> bytes:
    """What a stored log has in it, as torch wrote it."""
    return gzip.decompress(log.read_bytes())
