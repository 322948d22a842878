"""What torch generates for three GPUs that are not there, kernel by kernel, as golden files.

Two vendors, three generations. The files are of one torch and one Triton, which they name; with
others they are skipped. ``COMPILESCOPE_UPDATE_GOLDENS=1`` writes them anew.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import compilescope as cs
import msgspec
import pytest
import torch
from compilescope.report import Report
from compilescope.targets import known_devices

from ..fidelity_subjects import CASES, Make
from .test_gpu_fidelity import texts

GOLDENS = Path(__file__).resolve().parents[2] / "data" / "targets"
TARGETS = ("a100", "b200", "mi300x")
SUBJECTS = ("norm_gelu_product", "reduction", "scatter", "training", "dynamic")
CPP = ("norm_gelu_product",)
"""Subjects whose C++ wrapper is held as well."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(known_devices.unavailable()), reason=known_devices.unavailable()),
]


@pytest.fixture(scope="module", params=SUBJECTS)
def golden(request: pytest.FixtureRequest) -> tuple[str, Report]:
    """A subject under every target, from one report."""
    torch.manual_seed(0)
    subject = request.param
    case = CASES[subject](Make("cpu"))
    variants = {}
    for wrapper in ("python", "cpp") if subject in CPP else ("python",):
        for target in TARGETS:
            requested = {"target": target, "cpp_wrapper": wrapper == "cpp"}
            variants[f"{target}-{wrapper}"] = msgspec.structs.replace(case.variant, **requested)
    return subject, cs.inspect(case.fn, case.args, variants=variants, run=False)


@pytest.mark.parametrize("target", TARGETS)
def test_the_code_is_as_it_was(golden: tuple[str, Report], target: str) -> None:
    subject, report = golden
    for variant in report.variants:
        if variant.requested.target != target:
            continue
        errors = [problem for problem in variant.problems if problem.severity == "error"]
        assert not errors, errors
        path = GOLDENS / f"{subject}-{variant.name}.txt"
        result = f"{versions(report)}\n{texts(variant)}\n"
        if os.environ.get("COMPILESCOPE_UPDATE_GOLDENS"):
            path.write_text(result, encoding="utf-8")
        text = path.read_text(encoding="utf-8")
        if text.partition("\n")[0] != versions(report):
            pytest.skip(f"the golden files are of {text.partition(chr(10))[0]}")
        assert result.split("\n") == text.split("\n")


def test_devices_differ_where_they_should() -> None:
    """No golden file is another device's under another name."""
    for target, said in {"a100": "cc=80", "b200": "cc=100", "mi300x": "gfx942"}.items():
        for path in GOLDENS.glob(f"*-{target}-python.txt"):
            text = path.read_text(encoding="utf-8")
            assert said in text, path.name
            assert len(re.findall(r"@triton\.jit", text)) >= 1, path.name


def versions(report: Report) -> str:
    """The torch and the Triton that the code is of, without the build."""
    environment = report.environment
    return f"torch {environment.torch.partition('+')[0]}, triton {environment.triton}"
