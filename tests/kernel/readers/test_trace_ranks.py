"""What ranks of a trace have otherwise, and what is no difference."""

from __future__ import annotations

from pathlib import Path

import pytest
from compilescope.readers.lazy_trace import Trace
from compilescope.readers.rank_divergence import compare_ranks
from compilescope.report.subjects.traces import RankComparison

from .written_logs import ranks, record

FIRST = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}


def compared(folder: Path, logs: dict[int, bytes]) -> RankComparison:
    with Trace(ranks(folder, logs)) as trace:
        comparison = compare_ranks(trace)
    assert comparison is not None
    return comparison


@pytest.mark.parametrize(
    ("first", "second"), [("cuda:7", "cuda:7"), ("cuda:0", "cuda:1"), ("xpu:1", "xpu:2")]
)
def test_the_index_of_a_device_need_not_be_the_rank(
    tmp_path: Path, first: str, second: str
) -> None:
    def log(device: str, folder: str) -> bytes:
        graph = f'def forward(self, l_x_: "f32[8][1]{device}"):\n    return (l_x_,)'
        number = device.partition(":")[2]
        code = f"# /tmp/{folder}/x.py\nstream{number} = get_raw_stream({number})\nempty({device!r})"
        return record("dynamo_output_graph", graph, **FIRST) + record(
            "inductor_output_code", code, **FIRST
        )

    comparison = compared(tmp_path, {7: log(first, "a"), 8: log(second, "b")})
    assert comparison.divergences == []
