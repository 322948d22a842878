"""Damage costs the line that it is in: what is whole of a trace is shown, and the rest is told.

``python -m tests.kernel.readers.test_trace_damage 2000 [FOLDER]`` tries as many random damages of
the traces in ``tests/data/traces`` and of the logs in the folder: tlparse's own test logs, say.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import compilescope as cs
import msgspec
import pytest
from compilescope.readers.lazy_trace import Trace
from compilescope.readers.trace_summary import summary_of
from compilescope.report import Report
from compilescope.report.saving.storage import from_json

TRACES = Path(__file__).parents[2] / "data" / "traces"
LOGS = sorted(TRACES.rglob("*.log.gz"))
NAMES = (
    "h200-torch2.11-mlp_b1_python",
    "cpu-torch2.13-lowering",
    "cpu-torch2.13-skipped",
    "cpu-torch2.13-compiled_autograd",
)
TEXTS = {name: gzip.decompress((TRACES / f"{name}.log.gz").read_bytes()) for name in NAMES}
ODD: tuple[Any, ...] = (
    *(1e308, -1, 10**30, 10**400, True, None, [], {}, [1], {"a": 1}, "", "x", "0/0", [[]]),
    *(float("nan"), float("inf"), "\ud800"),
)
FOREIGN = (
    b"step 3: loss 0.1",
    b'{"a": 1}',
    b"\xff\xfe",
    b"V1120 09:30:51.196000 2187 torch/x.py:3] 17",
    b"W1120 09:30:51.196000 2187 torch/x.py:3] a warning",
)
Lines = list[bytes]


def _odd(value: Any, rng: random.Random) -> Any:
    """The value with one thing in it that torch would not write."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        return value | {key: _odd(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = rng.randrange(len(value))
        return [*value[:at], _odd(value[at], rng), *value[at + 1 :]]
    return rng.choice(ODD)


def _cut(lines: Lines, rng: random.Random) -> Lines:
    text = b"\n".join(lines)
    return text[: rng.randrange(len(text))].split(b"\n")


def _drop(lines: Lines, rng: random.Random) -> Lines:
    lost = set(rng.sample(range(len(lines)), min(rng.randint(1, 40), len(lines) // 2)))
    return [line for number, line in enumerate(lines) if number not in lost]


def _flip(lines: Lines, rng: random.Random) -> Lines:
    text = bytearray(b"\n".join(lines))
    for _ in range(rng.randint(1, 200)):
        text[rng.randrange(len(text))] = rng.randrange(256)
    return bytes(text).split(b"\n")


def _metadata(lines: Lines, rng: random.Random) -> Lines:
    heads = [number for number, line in enumerate(lines) if b"] {" in line[:150]]
    for number in rng.sample(heads, min(len(heads), 30)):
        head, _, rest = lines[number].partition(b"] {")
        try:
            data = json.loads(b"{" + rest)
        except ValueError:
            continue
        lines[number] = head + b"] " + json.dumps(_odd(data, rng)).encode()
    return lines


def _payloads(lines: Lines, rng: random.Random) -> Lines:
    lines = [*lines, b""]
    starts = [n for n, line in enumerate(lines) if line[:1] == b"V" and lines[n + 1][:1] == b"\t"]
    for start in sorted(rng.sample(starts, min(len(starts), 40)), reverse=True):
        end = next(n for n in range(start + 1, len(lines)) if lines[n][:1] != b"\t")
        try:
            data = json.loads(b"\n".join(line[1:] for line in lines[start + 1 : end]))
        except ValueError:
            lines[start + 1 : end] = [b'\t{"ts": NaN}']
        else:
            lines[start + 1 : end] = [b"\t" + json.dumps(_odd(data, rng)).encode()]
    return lines


def _shuffle(lines: Lines, rng: random.Random) -> Lines:
    records = re.split(rb"\n(?=V)", b"\n".join(lines))
    rng.shuffle(records)
    return records


DAMAGES = (_cut, _drop, _flip, _metadata, _payloads, _shuffle)


def damaged(
    log: Path, damage: Callable[[Lines, random.Random], Lines], rng: random.Random
) -> bytes:
    """The log's text, damaged."""
    content = log.read_bytes()
    text = gzip.decompress(content) if log.suffix == ".gz" else content
    return b"\n".join(damage(text.split(b"\n"), rng))


def open_everywhere(path: Path) -> Report:
    """Opens a trace as everything in the package does that reads one."""
    report = cs.read_trace(path)
    assert str(report)
    assert report._repr_html_()
    # A number that JSON does not know would be lost in a file.
    assert from_json(report.to_json()).variants == report.variants
    assert report.redacted()
    with Trace(path) as trace:
        assert str(trace.report())
        assert msgspec.json.encode(summary_of(trace))
        for log in trace.processes:
            for name in log.events:
                assert log.compilation(name).compilation.id == name
    return report


def _is_large(log: Path) -> bool:
    return log.stat().st_size > 100_000


def _logs() -> list[Any]:
    return [
        pytest.param(
            log,
            id=log.name.partition(".log")[0],
            marks=pytest.mark.slow if _is_large(log) else (),
        )
        for log in LOGS
    ]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("log", _logs())
def test_no_damage_is_an_exception(
    log: Path, damage: Callable[[Lines, random.Random], Lines], tmp_path: Path
) -> None:
    rng = random.Random(f"{log.name} {damage.__name__}")
    path = tmp_path / "trace.log"
    for _ in range(1 if _is_large(log) else 3):
        path.write_bytes(damaged(log, damage, rng))
        report = open_everywhere(path)
        if damage in (_drop, _flip) and log.name.partition(".log")[0] in NAMES:
            assert any("trace.log" in problem.what for problem in report.problems)


LOST = {
    "an id's key in one record": (
        "cpu-torch2.13-backward",
        lambda text: text.replace(b'compile_id": 0, "attempt": 0, "has', b'\xf5": 0, "has', 1),
    ),
    "a text that is nested without end": (
        "cpu-torch2.13-backward",
        lambda text: re.sub(rb"(cache_\w+.*)\n\t.*", rb"\1\n\t" + b"[" * 100_000, text),
    ),
    "the attempt, so that no id is read from a head": (
        "cpu-torch2.13-backward",
        lambda text: text.replace(b'"attempt": 0', b'"attempt": "x"'),
    ),
    "half a pair of surrogates": (
        "cpu-torch2.13-backward",
        lambda text: re.sub(rb'("pytorch_version": ")[^"]*', rb"\g<1>\\ud800", text),
    ),
    "a configuration that is a number": (
        "h200-torch2.11-train_mlp_python",
        lambda text: text.replace(
            b'"only 1 config", "only_config"', b'"hit", "best_config": 3, "only_config"'
        ),
    ),
    "a time that is no number": (
        "h200-torch2.11-mlp_b1_python",
        lambda text: re.sub(rb'("start_time": )[\d.]+', rb"\g<1>NaN", text),
    ),
    "a line that is no number": (
        "cpu-torch2.13-shapes",
        lambda text: re.sub(rb'("line": )\d+', rb"\g<1>true", text),
    ),
    "a compile time without end": (
        "h200-torch2.11-train_mlp_python",
        lambda text: re.sub(rb'("compile_time_us": )[\d.]+', rb"\g<1>Infinity", text),
    ),
}


@pytest.mark.parametrize("case", LOST)
def test_what_was_damaged_is_left_out_wherever_the_trace_is_opened(
    case: str, tmp_path: Path
) -> None:
    name, damage = LOST[case]
    text = gzip.decompress((TRACES / f"{name}.log.gz").read_bytes())
    changed = damage(text)
    assert changed != text
    path = tmp_path / "trace.log"
    path.write_bytes(changed)
    assert open_everywhere(path).compilations


@pytest.mark.parametrize("name", NAMES)
def test_foreign_lines_cost_nothing_and_are_counted(name: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.log"
    path.write_bytes(TEXTS[name])
    whole = cs.read_trace(path)
    assert whole.problems == []
    rng = random.Random(name)
    lines = TEXTS[name].split(b"\n")
    # Between records: a line within a payload ends it, as nobody can know otherwise.
    gaps = [number for number, line in enumerate(lines) if line[:1] == b"V"]
    for gap in sorted(rng.sample(gaps, 12), reverse=True):
        lines.insert(gap, rng.choice(FOREIGN))
    path.write_bytes(b"\n".join(lines))
    report = cs.read_trace(path)
    assert report.variants == whole.variants
    assert sum(_count(problem.what) for problem in report.problems) == 12


def _count(what: str) -> int:
    """How many lines a problem is of: ``3 lines of …``, ``A line of …``."""
    return int(what.split()[0]) if what[0].isdigit() else 1


def test_a_damaged_record_costs_itself(tmp_path: Path) -> None:
    name = "h200-torch2.11-mlp_b1_python"
    lines = TEXTS[name].split(b"\n")
    start = next(n for n, line in enumerate(lines) if b'{"dynamo_start": ' in line)
    lines[start] = re.sub(rb'"stack": \[.*\]', b'"stack": 1.5', lines[start])
    event = next(n for n, line in enumerate(lines) if b'{"chromium_event": ' in line)
    while lines[event + 1].startswith(b"\t"):
        del lines[event + 1]
    lines.insert(event + 1, b'\t{"ts": NaN}')
    path = tmp_path / "trace.log"
    path.write_bytes(b"\n".join(lines))
    (compilation,) = cs.read_trace(path).compilations
    assert compilation.code.python
    assert compilation.guards
    assert compilation.phases


@pytest.mark.parametrize("name", NAMES)
def test_every_record_is_read_or_listed(name: str) -> None:
    report = cs.read_trace(TRACES / f"{name}.log.gz")
    listed = {event.name for compilation in report.compilations for event in compilation.raw}
    heads = re.findall(rb"^V.*?\] (\{.*)", TEXTS[name], re.M)
    logged = {_name(json.loads(head)) for head in heads}
    assert "compilation_metrics" in listed & logged
    shown = {
        *("str", "torch_version", "chromium_event", "dynamo_start", "create_symbol"),
        *("dynamo_output_graph", "aot_inference_graph", "inductor_output_code"),
        *("dynamo_cpp_guards_str", "dynamo_graph_break_reason"),
    }
    stages = re.compile(r"(before|after)_(pre_grad|joint|post_grad)_graph|inductor_post_grad_graph")
    rest = {item for item in logged - shown - listed if not stages.fullmatch(item)}
    assert {item for item in rest if "_cache_" not in item and "provenance" not in item} <= {
        "triton_kernel_info"
    }


def _name(metadata: dict[str, Any]) -> str:
    event = next(iter(metadata))
    detail = metadata[event]
    if event == "artifact":
        return str(detail["name"])
    return f"dump_file {detail['name']}" if event == "dump_file" else event


def fault(seed: int, logs: list[Path], folder: Path) -> str:
    """Damages one of the logs at random and opens it everywhere; the traceback of a failure."""
    rng = random.Random(seed)
    log, damage = rng.choice(logs), rng.choice(DAMAGES)
    path = folder / "trace.log"
    path.write_bytes(damaged(log, damage, rng))
    try:
        open_everywhere(path)
    except Exception:  # noqa: BLE001 - any is what is looked for
        return f"seed {seed}, {log.name} {damage.__name__}\n{traceback.format_exc()}"
    return ""


if __name__ == "__main__":
    more = (path for folder in sys.argv[2:] for path in sorted(Path(folder).rglob("*")))
    logs = LOGS + [path for path in more if path.suffix in (".log", ".txt") and path.stat().st_size]
    with tempfile.TemporaryDirectory() as where:
        failures = [
            text for seed in range(int(sys.argv[1])) if (text := fault(seed, logs, Path(where)))
        ]
    print("\n\n".join(failures[:5]))
    print(f"{len(failures)} of {sys.argv[1]} damages of {len(logs)} logs were exceptions")
