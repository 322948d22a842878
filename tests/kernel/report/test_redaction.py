"""A redacted report tells no folder and no line of code, and still is a report."""

from __future__ import annotations

import hashlib
import json
import re
import time
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.analysis.overview.overview import overview
from compilescope.report import (
    Advice,
    Break,
    Failure,
    Guard,
    GuardManager,
    Node,
    Phase,
    Problem,
    RawEvent,
    Recompile,
    Report,
)
from compilescope.report.errors import CompilescopeError

from .. import secret_subjects, subjects
from ..views_report import report

pytestmark = pytest.mark.slow

_OWN = Path(subjects.__file__)


@pytest.fixture(scope="module")
def reports() -> list[Report]:
    x = torch.randn(4, 8)
    training = subjects.training()
    results = [
        cs.inspect(subjects.Net(), (x,), variants=("python", "cpp"), run=False),
        cs.inspect(training.fn, training.args, variants="python", run=False),
        cs.inspect(subjects.broken, (x,), variants="python", run=False),
        cs.inspect(_wrong, (x,), variants="python", run=False),
    ]
    assert results[2].variants[0].compilations[0].breaks
    assert results[3].variants[0].problems
    return results


def _wrong(x: torch.Tensor) -> torch.Tensor:
    return x.view(3, 5).sum()


def test_no_folder_and_no_line_of_code_is_left(reports: list[Report]) -> None:
    files = (_OWN, Path(__file__))
    lines = {line.strip() for file in files for line in file.read_text("utf-8").splitlines()}
    # Messages name torch's functions, and the import of compilescope.
    telling = {
        line
        for line in lines
        if len(line) > 8
        and re.search(r"\W.*\w", line)
        and not line.startswith(("torch._dynamo", "import compilescope"))
    }
    quotes = 0
    for saved in reports:
        whole, redacted = saved.to_json(), saved.redacted().to_json()
        assert str(_OWN.parent) in whole
        # JSON writes quotes with a backslash.
        quoted = {line.replace("\\", "\\\\").replace('"', '\\"') for line in telling}
        quotes += sum(line in whole for line in quoted)
        left = [line for line in quoted if line in redacted and _stands_in(line, redacted)]
        assert left == []
        assert str(_OWN.parent) not in redacted
        assert str(Path(torch.__file__).parent) not in redacted
        assert not re.search(r"(?<![\w.:/<~-])/(?:home|root|tmp|usr|opt|work|Users)/", redacted)
    assert quotes > 10


def test_what_is_not_the_users_stays(reports: list[Report]) -> None:
    redacted = reports[0].redacted()
    before, after = reports[0].compilation("0/0"), redacted.compilation("0/0")
    assert [kernel.source.count("\n") for kernel in before.kernels] == [
        kernel.source.count("\n") for kernel in after.kernels
    ]
    assert [node.name for node in before.graphs["post_grad"].nodes] == [
        node.name for node in after.graphs["post_grad"].nodes
    ]
    assert [source.line for source in before.kernels[0].sources] == [
        source.line for source in after.kernels[0].sources
    ]
    assert "https://" in str(reports[2].redacted().compilation("0/0").breaks[0].link)


def test_saving_can_redact(reports: list[Report], tmp_path: Path) -> None:
    path = reports[0].save(tmp_path / "x.json", redact=True)
    assert str(_OWN.parent) not in path.read_text("utf-8")
    assert cs.load(path).variant("cpp").compilations


@pytest.mark.parametrize(
    "before",
    [
        "# File: model.py:3 in forward",
        "# Backward of forward node: File: model.py:3 in forward",
        '# File "model.py", line 3, in forward',
        "// File: model.py:3 in forward",
    ],
)
def test_no_line_of_code_stands_in_a_comment(before: str) -> None:
    result = report()
    graph = result.compilation("0/0").graphs["dynamo"]
    graph.text = f"mul = x * y\n{before}, code: return secret(x)  # really\nadd = mul + 1\n"
    left = result.redacted().compilation("0/0").graphs["dynamo"]
    assert left.text == f"mul = x * y\n{before}, code: (left out)\nadd = mul + 1\n"


def test_advice_that_writes_the_call_anew_is_left_out() -> None:
    result = report()
    recompile = result.compilation("0/0").recompile
    assert recompile is not None
    assert "f(x)" in recompile.advice[0].code
    recompile.advice.append(
        Advice(kind="mark_dynamic", what="", code="torch._dynamo.mark_dynamic(x, 0)")
    )
    left = result.redacted().compilation("0/0").recompile
    assert left is not None
    assert [suggestion.code for suggestion in left.advice] == [
        "",
        "torch._dynamo.mark_dynamic(x, 0)",
    ]
    assert left.advice[0].what == recompile.advice[0].what


def test_advice_keeps_no_string_of_the_users() -> None:
    result = report()
    recompile = result.compilation("0/0").recompile
    assert recompile is not None
    stance = 'torch.compiler.set_stance("eager_on_recompile")'
    recompile.advice = [
        Advice(
            kind="mark_dynamic",
            what=f"Mark size 0 of batch['{SECRET}'] as dynamic.",
            code=f"torch._dynamo.mark_dynamic(batch['{SECRET}'], 0)",
        ),
        Advice(kind="stance", what="", code=stance),
    ]
    assert SECRET in "".join(item.why + item.code for item in overview(result).suggestions)
    redacted = result.redacted()
    assert SECRET not in redacted.to_json()
    left = redacted.compilation("0/0").recompile
    assert left is not None
    assert [advice.code for advice in left.advice] == [
        "torch._dynamo.mark_dynamic(batch['\u2026'], 0)",
        stance,
    ]


def _stands_in(line: str, text: str) -> bool:
    """Whether the line stands there as such, not as a part of generated code's longer names."""
    return re.search(rf"(?<!\w){re.escape(line)}(?!\w)", text) is not None


SECRET = "hunter2"


def test_no_literal_is_left() -> None:
    result = report()
    compilation = next(
        compilation for compilation in result.compilations if compilation.id == "0/0"
    )
    compilation.guards = [
        Guard(
            expression=f"G['CFG']['token'] == '{SECRET}'", type="EQUALS_MATCH", source="G['CFG']"
        ),
        Guard(expression="L['n'] == 90210", type="EQUALS_MATCH", why=f"'{SECRET}' is a constant"),
        Guard(expression=f"'{SECRET}' in L['d']", source=f"L['d']['{SECRET}']"),
        Guard(expression="L['x'].size()[0] == 512", type="TENSOR_MATCH", source="L['x']"),
        Guard(expression="L['self']._modules['linear'] is not None"),
    ]
    compilation.guard_tree = [
        GuardManager(kind="GuardManager", accessor=f"DictGetItemGuardAccessor('{SECRET}')")
    ]
    compilation.recompile = Recompile(
        reasons=[f"0/0: L['s'] == '{SECRET}'", "0/0: L['n'] == 90210"],
        failures=[Failure(guard="L['n'] == 90210", kind="value", old="90210", new=SECRET)],
    )
    compilation.breaks = [
        Break(reason="a break", context=f"ConstantVariable(str: '{SECRET}')", hints=[f'"{SECRET}"'])
    ]
    compilation.absent["dynamo"] = f"No operation: ValueError: {SECRET}"
    compilation.raw = [RawEvent(name="dynamo_error", size_bytes=7, text=SECRET)]
    result.subject.arguments = ["x: float32[4, 8] cpu", f"s: '{SECRET}'", "n: 90210", "b: True"]
    result.problems = [
        Problem(
            severity="error",
            what=f"The subject raised MyTrouble: {SECRET}\nand {SECRET}",
            detail=f"Traceback (most recent call last):\n  File x\nMyTrouble: {SECRET}\n{SECRET}",
            facts={"cause": f"RuntimeError: {SECRET}"},
        ),
        Problem(
            severity="error", what=f"0/0 failed: RuntimeError: {SECRET}", why=f"got '{SECRET}'"
        ),
    ]
    assert SECRET in result.to_json()
    redacted = result.redacted()
    text = redacted.to_json()
    assert SECRET not in text
    assert "90210" not in text
    left = redacted.compilation("0/0")
    assert [guard.expression for guard in left.guards[-2:]] == [
        "L['x'].size()[0] == 512",
        "L['self']._modules['linear'] is not None",
    ]
    assert redacted.subject.arguments == [
        *("x: float32[4, 8] cpu", "s: (left out)", "n: (left out)", "b: True")
    ]
    assert redacted.problems[0].what == "The subject raised MyTrouble: (left out)"


def test_constants_are_left_out_and_sizes_stay() -> None:
    result = report()
    compilation = next(
        compilation for compilation in result.compilations if compilation.id == "0/0"
    )
    args = "x, 7, 90210, 'hunter2 mode', 4096, alpha=90210.5, approximate='tanh', end=2147483647"
    compilation.graphs["dynamo"].nodes = [
        Node(name="x", op="placeholder", target="x", shape=["2", "4096"], stride=["4096", "1"]),
        Node(name="y", op="call_function", target="torch.ops.aten.y.default", args=args),
    ]
    code = 'auto y = f(90210L, 90210.0f, 1e-05, 0.5, 2.0, 4096L, 902101, "hunter2 mode", t90210);'
    compilation.code.cpp = code
    kernel = compilation.kernels[0]
    kernel.source = code
    kernel.assembly = {
        "ptx": "mul.f32 %f2, %f1, 0f47B03240; add.s64 %rd1, %rd2, 4096;",
        "asm": ".LC0:\n\t.long\t1202729536\n\tmovl $1202729536, %eax\n\taddq $64, %rsp",
        "sass": "FMUL R2, R1, 90210.5 ; /* 0x47b0324001027820 */",
    }
    left = result.redacted().compilation("0/0")
    nodes = left.graphs["dynamo"].nodes
    assert nodes[1].args == ("x, 7, …, '…', 4096, alpha=…, approximate='tanh', end=2147483647")
    expected = 'auto y = f(…L, …f, …, 0.5, 2.0, 4096L, 902101, "…", t90210);'
    assert left.code.cpp == left.kernels[0].source == expected
    assert left.kernels[0].assembly == {
        "ptx": "mul.f32 %f2, %f1, …; add.s64 %rd1, %rd2, 4096;",
        "asm": ".LC0:\n\t…\n\tmovl …, %eax\n\taddq $64, %rsp",
        "sass": "FMUL R2, R1, … ; /* … */",
    }


def _watched() -> Report:
    with cs.watch() as live:
        compiled = torch.compile(secret_subjects.again, backend="eager")
        for word in ("hunter2 first", "hunter2 second", "hunter2 third"):
            compiled(torch.ones(2), word)
    assert len(live.compilations) == 3
    return live


def _traced(tmp_path: Path) -> Report:
    """Of a trace, with what no view reads, a failure and a break."""
    lines = [
        'V1124 10:00:00.000000 7 torch/x.py:22] {"str": ["/home/hunter2/m.py", 0]}',
        _record({"dynamo_start": {"stack": [_FRAME]}}),
        _record({"artifact": {"name": "new_of_torch", "encoding": "string"}}, "hunter2 payload"),
        _record({"artifact": {"name": "dynamo_error", "encoding": "string"}}, _FAILED),
        _record({"compilation_metrics": {"co_filename": "/home/hunter2/m.py", **_METRICS}}),
    ]
    path = tmp_path / "trace.log"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return cs.read_trace(path)


_FRAME = {"line": 3, "name": "step", "filename": 0, "loc": "y = f(x, 'hunter2 loc')"}
_FAILED = "Traceback (most recent call last):\nValueError: hunter2 failure"
_METRICS = {
    "co_name": "step",
    "fail_type": "ValueError",
    "fail_reason": "hunter2 reason",
    "fail_user_frame_filename": "/home/hunter2/m.py",
    "fail_user_frame_lineno": 3,
}


def _record(event: dict[str, Any], payload: str = "") -> str:
    result = event | {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    if payload:
        result["has_payload"] = hashlib.md5(payload.encode()).hexdigest()
    lines = "".join(f"\n\t{line}" for line in payload.split("\n")) if payload else ""
    return f"V1124 10:00:01.000000 7 torch/_dynamo/x.py:1] {json.dumps(result)}{lines}"


def test_no_text_of_the_users_is_left_in_a_real_report(tmp_path: Path) -> None:
    fn, args = secret_subjects.net()
    x = torch.randn(4, 4)
    by_name = {
        "net": cs.inspect(fn, args, variants=("python", "cpp"), run=False),
        "checked": cs.inspect(secret_subjects.checked, (x, "hunter2"), run=False),
        "raised": cs.inspect(secret_subjects.raised, (x, "hunter2"), run=False),
        "watched": _watched(),
        "traced": _traced(tmp_path),
    }
    for name, item in by_name.items():
        assert SECRET in item.to_json(), name
        saved = item.save(tmp_path / f"{name}.json", redact=True).read_text("utf-8")
        assert _around(saved) == [], name
        page = item.save(tmp_path / f"{name}.html", redact=True).read_text("utf-8")
        assert _around(page) == [], name
        assert _around(str(item.redacted())) == [], name
    compilation = by_name["net"].variant("cpp").compilations[-1]
    for secret in ("hunter2 operator", "hunter2 assertion", secret_subjects.NUMBER):
        assert secret in (compilation.code.cpp or ""), secret
    assert by_name["watched"].compilations[1].recompile is not None


def test_no_whole_number_of_the_users_is_left_in_a_real_report() -> None:
    fn, args = secret_subjects.counting()
    x = torch.randn(4, 4)
    static = cs.Variant(dynamic=False)
    by_name = {
        "counting": cs.inspect(fn, args, variants=("python", "cpp"), run=False),
        "symbols": cs.inspect(fn, args, variants=cs.Variant(dynamic=True), run=False),
        "limit": cs.inspect(secret_subjects.counted_to_the_limit, (x,), variants=static, run=False),
        "viewed": cs.inspect(secret_subjects.viewed, (x, 919), run=False),
    }
    for name, item in by_name.items():
        assert _whole_numbers(item.to_json()) != [], name
        assert _whole_numbers(item.redacted().to_json()) == [], name
    limit = by_name["limit"].variants[0].problems[0]
    assert "The last reason: number == 91" in limit.why
    # Sizes, dimensions and steps stay.
    redacted = by_name["counting"].redacted().variant("python").compilations
    nodes = [node for compilation in redacted for node in compilation.graphs["post_grad"].nodes]
    assert any(node.shape == ["5", "4"] for node in nodes)
    assert any("[1, 0]" in node.args for node in nodes)


def _whole_numbers(text: str) -> list[str]:
    """Where 910 to 919 stand, but as a line's number or a time."""
    matches = re.finditer(r"(?<![\w.:])(?<!\bline )91\d(?!\w| [mµ]?s\b)", text)
    return [text[max(0, match.start() - 60) : match.end() + 30] for match in matches]


def _around(text: str) -> list[str]:
    if SECRET not in text and secret_subjects.NUMBER not in text:
        return []
    # Inside a longer number it is chance: an address, a hash, a file in base64.
    secrets = rf"{SECRET}|(?<![\w+/]){secret_subjects.NUMBER}(?!\d)"
    return [
        text[max(0, match.start() - 60) : match.end() + 30] for match in re.finditer(secrets, text)
    ]


def test_a_path_that_torch_cuts_off_is_left_out() -> None:
    result = report()
    recompile = result.compilation("0/0").recompile
    assert recompile is not None
    recompile.reasons = ["0/0: L['n'] == 3  # y = x if n == 3 else n  # omebody/m.py:23 in step"]
    left = result.redacted().compilation("0/0").recompile
    assert left is not None
    assert left.reasons == ["0/0: L['n'] == …  # (left out)  # m.py:23 in step"]


PIECES = [
    "#",
    "# ",
    " # a",
    "//",
    "// File ",
    "# File , code: ",
    "a.",
    "a",
    "'",
    "\\'",
    "\n",
    "\n ",
]
PIECES += [
    " ",
    ", line 1",
    ", line 1, in ",
    "  File a, line 1\n",
    "/a",
    "=/a",
    "a:\\a",
    "~",
    "[",
    '"',
]
PIECES += ["1.", "1", "1e", "0x", "0f1", ".long "]
PIECES += ["Error: ", "a[] ", " # a.py:1 in f", "~^ ", "L['", " in "]


@pytest.mark.parametrize("piece", PIECES)
def test_no_text_takes_the_square_of_its_length(piece: str) -> None:
    result = report()
    text = f" in File {piece * (200_000 // len(piece))}!"
    compilation = result.compilation("0/0")
    compilation.graphs["dynamo"].text = text
    compilation.kernels[0].assembly = {"asm": text}
    compilation.guards = [Guard(expression=text, type="EQUALS_MATCH", source=text, why=text)]
    result.subject.arguments = [text]
    result.problems = [Problem(severity="error", what=text, why=text, detail=f"Traceback {text}")]
    start = time.process_time()
    result.redacted()
    assert time.process_time() - start < 30


def test_a_report_that_is_nested_too_deep_is_refused_clearly() -> None:
    result = report()
    phase = Phase(name="x", start_us=0, duration_us=1)
    for _ in range(5000):
        phase = Phase(name="x", start_us=0, duration_us=1, children=[phase])
    result.compilations[0].phases = [phase]
    with pytest.raises(CompilescopeError, match="nested too deep"):
        result.redacted()
