"""``compilescope trace --follow``: compilations of a log that grows."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from compilescope.cli import main

from ...readers.written_logs import record
from ..stored_logs import LIMIT, TRAINING, text_of


def append(path: Path, texts: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """Append a text to a log each time the follower waits, and press Ctrl-C after the last."""
    rest = list(texts)

    def sleep(seconds: float) -> None:
        if not rest:
            raise KeyboardInterrupt
        with path.open("ab") as file:
            file.write(rest.pop(0))

    monkeypatch.setattr("compilescope.cli.follow.time.sleep", sleep)


def test_a_growing_trace_is_followed_until_ctrl_c(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = text_of(LIMIT)
    path = tmp_path / "growing.log"
    half = text.index(b'"frame_compile_id": 1')
    path.write_bytes(text[:half])
    append(path, [text[half:]], monkeypatch)
    assert main(["trace", str(path), "--follow"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[:5] == [
        "+0.0 s    136 ms  0/0  f, program.py:36",
        "+0.1 s   77.0 ms  0/1  f, program.py:36  recompiled",
        "x.size(0): 2 → 3",
        "+0.2 s   3.99 ms  0/2  f, program.py:36  fell back to eager",
        "0/2 fell back to eager: Dynamo recompile limit exceeded",
    ]
    assert any("217 ms of compile time" in line for line in lines)


@pytest.mark.parametrize("as_json", [False, True])
def test_a_backward_is_printed_when_it_is_compiled_and_its_forward_before(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    as_json: bool,
) -> None:
    text = text_of(TRAINING)
    path = tmp_path / "growing.log"
    forward = text.index(b"\n", text.index(b'{"compilation_metrics": ')) + 1
    forward = text.index(b"\nV", forward) + 1  # a record ends where the next one begins
    path.write_bytes(text[:forward])
    printed: list[list[str]] = []

    def sleep(seconds: float) -> None:
        printed.append(capsys.readouterr().out.splitlines())
        if len(printed) > 1:
            raise KeyboardInterrupt
        with path.open("ab") as file:
            file.write(text[forward:])

    monkeypatch.setattr("compilescope.cli.follow.time.sleep", sleep)
    assert main(["trace", str(path), "--follow", *(["--json"] if as_json else [])]) == 0
    printed[1] += capsys.readouterr().out.splitlines()
    first, then = printed[0][0], printed[1][0]
    if as_json:
        assert "backward" not in json.loads(first)
        line = json.loads(then)
        assert (line["id"], line["backward"], line["duration_s"]) == ("0/0", True, 1.18499)
    else:
        assert first.strip().startswith("+0.0 s    2.92 s  0/0  ")
        assert "backward" not in first
        assert then.strip().startswith("+3.0 s    1.18 s  0/0  ")
        assert then.endswith("  backward")


FAILED = {"fail_type": "torch._inductor.exc.LoweringException", "fail_reason": "no such op"}
HIDDEN = {**FAILED, "config_suppress_errors": True}


@pytest.mark.parametrize(
    ("forward", "backward", "outcomes"),
    [
        ({}, FAILED, [("compiled", False), ("failed", True)]),
        (HIDDEN, {}, [("eager", False), ("compiled", True)]),
    ],
    ids=["the backward fails", "the forward ran in eager"],
)
def test_the_outcome_of_a_backward_is_its_own(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    forward: dict[str, object],
    backward: dict[str, object],
    outcomes: list[tuple[str, bool]],
) -> None:
    ids = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    path = tmp_path / "growing.log"
    path.write_bytes(
        record("dynamo_start", detail={"stack": []}, **ids)
        + record("compilation_metrics", detail=forward, **ids)
        + record("torch_version", detail={})
    )
    append(path, [record("bwd_compilation_metrics", detail=backward, **ids)], monkeypatch)
    assert main(["trace", str(path), "--follow", "--json"]) == 0
    lines = []
    for text in capsys.readouterr().out.splitlines():
        if text.startswith('{"id"'):
            line = json.loads(text)
            lines.append((line.get("outcome", "compiled"), line.get("backward", False)))
    assert lines == outcomes


def test_a_rank_is_followed_from_before_its_log_exists(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[int | None] = [None, 0, 1]

    def sleep(seconds: float) -> None:
        if not steps:
            raise KeyboardInterrupt
        rank = steps.pop(0)
        if rank is not None:
            path = tmp_path / f"trace_rank_{rank}_x.log"
            path.write_bytes(text_of(LIMIT))

    monkeypatch.setattr("compilescope.cli.follow.time.sleep", sleep)
    options = ["--rank", "1", "--redact", "--json"]
    assert main(["trace", str(tmp_path), "--follow", *options]) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith(f"compilescope: waits for a log in {tmp_path}\n")
    lines = [json.loads(line) for line in printed.out.splitlines()]
    assert [(line["process"], line["id"]) for line in lines] == [
        ("rank 1", "0/0"),
        ("rank 1", "0/1"),
        ("rank 1", "0/2"),
    ]
    assert "/case/program.py" not in printed.out


def test_a_followed_trace_names_what_is_not_finished_on_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = text_of(LIMIT)
    path = tmp_path / "growing.log"
    # Of the second compilation; the line that is cut off is not read.
    end = text.index(b'{"compilation_metrics": ', text.index(b'"frame_compile_id": 1'))
    path.write_bytes(text[:end])

    def sleep(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("compilescope.cli.follow.time.sleep", sleep)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert main(["trace", str(path), "--follow"]) == 0
    assert re.search(r"^0/1 not finished after \d+ s", capsys.readouterr().err, re.M)
