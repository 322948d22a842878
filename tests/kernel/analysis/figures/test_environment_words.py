"""The versions and the processors of a report, in a line."""

from __future__ import annotations

import pytest
from compilescope.analysis.figures.environment_words import (
    device_line,
    environment_line,
    machine_line,
)
from compilescope.report import Environment, Report, Subject

H200 = Environment(
    torch="2.13.0",
    triton="3.7.1",
    python="3.12.3",
    cpu="A CPU",
    threads=16,
    gpus=["NVIDIA H200", "NVIDIA H200"],
    compiler="g++ 13",
    compilescope="1.0",
)


def test_equal_gpus_are_counted_and_the_host_is_named() -> None:
    machine = (
        "torch 2.13.0 · triton 3.7.1 · Python 3.12.3 · 2 \u00d7 NVIDIA H200 · A CPU · "
        "16 threads · g++ 13"
    )
    assert machine_line(H200) == machine
    assert environment_line(H200) == f"compilescope 1.0 · {machine}"
    assert environment_line(Environment(torch="2.13.0", cpu="A CPU")) == "torch 2.13.0 · A CPU"
    assert environment_line(Environment()) == ""


@pytest.mark.parametrize(
    ("kind", "device", "processor"),
    [
        ("module", "cuda:0", "NVIDIA H200"),
        ("module", "cpu", "A CPU"),
        ("watch", "cpu", "NVIDIA H200"),
    ],
)
def test_the_device_is_that_of_the_call(kind, device, processor) -> None:
    report = Report(subject=Subject(id="f", name="f", kind=kind, device=device), environment=H200)
    assert device_line(report) == f"torch 2.13.0 · {processor}"
