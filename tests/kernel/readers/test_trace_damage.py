"""Damage costs the line that it is in: what is whole of a trace is shown, and the rest is told."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import compilescope as cs
import msgspec
import pytest
from compilescope.report import Report

TRACES = Path(__file__).parents[2] / "data" / "traces"
NAMES = (
    "h200-torch2.11-mlp_b1_python",
    "cpu-torch2.13-lowering",
    "cpu-torch2.13-skipped",
    "cpu-torch2.13-compiled_autograd",
)
TEXTS = {name: gzip.decompress((TRACES / f"{name}.log.gz").read_bytes()) for name in NAMES}
ODD: tuple[Any, ...] = (
    *(1e308, -1, 10**30, True, None, [], {}, [1], {"a": 1}, "", "x", "0/0", [[]]),
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
    lost = set(rng.sample(range(len(lines)), rng.randint(1, 40)))
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
        lines[number] = head + b"] " + json.dumps(_odd(json.loads(b"{" + rest), rng)).encode()
    return lines


def _payloads(lines: Lines, rng: random.Random) -> Lines:
    starts = [n for n, line in enumerate(lines) if line[:1] == b"V" and lines[n + 1][:1] == b"\t"]
    for start in sorted(rng.sample(starts, min(len(starts), 40)), reverse=True):
        end = next(n for n in range(start + 1, len(lines)) if lines[n][:1] != b"\t")
        try:
            found = json.loads(b"\n".join(line[1:] for line in lines[start + 1 : end]))
        except ValueError:
            lines[start + 1 : end] = [b'\t{"ts": NaN}']
        else:
            lines[start + 1 : end] = [b"\t" + json.dumps(_odd(found, rng)).encode()]
    return lines


def _shuffle(lines: Lines, rng: random.Random) -> Lines:
    records = re.split(rb"\n(?=V)", b"\n".join(lines))
    rng.shuffle(records)
    return records


@pytest.mark.parametrize("damage", [_cut, _drop, _flip, _metadata, _payloads, _shuffle])
@pytest.mark.parametrize("name", NAMES)
def test_no_damage_is_an_exception(
    name: str, damage: Callable[[Lines, random.Random], Lines], tmp_path: Path
) -> None:
    rng = random.Random(f"{name} {damage.__name__}")
    path = tmp_path / "trace.log"
    for _ in range(4):
        path.write_bytes(b"\n".join(damage(TEXTS[name].split(b"\n"), rng)))
        report = cs.read_trace(path)
        assert str(report)
        # A number that JSON does not know would be lost in a file.
        assert msgspec.json.decode(report.to_json(), type=Report).variants
        if damage in (_drop, _flip):
            assert any("trace.log" in problem.what for problem in report.problems)


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
    found = cs.read_trace(path)
    assert found.variants == whole.variants
    assert sum(_count(problem.what) for problem in found.problems) == 12


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
    listed = {event.name for one in report.compilations for event in one.raw}
    heads = re.findall(rb"^V.*?\] (\{.*)", TEXTS[name], re.M)
    logged = {_name(json.loads(head)) for head in heads}
    assert "compilation_metrics" in listed & logged
    shown = {
        *("str", "torch_version", "chromium_event", "dynamo_start", "create_symbol"),
        *("dynamo_output_graph", "aot_inference_graph", "inductor_output_code"),
        *("dynamo_cpp_guards_str", "dynamo_graph_break_reason"),
    }
    stages = re.compile(r"(before|after)_(pre_grad|joint|post_grad)_graph|inductor_post_grad_graph")
    rest = {one for one in logged - shown - listed if not stages.fullmatch(one)}
    assert {one for one in rest if "_cache_" not in one and "provenance" not in one} <= {
        "triton_kernel_info"
    }


def _name(metadata: dict[str, Any]) -> str:
    event = next(iter(metadata))
    detail = metadata[event]
    if event == "artifact":
        return str(detail["name"])
    return f"dump_file {detail['name']}" if event == "dump_file" else event
