"""``compilescope open`` of reports and traces."""

from __future__ import annotations

from pathlib import Path

import compilescope as cs
import pytest
from compilescope.cli import main

from ..stored_logs import CPP, LIMIT, text_of


def test_a_report_is_written_as_a_page_to_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "saved.json"
    cs.read_trace(CPP).save(saved)
    assert main(["open", str(saved), "--no-browser"]) == 0
    page = Path(capsys.readouterr().out.strip())
    try:
        assert page.read_text().startswith("<!doctype html>")
        assert page.parent.stat().st_mode & 0o077 == 0
        # A saved page is opened as it is.
        assert main(["open", str(page), "--no-browser"]) == 0
        assert capsys.readouterr().out.strip() == str(page)
        # The report in it is read by the other commands.
        assert main(["diff", str(saved), str(page)]) == 0
        assert "kernels              2 → 2" in capsys.readouterr().out
    finally:
        page.unlink()
        page.parent.rmdir()


def test_open_starts_jupyterlab_with_the_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started: list[list[str]] = []

    class Started:
        def __init__(self, command: list[str]) -> None:
            started.append(command)

        def wait(self) -> int:
            return 0

    monkeypatch.setattr("compilescope.cli.lab.subprocess.Popen", Started)
    log = tmp_path / "a log.log"
    log.write_bytes(text_of(LIMIT))
    assert main(["open", str(log), "--lab", "--no-browser", "--port", "8701"]) == 0
    assert started[0][1:] == [
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={tmp_path}",
        "--LabApp.default_url=/lab?compilescope-open=a%20log.log",
        "--no-browser",
        "--ServerApp.port=8701",
    ]
    assert main(["open", str(tmp_path / "report.json"), "--lab"]) == 2
    assert ".compilescope.json" in capsys.readouterr().err
    assert len(started) == 1
