"""Damaged traces: whatever is left of one is assembled."""

from __future__ import annotations

import gzip

import pytest
from compilescope.analysis.assemble import assemble
from compilescope.analysis.text.region_anchors import blocks
from compilescope.analysis.wrapper.launch_pairs import pair
from compilescope.capture.parse_log import read
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.slow

HURRIED = settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(choice=st.data())
@HURRIED
def test_a_damaged_trace_is_assembled(choice, data, tmp_path):
    results = []
    for wrapper in ("python", "cpp"):
        packed = data / "traces" / f"h200-torch2.11-train_mlp_{wrapper}.log.gz"
        text = bytearray(gzip.decompress(packed.read_bytes()))
        for _ in range(choice.draw(st.integers(0, 30))):
            text[choice.draw(st.integers(0, len(text) - 1))] = choice.draw(st.integers(0, 255))
        end = choice.draw(st.integers(len(text) // 2, len(text)))
        path = tmp_path / "trace.log"
        path.write_bytes(text[:end])
        results.append(assemble(read(path).records, variant=wrapper))
    for python, cpp in zip(*results, strict=False):
        pair(python, cpp)
        left, right = python.code, cpp.code
        blocks(
            left.regions.get("python", ()),
            right.regions.get("cpp", ()),
            (left.python or "").count("\n") + 1,
            (right.cpp or "").count("\n") + 1,
        )


@given(choice=st.data())
@HURRIED
def test_records_in_another_order_or_lost_are_assembled(choice, records):
    given_records = records(choice.draw(st.sampled_from(["breaks", "training"])), "cpp")
    result = choice.draw(st.lists(st.sampled_from(given_records), max_size=60))
    assemble(result, variant="cpp")
