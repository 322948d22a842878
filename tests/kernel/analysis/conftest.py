from __future__ import annotations

import gzip
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from compilescope.analysis.assemble import assemble
from compilescope.capture.records import Record
from compilescope.report import Compilation

DATA = Path(__file__).parents[2] / "data"


def _records(case: str, wrapper: str) -> list[Record]:
    rows = json.loads(gzip.decompress((DATA / "cases" / case / f"{wrapper}.json.gz").read_bytes()))
    records = []
    for row in rows:
        metadata = row["metadata"]
        frame = metadata.get("frame_id")
        records.append(
            Record(
                event=next(iter(metadata)),
                metadata=metadata,
                payload=row["payload"],
                compile_id=None if frame is None else f"{frame}/{metadata['frame_compile_id']}",
                attempt=metadata.get("attempt") or 0,
                time_s=row["time_s"],
                thread=row["thread"],
            )
        )
    return records


@pytest.fixture(scope="session")
def records() -> Callable[[str, str], list[Record]]:
    """The trace records of a case under a wrapper."""
    return _records


@pytest.fixture(scope="session")
def compiled() -> Callable[[str, str], list[Compilation]]:
    """A case's compilations, made anew: links change them in place."""
    return lambda case, wrapper: assemble(_records(case, wrapper), variant=wrapper)


@pytest.fixture(scope="session")
def data() -> Path:
    return DATA


@pytest.fixture(scope="session")
def summary() -> ModuleType:
    spec = importlib.util.spec_from_file_location("summary", DATA / "cases" / "summary.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
