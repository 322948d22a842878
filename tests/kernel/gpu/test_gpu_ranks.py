"""Two ranks on two GPUs through NCCL. Skipped where there are fewer."""

from __future__ import annotations

import cloudpickle
import pytest
import torch
from compilescope import Variant, ranks

from .. import rank_subjects

# The processes need not find the tests.
cloudpickle.register_pickle_by_value(rank_subjects)

pytestmark = pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two CUDA devices")

VARIANTS = {"python": Variant(options={"shape_padding": False})}
"""torch times whether to pad a matrix, and ranks may decide otherwise."""


def test_ddp_on_two_gpus() -> None:
    reports = ranks(rank_subjects.make_ddp_on_gpu, backend="nccl", variants=VARIANTS)
    for number, report in enumerate(reports):
        assert report.rank is not None
        assert report.rank.device == f"cuda:{number}"
        variant = report.variant("python")
        assert variant.stage == "built", (variant.problems, report.problems)
        assert all(error.ok for error in variant.accuracy)
        assert any(collective.direction == "backward" for collective in report.rank.collectives)
        assert report.rank.same, report.rank.differences


def test_collectives_of_generated_code_on_two_gpus() -> None:
    reports = ranks(rank_subjects.make_sharded_on_gpu, backend="nccl", variants=VARIANTS)
    for report in reports:
        assert report.rank is not None
        assert report.variant("python").stage == "built", report.variant("python").problems
        inside = [collective for collective in report.rank.collectives if not collective.outside]
        assert len(inside) == 3
        assert all(call.line is not None and call.waited is not None for call in inside)
        assert report.rank.same, report.rank.differences
