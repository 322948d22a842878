"""Tiers of a process that changes torch's cache folder."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.processes import runner
from compilescope.tiers import background, tier_warning
from compilescope.tiers.builder import builder
from torch._inductor.utils import fresh_cache

from .faults.faulty_tiers import X, subject

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("fresh_dynamo", "one_thread")]


def other(x: torch.Tensor) -> torch.Tensor:
    return subject(x).exp()


def test_a_graph_is_built_and_loaded_where_it_was_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = []
    for name, function in (("first", subject), ("second", other)):
        monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / name))
        compiled.append(cs.tiered(function))
        compiled[-1](X)
    # As torch's `fresh_cache`, whose block has ended.
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "third"))
    builder().wait()
    background.wait()
    for result, function in zip(compiled, (subject, other), strict=True):
        assert [graph.tiers[1].state for graph in cs.tiers(result)] == ["checks"]
        torch.testing.assert_close(result(X), function(X))


def test_a_folder_that_is_removed_before_the_build_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tier_warning, "_warned", {})
    removed = threading.Event()
    run = runner.run

    def run_later(*args: Any, **kwargs: Any) -> runner.Ended:
        removed.wait()
        return run(*args, **kwargs)

    monkeypatch.setattr(runner, "run", run_later)
    compiled = cs.tiered(subject)
    with fresh_cache():
        folder = Path(os.environ["TORCHINDUCTOR_CACHE_DIR"])
        compiled(X)

    def build() -> None:
        removed.set()
        builder().wait()

    with pytest.warns(cs.TierWarning, match="emptied or removed before that. Keep torch's cache"):
        build()
    (graph,) = cs.tiers(compiled)
    assert (graph.serving, graph.tiers[1].state) == ("python", "failed")
    assert not folder.exists()


@pytest.mark.parametrize("is_relative", [False, True])
def test_the_builder_does_not_make_a_removed_folder_again(
    is_relative: bool, tmp_path: Path
) -> None:
    folder = tmp_path / "caches"
    given = folder.name if is_relative else str(folder)
    program = f"""
import os
from compilescope.tiers.builder_process import refuse_to_make
refuse_to_make({given!r})
os.makedirs({str(tmp_path / "other" / "folder")!r})
os.makedirs({str(folder / "inside")!r})
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.stderr.splitlines()[-1].startswith("FileNotFoundError"), ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["other"]
