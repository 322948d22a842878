"""With the GPU hidden, ``target="this"`` gives the code that the GPU itself gets.

Character for character, but for paths and ids. ``COMPILESCOPE_FIDELITY=folder`` keeps every text,
and a table of what is the same and what differs. Skipped where there is no GPU.
"""

from __future__ import annotations

import difflib
import importlib.util
import os
import re
from collections.abc import Iterator
from pathlib import Path

import compilescope as cs
import msgspec
import pytest
import torch
from compilescope.analysis.wrapper.launches import codes_of
from compilescope.report import VariantReport

from ..fidelity_subjects import CASES, NEEDS, Make
from ..generated_arrays import with_arrays_in_place

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

_BUILT = ("pointwise", "norm_gelu_product", "training")
"""Subjects that are built for real: what torch.compile itself made is compared."""


class Table:
    """What came of each subject, kept where the environment asks for it."""

    def __init__(self) -> None:
        folder = os.environ.get("COMPILESCOPE_FIDELITY")
        self.folder = Path(folder) if folder else None
        self.rows: list[tuple[str, str, str, int, int]] = []

    def note(self, subject: str, wrapper: str, real: str, hidden: str) -> str:
        """Compare two texts; return the lines that differ."""
        lines = list(difflib.unified_diff(real.splitlines(), hidden.splitlines(), lineterm="", n=0))
        changed = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
        outcome = f"{len(changed)} lines differ" if changed else "the same"
        self.rows.append((subject, wrapper, outcome, len(real), len(hidden)))
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            for side, text in (("real", real), ("hidden", hidden), ("diff", "\n".join(lines))):
                name = subject.replace(", ", "-")
                path = self.folder / f"{name}-{wrapper}-{side}.txt"
                path.write_text(text, encoding="utf-8")
        return "\n".join(changed)

    def close(self) -> None:
        """Write the table."""
        if self.folder is None or not self.rows:
            return
        lines = ["| subject | wrapper | outcome | characters |", "| --- | --- | --- | ---: |"]
        lines += [f"| {row[0]} | {row[1]} | {row[2]} | {row[3]:,} |" for row in self.rows]
        where = f"{torch.cuda.get_device_name(0)}, torch {torch.__version__}"
        text = "\n".join([where, "", *lines, ""])
        (self.folder / "table.md").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def table() -> Iterator[Table]:
    opened = Table()
    yield opened
    opened.close()


def plain(text: str) -> str:
    """A text without what is another one in every process: ids, paths, hashes."""
    text = re.sub(r"# AOT ID: .*", "# AOT ID", text)
    text = re.sub(r"(?:/[\w.@+-]+)+\.(?:py|cpp|so|cubin|json)\b", "FILE", text)
    text = re.sub(r"\b[0-9a-fA-F]{40,64}\b", "HASH", text)
    return re.sub(r"\bc[a-z2-7]{50,52}\b", "KEY", text)


def without_configurations(text: str) -> str:
    """C++ without what depends on a kernel's launch configuration."""
    return re.sub(r"(?m)^.*\b(?:loadKernel|launchKernel|uint32_t grid_\d =).*$", "", text)


def without_handles(text: str) -> str:
    """Code without torch's numbers of launches.

    A backward that is compiled when it first runs is counted from 1 again.
    """
    return re.sub(r"(Provenance debug handles\] \S+):\d+", r"\1", text)


def texts(variant: VariantReport) -> str:
    """All that was generated: wrappers of every graph, then the Triton kernels."""
    parts = []
    for compilation in variant.compilations:
        for code in codes_of(compilation):
            for name in ("python", "cpp", "shell"):
                text = getattr(code, name)
                if text is not None:
                    parts.append(f"=== {compilation.id} {code.direction} {name}\n{plain(text)}")
        parts += [
            f"=== {compilation.id} {kernel.direction} {kernel.name}\n{plain(kernel.source)}"
            for kernel in compilation.kernels
            if kernel.language == "triton"
        ]
    return "\n".join(parts)


def comparable(variant: VariantReport) -> str:
    """All that was generated, without what torch 2.11 writes by chance."""
    return with_arrays_in_place(texts(variant))


def made_by(
    subject: str, wrapper: str, *, target: str | None, run: bool = False, padding: bool = True
) -> VariantReport:
    needed = NEEDS.get(subject)
    if needed is not None and importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    torch.manual_seed(0)
    case = CASES[subject](Make("cuda"))
    options = case.variant.options if padding else {**case.variant.options, "shape_padding": False}
    requested = msgspec.structs.replace(
        case.variant, cpp_wrapper=wrapper == "cpp", target=target, options=options
    )
    report = cs.inspect(case.fn, case.args, variants={wrapper: requested}, run=run)
    variant = report.variant(wrapper)
    errors = [problem for problem in variant.problems if problem.severity == "error"]
    assert not errors, (target, errors)
    assert variant.compilations, (target, variant.absent)
    return variant


@pytest.mark.parametrize("wrapper", ["python", "cpp"])
@pytest.mark.parametrize("subject", CASES)
def test_the_code_is_the_devices_own(subject: str, wrapper: str, table: Table) -> None:
    real = made_by(subject, wrapper, target=None)
    hidden = made_by(subject, wrapper, target="this")
    decided = {
        decision.kind for compilation in hidden.compilations for decision in compilation.decisions
    }
    differs = table.note(subject, wrapper, comparable(real), comparable(hidden))
    if differs and "padding" in decided:
        # The device measures whether padding pays. Without that question there is no difference.
        subject = f"{subject}, unpadded"
        real, hidden = (
            made_by(subject.partition(",")[0], wrapper, target=target, padding=False)
            for target in (None, "this")
        )
        differs = table.note(subject, wrapper, comparable(real), comparable(hidden))
    if differs and "autotuning" in decided:
        # torch 2.11 writes the configuration that it measured to be the fastest into C++.
        sides = [without_configurations(comparable(code)) for code in (real, hidden)]
        differs = table.note(f"{subject}, configurations left out", wrapper, *sides)
    assert not differs, f"{subject}, {wrapper} wrapper:\n{differs[:4000]}"


@pytest.mark.parametrize("subject", _BUILT)
def test_the_code_is_what_torch_builds(subject: str, table: Table) -> None:
    """The other tests compare generated sources; here torch.compile has gone all the way."""
    real = made_by(subject, "python", target=None, run=True, padding=False)
    hidden = made_by(subject, "python", target="this", padding=False)
    assert real.stage == "built"
    sides = [without_handles(comparable(code)) for code in (real, hidden)]
    differs = table.note(f"{subject}, built", "python", *sides)
    assert not differs, differs[:4000]


def test_the_device_is_described_as_it_is() -> None:
    variant = made_by("pointwise", "python", target="this")
    assert variant.target is not None
    assert variant.target.is_here
    build, said = variant.target.device.build, torch.cuda.get_device_properties(0)
    assert build is not None
    assert build.multiprocessors == said.multi_processor_count
    assert build.memory_bytes == said.total_memory
    assert build.warp_size == said.warp_size


def test_there_are_enough_subjects() -> None:
    assert len(CASES) >= 25
