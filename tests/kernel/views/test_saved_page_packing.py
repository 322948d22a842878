"""A large report in a page: packed, and nothing lost."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path

import compilescope as cs
import pytest
from compilescope.report.saving import page_contents
from compilescope.report.saving.page_contents import packed, unpacked
from compilescope.report.saving.storage import from_json
from compilescope.views import saved_page

LOG = Path(__file__).parents[2] / "data" / "traces" / "h200-torch2.11-train_mlp_python.log.gz"


@pytest.mark.parametrize("text", ["", "{}", json.dumps(["a\nb\na\nb", "\\n\\\n", "ä\n\n\n"])])
def test_whatever_the_text_it_comes_back(text: str) -> None:
    assert unpacked(packed(text)) == text


def test_a_large_report_stands_in_its_page_in_a_fraction_of_its_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = cs.read_trace(LOG)
    text = report.to_json()
    parts = saved_page._Parts(
        gzip.compress(b"", mtime=0), gzip.compress(b""), unpack="", worker="", licenses=""
    )
    monkeypatch.setattr(saved_page, "_parts", lambda: parts)
    shown = saved_page.render(report)
    match = re.search(r'id="packed-report">([^<]*)<', shown)
    assert match is not None
    assert unpacked(match[1]) == text
    assert from_json(shown) == from_json(text)
    assert len(match[1]) < len(text) / 5
    # Base64 adds a third.
    assert len(base64.b64decode(match[1])) < LOG.stat().st_size


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (packed("{}")[:-8], "cut off"),
        ("é", "ASCII"),
        (base64.b64encode(b"no gzip").decode(), "header"),
        (base64.b64encode(gzip.compress(b"0,7\n{}", mtime=0)).decode(), "missing"),
        (base64.b64encode(gzip.compress(b"-1\n{}", mtime=0)).decode(), "missing"),
        (base64.b64encode(gzip.compress(b"x\n{}", mtime=0)).decode(), "invalid literal"),
    ],
)
def test_what_is_damaged_says_so(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        unpacked(text)


@pytest.mark.parametrize("repeated", [b"0\n" + b"a" * 200, b"0" + b",0" * 100 + b"\naaa"])
def test_little_that_unpacks_to_too_much_is_refused(
    repeated: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_contents, "MAX_CHARACTERS", 150 if b"aaaa" in repeated else 290)
    with pytest.raises(ValueError, match="too large"):
        unpacked(base64.b64encode(gzip.compress(repeated, mtime=0)).decode())
