"""The use of CUDA graphs in words."""

from __future__ import annotations

import msgspec
import pytest
from compilescope import Variant
from compilescope.analysis.settings.cuda_graph_words import add_graph_words
from compilescope.report import CudaGraphs, Report, Subject, VariantReport
from compilescope.report.compilation.cuda_graphs import Partition
from compilescope.report.saving.storage import from_json


@pytest.mark.parametrize(
    ("graphs", "words"),
    [
        (CudaGraphs(outcome="captured"), ("would be captured", "")),
        (CudaGraphs(outcome="partly"), ("would be captured in part", "")),
        (CudaGraphs(outcome="skipped"), ("not captured", "")),
        (CudaGraphs(outcome="no GPU"), ("no GPU", "")),
        (
            CudaGraphs(outcome="captured", calls=1, captured=1, memory_bytes=2 * 2**20),
            (
                "captured",
                "in 1 call: 1 recorded, 0 replayed, 0 recorded again; memory pool: 2.00 MiB",
            ),
        ),
    ],
)
def test_what_is_predicted_and_what_was_counted(graphs: CudaGraphs, words: tuple[str, str]) -> None:
    add_graph_words(graphs)
    assert (graphs.words, graphs.counts) == words


def test_a_file_of_an_earlier_version_gets_the_words() -> None:
    part = Partition(name="partition_0", captured=False, compilation="0/0", kernels=1)
    graphs = CudaGraphs(outcome="skipped", partitions=[part])
    variant = VariantReport(name="python", requested=Variant(), cuda_graphs=graphs)
    report = Report(subject=Subject(id="a", name="f"), variants=[variant])
    stored = from_json(msgspec.json.encode(report)).variants[0].cuda_graphs
    assert stored is not None
    assert stored.words == "not captured"
    assert stored.partitions[0].words == "not captured, 1 launch"
