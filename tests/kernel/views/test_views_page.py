"""A saved page: the report in it, the views beside it, and nothing from anywhere else."""

from __future__ import annotations

import gzip
import re
from base64 import b64decode, b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import compilescope as cs
import pytest
from compilescope.report import conclude
from compilescope.views import saved_page

from ..views_report import report
from .test_views_html import EVIL, evil


class Elements(HTMLParser):
    """The elements of a page, and the text of each script."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.scripts: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "script" and self.cdata_elem:
            self.scripts[-1] += data


@pytest.fixture(autouse=True)
def _built() -> None:
    assert (Path(saved_page.__file__).parent / "built" / "page.js.gz").exists(), (
        "the page's views are not built: run jlpm build"
    )


def test_the_report_in_the_page_is_the_report(tmp_path: Path) -> None:
    saved = report().save(tmp_path / "x.html").read_text("utf-8")
    data, *_ = Elements(saved).scripts
    (tmp_path / "x.json").write_text(data, "utf-8")
    wanted = report()
    conclude(wanted)
    assert cs.load(tmp_path / "x.json") == wanted


def test_generated_text_is_never_markup() -> None:
    shown = saved_page.render(evil())
    elements = Elements(shown)
    assert elements.tags.count("script") == 6
    assert "alert(1)" in elements.scripts[0]
    assert EVIL not in shown
    # The views' own scripts hold nothing that ends them, or that begins a comment in them.
    assert not re.search(r"</script|<!--", "".join(elements.scripts[1:]), re.I)
    sent = Elements(str(saved_page.render_live()))
    assert sent.tags.count("script") == 3
    assert not re.search(r"</script|<!--", "".join(sent.scripts), re.I)


def test_the_licenses_of_the_views_are_in_it() -> None:
    built = (Path(saved_page.__file__).parent / "built" / "licenses.txt").read_text("utf-8")
    assert built.strip() in saved_page.render(report())


def test_it_asks_for_nothing() -> None:
    elements = Elements(saved_page.render(report()))
    assert not {"link", "iframe", "img", "object", "base"} & set(elements.tags)
    assert not {"src", "href"} & {name for name, _ in elements.attributes}
    policy = next(v for _, v in elements.attributes if v and v.startswith("default-src"))
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy


def test_it_does_not_say_where_it_was_built() -> None:
    assert "file:///" not in str(saved_page.render_live())


def test_without_the_built_views_the_report_is_there_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(saved_page, "_parts", lambda: None)
    shown = saved_page.render(report())
    assert "<script" not in shown
    assert "cpp_fused_add_0(arg0_1, buf0)" in shown
    assert "without its views" in shown


def test_redacted(tmp_path: Path) -> None:
    saved = report().save(tmp_path / "x.html", redact=True).read_text("utf-8")
    whole = report().save(tmp_path / "y.html").read_text("utf-8")
    assert "y = x + 1" in whole
    assert "y = x + 1" not in saved


def test_the_policy_names_the_scripts_that_may_run() -> None:
    saved = Elements(saved_page.render(report()))
    packed_script, start = saved.scripts[-2:]
    views = gzip.decompress(b64decode(packed_script)).decode()
    sent = Elements(str(saved_page.render_live()))
    for elements, allowed in [(saved, [start, views]), (sent, sent.scripts[-1:])]:
        attributes = dict(elements.attributes)
        assert attributes["http-equiv"] == "Content-Security-Policy"
        policy = next(value for name, value in elements.attributes if name == "content" and value)
        digests = [b64encode(sha256(script.encode()).digest()).decode() for script in allowed]
        hashes = " ".join(f"'sha256-{digest}'" for digest in digests)
        assert f"script-src {hashes};" in policy
        assert "base-uri 'none'; form-action 'none'" in policy
        # The browser hashes what it parsed: other line ends and NUL would be something else there.
        assert not {"\r", "\0"} & set("".join(allowed))


def test_the_views_take_less_than_half_of_their_size_in_a_page_that_is_a_file() -> None:
    assert len(saved_page.render(report())) < len(str(saved_page.render_live())) / 2


def test_a_page_that_is_cut_off_says_so(tmp_path: Path) -> None:
    page = report().save(tmp_path / "report.html").read_text()
    # Behind it stands all that can be cut off: the views take the line away.
    assert page.index('id="loading"') < page.index("<script ")
    assert "If this line stays, the page is cut off or damaged" in page
