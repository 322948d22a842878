"""A large report in a page: packed, and nothing lost."""

from __future__ import annotations

import base64
import gzip
import json
import re
from base64 import b64decode
from itertools import accumulate
from pathlib import Path

import compilescope as cs
import pytest
from compilescope.views import page
from compilescope.views.packing import packed

LOG = Path(__file__).parents[2] / "data" / "traces" / "h200-torch2.11-train_mlp_python.log.gz"


def unpacked(text: str) -> str:
    """As the page's own script does it."""
    steps, _, pieces = gzip.decompress(b64decode(text)).decode().partition("\n")
    texts = pieces.split(r"\n")
    return r"\n".join(texts[number] for number in accumulate(map(int, steps.split(","))))


@pytest.mark.parametrize("text", ["", "{}", json.dumps(["a\nb\na\nb", "\\n\\\n", "ä\n\n\n"])])
def test_whatever_the_text_it_comes_back(text: str) -> None:
    assert unpacked(packed(text)) == text


def test_a_large_report_stands_in_its_page_in_a_fraction_of_its_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = cs.read_trace(LOG)
    text = report.to_json()
    monkeypatch.setattr(page, "LARGE", 1 << 20)
    parts = page._Parts(script="", worker="", style="", licenses="")
    monkeypatch.setattr(page, "_parts", lambda: parts)
    match = re.search(r'id="packed-report">([^<]*)<', page.render(report))
    assert match is not None
    assert unpacked(match[1]) == text
    assert len(match[1]) < len(text) / 5
    # Base64 adds a third.
    assert len(base64.b64decode(match[1])) < LOG.stat().st_size
