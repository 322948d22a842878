"""Record the cases: compile each program with both wrappers and keep torch's trace."""

from __future__ import annotations

import gzip
import json
import linecache
import logging
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FILE = "/case/program.py"
UNREAD = (
    "describe_",
    "fx_graph_runnable",
    "torch._functorch.config",
    "create_symbol",
    "guard_added",
)
METRICS = ("compile_id", "co_name", "co_filename", "co_firstlineno", "fail_reason", "fail_type")


def main(cases: list[str]) -> None:
    for case in cases or sorted(path.parent.name for path in HERE.glob("*/program.py")):
        for wrapper in ("python", "cpp"):
            with tempfile.TemporaryDirectory() as cache:
                command = [sys.executable, __file__, "--record", case, wrapper]
                subprocess.run(
                    command, check=True, env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": cache}
                )


def record(case: str, wrapper: str) -> None:
    import torch
    from torch._logging import _internal, structured

    records: list[tuple[float, dict[str, Any], str | None, int]] = []

    class Handler(logging.Handler):
        def emit(self, entry: Any) -> None:
            records.append((entry.created, entry.metadata, entry.payload, entry.thread))

    _internal.trace_log.handlers.insert(0, Handler())
    # Guards name files in short, so a replacement afterwards would not find them all.
    source = (HERE / case / "program.py").read_text()
    linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
    program: dict[str, Any] = {"__name__": "program"}
    exec(compile(source, FILE, "exec"), program)
    torch.manual_seed(0)
    program["run"]({"cpp_wrapper": wrapper == "cpp", "trace.provenance_tracking_level": 1})
    names = {number: name for name, number in structured.INTERN_TABLE.items()}
    threads: dict[int, int] = {}
    start = records[0][0]
    rows = []
    for time, metadata, payload, thread in records:
        event = next(iter(metadata))
        detail = metadata[event]
        name = detail.get("name", event) if isinstance(detail, dict) else event
        if name.startswith(UNREAD) or name.endswith("BYTECODE"):
            continue
        metadata = with_names(metadata, names)
        if event.endswith("compilation_metrics"):
            metadata[event] = {key: metadata[event].get(key) for key in METRICS}
        if event == "chromium_event":
            payload = timing_only(payload)
        if "cache_miss" in name or "cache_hit" in name or "cache_bypass" in name:
            payload = without_components(payload)
        rows.append(
            {
                "metadata": metadata,
                "payload": payload,
                "time_s": round(time - start, 6),
                "thread": threads.setdefault(thread, len(threads)),
            }
        )
    text = json.dumps(rows, separators=(",", ":"), ensure_ascii=False)
    for folder, replacement in (
        (str(HERE), "/cases"),
        (str(Path(torch.__file__).parents[1]), "/site-packages"),
        (os.environ["TORCHINDUCTOR_CACHE_DIR"], "/cache"),
        (sys.base_prefix, "/python"),
    ):
        text = text.replace(folder, replacement)
    (HERE / case / f"{wrapper}.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(case, wrapper, len(rows), "records", len(text), "characters")


def with_names(value: Any, names: dict[int, str]) -> Any:
    if isinstance(value, dict):
        return {
            key: names.get(item, "")
            if key == "filename" and isinstance(item, int)
            else with_names(item, names)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [with_names(item, names) for item in value]
    return value if isinstance(value, (str, int, float, type(None))) else str(value)


def timing_only(payload: str | None) -> str | None:
    content = json.loads(payload or "{}")
    content["args"] = {"compile_id": (content.get("args") or {}).get("compile_id")}
    return json.dumps(content)


def without_components(payload: str | None) -> str | None:
    content = json.loads(payload or "{}")
    return json.dumps({key: item for key, item in content.items() if not isinstance(item, list)})


if __name__ == "__main__":
    if sys.argv[1:2] == ["--record"]:
        record(*sys.argv[2:4])
    else:
        main(sys.argv[1:])
