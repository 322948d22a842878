"""What is read of a recompile's guards for the new values of its outline."""

from __future__ import annotations

from pathlib import Path

import pytest
from compilescope.analysis.guards.guard_tree import parse_guards
from compilescope.readers import new_values
from compilescope.readers.lazy_trace import Trace

from .written_logs import artifact, record

ROOT = "TREE_GUARD_MANAGER:\n+- RootGuardManager\n| +- GLOBAL_STATE: ___check_global_state()\n"
WEIGHTS = "".join(
    f"| +- GuardManager: source=L['self'].layers[{n}].weight, accessed_by=X, type=<class 'T'>\n"
    f"| | +- TENSOR_MATCH: check_tensor(L['self'].layers[{n}].weight, Parameter, size=[5, 5])\n"
    for n in range(300)
)
MODE = (
    "| +- GuardManager: source=L['mode'], accessed_by=X, type=<class 'str'>\n"
    "| | +- EQUALS_MATCH: L['mode'] == 'b'  # if mode == 'a'  # a.py:3 in forward\n"
)
LAST = (
    "| +- GuardManager: source=L['z'], accessed_by=X, type=<class 'int'>\n"
    "| | +- EQUALS_MATCH: L['z'] == 3\n"
    "+- LAMBDA_GUARD: L['k'] == 4\n"
)


@pytest.mark.parametrize(
    ("reason", "parsed", "causes"),
    [
        ("0/0: mode == 'a'  # if mode == 'a'", [ROOT + MODE + LAST], ["mode: 'a' → 'b'"]),
        ("0/0: bias is None", [ROOT + LAST], ["bias: None → ?"]),
        ("0/0: k == 3", [ROOT + LAST], ["k: 3 → 4"]),
        (
            "0/0: tensor 'x' size mismatch at index 0. expected 3, actual 4",
            [],
            ["x.size(0): 3 → 4"],
        ),
        ("0/0: GLOBAL_STATE changed: grad_mode ", [], ["GLOBAL_STATE changed: grad_mode"]),
    ],
    ids=["value", "no such guard", "root's guard", "stated", "state"],
)
def test_only_the_guards_on_what_reasons_name_are_parsed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    reason: str,
    parsed: list[str],
    causes: list[str],
) -> None:
    texts = []

    def parse(text: str) -> object:
        texts.append(text)
        return parse_guards(text)

    monkeypatch.setattr(new_values, "parse_guards", parse)
    ids = {"frame_id": 0, "frame_compile_id": 1, "attempt": 0}
    log = artifact("recompile_reasons", [reason], **ids)
    log += record("dynamo_start", detail={"stack": []}, **ids)
    log += record("dynamo_cpp_guards_str", ROOT + WEIGHTS + MODE + LAST, **ids)
    log += record("compilation_metrics", **ids)
    path = tmp_path / "x.log"
    path.write_bytes(log)
    with Trace(path) as trace:
        (recompile,) = [compilation.recompile for compilation in trace.report().compilations]
    assert recompile is not None
    assert [cause.text for cause in recompile.causes] == causes
    assert [text.strip() for text in texts] == [text.strip() for text in parsed]
