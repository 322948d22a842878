"""Two traces compared: partners found again under other ids, and only real differences told."""

from __future__ import annotations

import gzip
import hashlib
import re
from pathlib import Path

import compilescope as cs
from compilescope.readers.lazy_trace import Trace
from compilescope.readers.trace_difference import ProcessDifference, trace_difference

TRACES = Path(__file__).parents[2] / "data" / "traces"
LIMIT = gzip.decompress((TRACES / "cpu-torch2.13-limit.log.gz").read_bytes())
TRITON = gzip.decompress((TRACES / "h200-torch2.11-mlp_b1_python.log.gz").read_bytes())


def with_checksums(log: bytes) -> bytes:
    """The log with torch's checksum for each text as it is now."""

    def sealed(record: re.Match[bytes]) -> bytes:
        text = record[3].removesuffix(b"\n").replace(b"\n\t", b"\n")[1:]
        return record[1] + hashlib.md5(text).hexdigest().encode() + record[2] + record[3]

    return re.sub(rb'(?m)^(V.*"has_payload": ")\w+("\}\n)((?:\t.*\n)+)', sealed, log)


def compared(
    folder: Path, before: bytes, after: bytes, most_read: int | None = None
) -> ProcessDifference:
    paths = [folder / "before.log", folder / "after.log"]
    for path, text in zip(paths, (before, after), strict=True):
        path.write_bytes(text)
    with Trace(paths[0]) as first, Trace(paths[1]) as second:
        (process,) = trace_difference(first, second, most_read=most_read).processes
    return process


def test_moved_lines_folders_and_other_compile_ids_are_no_difference(tmp_path: Path) -> None:
    moved = re.sub(rb'("frame_id": |"compile_id": ")0', rb"\g<1>7", LIMIT)
    moved = moved.replace(b"/case/program.py:37", b"/elsewhere/program.py:52")
    process = compared(tmp_path, LIMIT, with_checksums(moved))
    assert process.changed == process.gone == process.new == []
    assert process.slower == process.faster == []


def test_functions_of_a_copied_script_are_paired_by_name(tmp_path: Path) -> None:
    assert b"/case/program.py" in LIMIT
    copied = with_checksums(LIMIT.replace(b"/case/program.py", b"/case/copy.py"))
    process = compared(tmp_path, LIMIT, copied)
    assert process.gone == process.new == []


def test_one_recompile_more_does_not_move_those_behind_it(tmp_path: Path) -> None:
    # The second recompile's graph is that of another size: without 0/1, 0/2 keeps its partner.
    begin, end = (
        LIMIT.rindex(b"\nV", 0, LIMIT.index(b'"frame_compile_id": %d' % number)) + 1
        for number in (1, 2)
    )
    process = compared(tmp_path, LIMIT[:begin] + LIMIT[end:], LIMIT)
    assert [line.id for line in process.new] == ["0/1"]
    assert process.gone == process.changed == []


def test_what_differs_is_named_with_its_first_line(tmp_path: Path) -> None:
    after = TRITON.replace(b"libdevice.rsqrt", b"libdevice.sqrt")
    after = re.sub(rb"'backend_hash': '\w*'", b"'backend_hash': 'OTHER'", after)
    after = after.replace(b"check_tensor(L['args'][0]", b"check_tensor(L['args'][1]")
    after = re.sub(
        rb'"duration_us": (\d+)', lambda result: b'"duration_us": %d' % (2 * int(result[1])), after
    )
    process = compared(tmp_path, TRITON, with_checksums(after))
    (change,) = process.changed
    assert change.graph.startswith("the generated code, line ")
    assert change.line_after == change.line_before.replace("libdevice.rsqrt", "libdevice.sqrt")
    assert change.line_after != change.line_before
    assert change.kernels_gone == change.kernels_new == []
    (kernel,) = change.kernels_changed
    assert kernel.startswith("Triton kernel of ")
    assert len(change.guards_gone) == len(change.guards_new) == 1
    (slower,) = process.slower
    assert slower.after_s == 2 * slower.before_s
    # Not read, not said to be the same.
    process = compared(tmp_path, TRITON, with_checksums(after), most_read=0)
    assert process.unread == 1
    assert not process.changed[0].is_read


def test_a_redacted_report_keeps_what_differs_without_quoting_it(tmp_path: Path) -> None:
    after = TRITON.replace(b"libdevice.rsqrt", b"libdevice.sqrt")
    after = after.replace(b"check_tensor(L['args'][0]", b"check_tensor(L['args'][1]")
    for name, text in (("before", TRITON), ("after", with_checksums(after))):
        (tmp_path / f"{name}.log").write_bytes(text)
    report = cs.read_trace(tmp_path / "after.log")
    assert report.trace is not None
    with Trace(tmp_path / "before.log") as first, Trace(tmp_path / "after.log") as second:
        report.trace.difference = trace_difference(first, second)
    redacted = report.redacted().trace
    assert redacted is not None
    assert redacted.difference is not None
    (change,) = redacted.difference.processes[0].changed
    assert change.graph.startswith("the generated code, line ")
    assert {change.line_after, *change.guards_gone, *change.guards_new} == {"(left out)"}
    assert "check_tensor" not in str(redacted.difference)
