"""The report as HTML: safe, whole, aligned, and standing without styles."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest
from compilescope.report import Problem, Region, Report, Sweep, renderers
from compilescope.views.html import report as html
from compilescope.views.html import syntax
from compilescope.views.html.style import PALETTE, STYLES
from compilescope.views.rows import side_by_side
from compilescope.views.wrapper_pairs import pairs

from ..views_report import CPP, CPP_REGIONS, PYTHON, PYTHON_REGIONS, report

EVIL = "<script>alert(1)</script>"
VOID = {"br", "meta", "progress"}


class Page(HTMLParser):
    """What a browser would make of it: elements, text, and whether the elements nest."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(source)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def evil() -> Report:
    result = report(kernel=EVIL)
    result.subject.name = result.subject.arguments[0] = result.variants[1].name = EVIL
    result.problems[0].what = result.problems[0].why = result.problems[0].remedy = EVIL
    result.problems[0].detail = result.environment.cpu = EVIL
    compiled = result.variants[1].compilations[0]
    compiled.code.python = f"x = '{EVIL}'  # {EVIL}\n"
    compiled.code.regions = {}
    compiled.id = compiled.graphs["dynamo"].text = compiled.kernels[0].source = EVIL
    compiled.guards[0].expression = compiled.guards[0].type = EVIL
    compiled.breaks[0].reason = compiled.breaks[0].link = compiled.breaks[0].hints[0] = EVIL
    compiled.absent["joint"] = EVIL
    return result


def test_problems_of_a_sweep_are_shown_whatever_their_severity() -> None:
    result = report()
    problems = [
        Problem(severity=item, what=f"{item} {EVIL}") for item in ("info", "warning", "error")
    ]
    result.sweep = Sweep(id="w1", problems=problems)
    page = Page(renderers["sweep html"](result))
    assert page.text.count(EVIL) == 3
    assert "script" not in page.tags


@pytest.mark.parametrize("full", [False, True])
def test_generated_text_is_never_markup(full: bool) -> None:
    shown = html.render(evil(), full=full, name=EVIL)
    page = Page(shown)
    assert "script" not in page.tags
    assert page.text.count(EVIL) > 15


@pytest.mark.parametrize(
    "link", ["javascript:alert(1)", "http://example.org", 'https://x" onclick="']
)
def test_a_link_leads_nowhere_else(link: str) -> None:
    result = report()
    for variant in result.variants[1:]:
        variant.compilations[0].breaks[0].link = link
    page = Page(html.render(result))
    assert all(value.startswith("https://") for name, value in page.attributes if name == "href")
    assert "onclick" not in dict(page.attributes)


def test_a_cell_needs_nothing_that_sites_take_away() -> None:
    page = Page(html.render(report()))
    assert not {"script", "style", "link", "iframe", "img", "svg"} & set(page.tags)
    assert not {"class", "id", "src"} & {name for name, _ in page.attributes}


def test_without_styles_lines_still_stand_below_one_another() -> None:
    bare = re.sub(r' style="[^"]*"', "", html.render(report()))
    code = re.findall(r"<pre>(.*?)</pre>", bare, re.S)
    lines = [line for part in code for line in Page(part).text.splitlines()]
    assert "   8      cpp_fused_add_0(arg0_1, buf0)" in lines


def test_a_page_is_whole_and_asks_for_nothing() -> None:
    shown = html.render(report(), full=True)
    page = Page(shown.replace("<!doctype html>", ""))
    assert page.tags[:2] == ["html", "head"]
    assert "prefers-color-scheme:dark" in shown
    assert "script" not in page.tags
    assert not re.search(r"url\(|@import|src=", shown)
    used = set(" ".join(v for name, v in page.attributes if name == "class").split())
    assert used <= {f"cs-{name}" for name in STYLES}


def test_all_that_a_style_names_is_in_the_palette() -> None:
    named = {name for css in STYLES.values() for name in re.findall(r"\$([a-z]+)", css)}
    assert named <= set(PALETTE)


def test_everything_of_the_report_is_there() -> None:
    text = Page(html.render(report(), full=True)).text
    for part in (
        "No compiler.",
        "→ Install g++.",
        "The graph breaks. (cell line 3)",
        "96.2 µs",
        "1.90\u00d7 faster",
        "2.58 s",
        "within 1.2e-07",
        "Graph break: Call to print",
        "x.size(0): 4 → 5",
        "Python wrapper, line 8",
        "from cell line 3: y = x + 1",
        "check_tensor(L['x'])",
        "cudagraphs: requested on, effective off (CPU)",
        "torch 2.13.0",
    ):
        assert part in text
    for line in (PYTHON + CPP).splitlines():
        assert line.strip() in text


def test_problems_come_first() -> None:
    text = Page(html.render(report(), full=True)).text
    assert text.index("No compiler") < text.index("The graph breaks") < text.index("C++ wrapper?")


@pytest.mark.parametrize("panel", [False, True])
def test_a_cell_says_its_worst_error_and_counts_the_rest(panel: bool) -> None:
    shown = html.render(report(), panel=panel)
    text = Page(shown).text
    seen = text.index("Error in cpp: No compiler. \u2192 Install g++.")
    assert seen < text.index("C++ wrapper?") < text.index("2 problems")
    # The warning is one click away: in the panel, or in a fold.
    assert ("The graph breaks" in text) is not panel


def test_beside_the_panel_a_cell_holds_the_answer_alone() -> None:
    result = report()
    result.subject.id = 's"1'
    shown = html.render(result, panel=True)
    page = Page(shown)
    assert ("data-compilescope-subject", 's"1') in page.attributes
    assert "The Python wrapper is fastest" in page.text
    assert not {"details", "pre"} & set(page.tags)
    assert "button" not in Page(html.render(result)).tags
    # What is too long scrolls above the button, not behind it.
    above = shown[shown.index(STYLES["rest"]) : shown.index("<button")]
    assert above.count("</div>") == above.count("<div") + 1
    # Of a latency, a range alone breaks.
    assert "\u00a0µs" in page.text


def test_a_cell_lists_few_variants_with_eager_and_the_fastest() -> None:
    result = report()
    eager, fastest = result.variants[:2]
    others = [msgspec.structs.replace(result.variants[2], name=f"v{n}") for n in range(9)]
    result.variants = [*others, eager, fastest]
    page = Page(html.render(result, panel=True))
    # The head, and five variants.
    assert page.tags.count("tr") == 6
    assert "6 more variants" in page.text
    assert "Python wrapper" in page.text.split("over eager")[1]
    assert "eager" in page.text.split("first call")[1].split("Python wrapper")[0]


def test_a_cell_is_cut_and_says_so() -> None:
    result = report()
    code = result.variants[1].compilations[0].code
    code.python = PYTHON.replace("    del arg0_1\n", "    del arg0_1\n" * 5000)
    code.regions["python"] = [
        Region(kind=r.kind, start=r.start + 4999 * (r.start > 9), end=r.end + 4999 * (r.end > 9),
               key=r.key, kernel=r.kernel)
        for r in PYTHON_REGIONS
    ]  # fmt: skip
    result.variants[1].compilations[0].guards *= 1000
    cell, page = html.render(result, name="_report"), html.render(result, full=True)
    assert len(cell) < 60_000
    assert '_report.save("report.html")' in Page(cell).text
    assert "more lines" in cell
    assert "980 more guards" in cell
    assert "more lines" not in page
    assert page.count("check_tensor") == 1000


def test_what_is_cut_is_never_lexed(monkeypatch: pytest.MonkeyPatch) -> None:
    result = report()
    result.variants[1].compilations[0].kernels[0].source = "float x;\n" * 3000
    result.variants[1].compilations[0].code.python = PYTHON + "# more\n" * 3000
    seen: list[int] = []
    lines = syntax.lines

    def counting(text: str, language: str) -> Any:
        seen.append(text.count("\n"))
        return lines(text, language)

    monkeypatch.setattr(syntax, "lines", counting)
    html.render(result)
    assert 0 < sum(seen) < 100


@pytest.mark.parametrize(
    ("text", "lines"), [("", []), ("\n", [""]), ("a\n\n", ["a", ""]), ("a\nb", ["a", "b"])]
)
def test_lines_are_split_as_they_are_numbered(text: str, lines: list[str]) -> None:
    assert syntax.split(text) == lines


def test_a_cell_begins_with_the_overview_and_folds_the_rest() -> None:
    output = html.render(report())
    text = Page(output).text
    counted = "1 graph · 1 graph break · 1 recompile"
    shown = [text.index(part) for part in ("The Python wrapper is fastest", "latency", counted)]
    assert shown == sorted(shown)
    folded = output.index("<summary", output.index(counted))
    assert output.index(counted) < folded < output.index("check_tensor")
    assert "<details open" not in output


def test_rows_face_each_other_by_launch() -> None:
    rows = side_by_side.rows(PYTHON_REGIONS, 12, CPP_REGIONS, 9)
    launches = [(row.left, row.right) for row in rows if row.launch is not None]
    assert launches == [
        (side_by_side.Chunk(8, 8), side_by_side.Chunk(4, 4)),
        (side_by_side.Chunk(10, 10), side_by_side.Chunk(6, 6)),
    ]
    folds = [chunk.fold for row in rows for chunk in (row.left, row.right) if chunk and chunk.fold]
    assert folds == [
        "before the call, with 1 kernel",
        "before the call",
        "after the call",
        "after the call, with 1 kernel",
    ]


@pytest.mark.parametrize(
    ("left", "right"),
    [(PYTHON_REGIONS, CPP_REGIONS), (PYTHON_REGIONS, []), ([], CPP_REGIONS), ([], [])],
)
def test_every_line_is_in_one_row(left: list[Region], right: list[Region]) -> None:
    rows = side_by_side.rows(left, 12, right, 9)
    for side, lines in (("left", 12), ("right", 9)):
        chunks = [chunk for row in rows if (chunk := getattr(row, side)) is not None]
        covered = [line for chunk in chunks for line in range(chunk.start, chunk.end + 1)]
        assert covered == list(range(1, lines + 1))


def test_a_row_of_the_cell_holds_both_launches() -> None:
    shown = html.render(report())
    row = next(part for part in shown.split("<tr>") if "cpp_fused_add_0(arg0_1" in part)
    text = Page(f"<tr>{row.split('</tr>')[0]}</tr>").text
    assert "8      cpp_fused_add_0(arg0_1, buf0)" in text
    assert "4      cpp_fused_add_0((float*)(arg0_1.data_ptr()));" in text


def test_the_sides_can_be_chosen() -> None:
    result = report()
    result.variants.append(result.variants[1])
    both = pairs(result, left="cpp", right="python")[0]
    assert both.left is not None
    assert both.right is not None
    assert (both.left.artifact, both.right.artifact) == ("cpp", "python")


def test_a_report_with_one_wrapper_shows_one() -> None:
    result = report()
    result.variants = result.variants[:2]
    text = Page(html.render(result)).text
    assert "Python wrapper, 12 lines" in text
    assert "C++ wrapper, " not in text


def test_an_empty_report_renders() -> None:
    result = report()
    result.variants, result.problems = [], []
    assert "f (function, cell line 3)" in Page(html.render(result)).text


@pytest.mark.parametrize("language", ["python", "cpp", "triton", "fx", "text"])
@pytest.mark.parametrize("text", ["", "\n", "\n\nx\n\n", "a\n'''b\nc'''\n", "no end", "\ta  b "])
def test_highlighting_keeps_every_line(text: str, language: str) -> None:
    lines = syntax.lines(text, language)
    joined = "\n".join("".join(piece for _, piece in line) for line in lines)
    assert joined == text.removesuffix("\n")


def test_code_is_colored() -> None:
    shown = html.render(report(), full=True)
    assert '<span class="cs-tok-keyword">def</span>' in shown
    assert '<span class="cs-tok-define">call</span>' in shown


def test_advice_keeps_its_indent_and_deviations_stand_at_the_top() -> None:
    text = html.render(report())
    assert "x.size(0): 4 → 5" in text
    assert "<code>with torch.no_grad():</code>" in text
    assert "<code>\u00a0\u00a0\u00a0\u00a0f(x)</code>" in text
    assert "<b>cudagraphs</b> in python: requested on, effective off" in text
    assert text.index("<b>cudagraphs</b>") < text.index("<b>Compilation 0/0</b>")
    assert "in eager: <code>print(x)</code>" in text


def test_a_suggestion_has_its_reason() -> None:
    rendered = html.render(report(), full=True)
    assert "Fix the graph break at line 3: <code>print(x)</code>" in rendered
    text = Page(rendered).text
    suggested = text.index("Fix the graph break")
    assert "Take the print out." in text[suggested : suggested + 400]
