"""Code of calls on a GPU that another process generates, compared with the kernel's own."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import compilescope as cs
import msgspec
import pytest
import torch
from compilescope.inspection.inspection import Inspection
from compilescope.progress.progress import Monitor
from compilescope.session.session import Session
from compilescope.targets.worker_pool import shared_pool
from compilescope.torch_api.inductor import without_gpu

from ..compared_texts import texts
from ..fidelity_subjects import CASES, NEEDS, Make
from ..generated_arrays import with_arrays_in_place
from ..jobs_aside import assert_main_thread_is_free

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
    pytest.mark.skipif(not without_gpu.is_proven(), reason="stays in the kernel with this torch"),
]

DYNAMIC = cs.Variant(dynamic=True)
NAME = "flipped"
IN_THE_KERNEL = {
    "attention": "the sizes of heads are dynamic",
    "attention_float32": "the sizes of heads are dynamic",
    "masked_attention": "the sizes of heads are dynamic",
    "graph_break": "it has to run",
}
"""Subjects that are left to the kernel → why."""
MAY_STAY = ("training", "gpt2")
"""Subjects with products whose padding torch measures, unless its cache knows the result."""


def comparable(report: Any) -> dict[str, Any]:
    """All that was generated, without what torch 2.11 writes by chance."""
    return {
        part: [with_arrays_in_place(text) for text in value] if part == "wrappers" else value
        for part, value in texts(report).items()
    }


def captured(fn: Callable[..., Any], args: tuple[Any, ...], variant: cs.Variant) -> Inspection:
    inspection = Inspection(fn, args)
    inspection.sources.capture({"reference": variant}, Monitor())
    return inspection


@pytest.mark.parametrize("subject", CASES)
def test_another_process_generates_the_code_that_the_kernel_would(subject: str) -> None:
    needed = NEEDS.get(subject)
    if needed is not None and importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    torch.manual_seed(0)
    case = CASES[subject](Make("cuda"))
    inspection = captured(case.fn, case.args, case.variant)
    flipped = msgspec.structs.replace(case.variant, dynamic=True)
    sources = inspection.sources
    is_elsewhere = sources.may_generate_elsewhere(flipped) and sources.generate_elsewhere(
        {NAME: flipped}, Monitor()
    )
    if subject in IN_THE_KERNEL:
        assert not is_elsewhere
    elif subject not in MAY_STAY:
        assert is_elsewhere
    if not is_elsewhere:
        return
    elsewhere = comparable(inspection.report.variant(NAME))
    sources.capture({NAME: flipped}, Monitor())
    here = comparable(inspection._generation.sources(NAME, flipped))
    for part in here:
        assert elsewhere[part] == here[part]


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = torch.nn.Linear(64, 256), torch.nn.Linear(256, 64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            return self.outer(torch.nn.functional.gelu(self.inner(x)))  # type: ignore[no-any-return]


def test_the_process_does_not_use_the_gpu() -> None:
    inspection = captured(Model().cuda(), (torch.randn(32, 64, device="cuda"),), cs.Variant())
    assert inspection.sources.generate_elsewhere({NAME: DYNAMIC}, Monitor())
    files = Path(f"/proc/{shared_pool().pids()['local_gpu']}/fd")
    opened = [str(file.readlink()) for file in files.iterdir() if file.is_symlink()]
    assert not [file for file in opened if "nvidia" in file]


def test_the_main_thread_is_free() -> None:
    session = Session()
    args = (torch.randn(32, 64, device="cuda"),)
    report = session.inspect(Model().cuda(), args, variants="python", run=False)
    assert_main_thread_is_free(session, report, DYNAMIC)
