"""``compilescope show`` of reports and traces."""

from __future__ import annotations

import json
from pathlib import Path

import compilescope as cs
import msgspec
import pytest
from compilescope.cli import main
from compilescope.report import Kernel

from ..stored_logs import PYTHON


def test_the_parts_of_a_trace_are_listed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(PYTHON), "--list", "--json"]) == 0
    (parts,) = json.loads(capsys.readouterr().out)
    assert parts["code"] == ["python"]
    assert parts["kernels"]
    assert main(["show", str(PYTHON), "--compilation", parts["compilation"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == parts | {"variant": ""}


def test_one_thing_of_a_report_is_shown_for_pipes(capsys: pytest.CaptureFixture[str]) -> None:
    compilation = cs.read_trace(PYTHON).compilations[0]
    kernel = next(kernel for kernel in compilation.kernels if kernel.source)
    for option, text in (
        (["--code", "python"], compilation.code.python),
        (["--kernel", kernel.name], kernel.source),
        (["--graph", "post_grad"], compilation.graphs["post_grad"].text),
        (["--guards"], "\n".join(guard.expression for guard in compilation.guards)),
    ):
        assert main(["show", str(PYTHON), *option]) == 0
        assert capsys.readouterr().out == f"{(text or '').rstrip()}\n"
    assert main(["show", str(PYTHON), "--list"]) == 0
    listing = capsys.readouterr().out
    assert kernel.name in listing
    assert "post_grad" in listing
    assert main(["show", str(PYTHON), "--compilation", compilation.id]) == 0
    assert capsys.readouterr().out.splitlines()[0] == compilation.id


def test_a_part_is_searched_in_all_compilations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = cs.read_trace(PYTHON)
    (variant,) = report.variants
    first = variant.compilations[0]
    second = msgspec.structs.replace(
        first, id="7/0", kernels=[Kernel(name="other", language="cpp", source="only here")]
    )
    variant.compilations = [first, second]
    saved = str(report.save(tmp_path / "two.json"))
    assert main(["show", saved, "--kernel", "other"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "only here\n"
    assert f"compilation 7/0 of {variant.name} is shown, the first with it of 2" in shown.err
    assert main(["show", saved, "--kernel", "none"]) == 2
    error = capsys.readouterr().err
    assert "No compilation has a kernel 'none'." in error
    assert f"7/0 of {variant.name} has: other." in error
