"""How `make docs` builds the site."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import compilescope
from compilescope.views.saved_page import render_viewer
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parent.parent

project = "compilescope"
author = "The compilescope authors"
project_copyright = author
release = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["version"]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "_static"]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "attrs_inline"]

napoleon_google_docstring = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
# The reports' docstrings use single backticks for names, as NumPy's do.
default_role = "code"

html_theme = "furo"
# Furo's own dark style underlines the names of modules, as links are.
pygments_dark_style = "github-dark"
html_title = f"compilescope {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options: dict[str, Any] = {
    "source_repository": "",
    # System fonts: nothing is fetched, and pages look the same without a network.
    "light_css_variables": {"color-brand-primary": "#2b65c7", "color-brand-content": "#2b65c7"},
    "dark_css_variables": {"color-brand-primary": "#7aa8f5", "color-brand-content": "#7aa8f5"},
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

_LISTED = json.loads((ROOT / "docs" / "pictures.json").read_text(encoding="utf-8"))
PICTURES = _LISTED["stored"] | _LISTED["learn"]
"""The pictures of reports that are stored, each with its report and view."""

SHOWN = [
    *(
        ROOT / f"tests/data/reports/{name}.compilescope.json"
        for name in sorted({picture["report"] for picture in _LISTED["stored"].values()})
    ),
    *sorted((ROOT / "docs/learn/reports").glob("*.compilescope.json")),
]
"""The reports that the site has as pages: those of the pictures, and those of `docs/learn`."""

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


class LiveReport(SphinxDirective):
    """``{live} NAME`` shows the page of a stored report, opened at the view ``:view:``."""

    required_arguments = 1
    option_spec = {"view": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """The page in a frame, and a link to it."""
        up = "../" * self.env.docname.count("/")
        address = html.escape(f"{up}live/{self.arguments[0]}.html#view={self.options['view']}")
        text = (
            f'<iframe class="viewer" loading="lazy" title="The report, live" src="{address}">'
            f'</iframe>\n<p><a href="{address}">Open it in the whole window</a></p>'
        )
        return [nodes.raw("", text, format="html")]


def write_notebooks(app: Sphinx) -> None:
    """The notebooks of `examples/` as pages, which Sphinx then reads like any other.

    They are stored without outputs, so that their text and code is all there is to show.
    """
    folder = Path(app.srcdir) / "notebooks"
    for path in NOTEBOOKS:
        page = folder / f"{path.stem}.md"
        text = notebook_page(path)
        # A page that is written anew is built anew.
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def notebook_page(path: Path) -> str:
    """A notebook as MyST Markdown."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
    source_link = f"{{download}}`{path.name} <../../examples/{path.name}>`"
    parts.insert(1, f"_The notebook to run: {source_link}. Its outputs are not shown here._")
    # Links between notebooks lead to their pages, links to the docs to where these are from here.
    text = re.sub(r"\]\(([\w-]+)\.ipynb\)", r"](\1.md)", "\n\n".join(parts))
    return text.replace("](../docs/", "](../") + "\n"


def link_pictures(_app: Sphinx, doctree: nodes.document) -> None:
    """A picture of a stored report leads to that report, as a page."""
    for image in list(doctree.findall(nodes.image)):
        picture = PICTURES.get(image["uri"].removeprefix("images/").removesuffix(".webp"))
        if picture:
            address = f"live/{picture['report']}.html#view={picture['view']}"
            link = nodes.reference("", "", refuri=address, reftitle="Open this report")
            image.replace_self(link)
            link += image


def write_pages(app: Sphinx, error: Exception | None) -> None:
    """The stored reports as pages, and the viewer."""
    if error or app.builder.name != "html":
        return
    out = Path(app.outdir)
    (out / "viewer.html").write_text(render_viewer(), encoding="utf-8")
    (out / "live").mkdir(exist_ok=True)
    for path in SHOWN:
        name = path.name.removesuffix(".compilescope.json")
        compilescope.load(path).save(out / "live" / f"{name}.html")
    missing = sorted(missing_files(out))
    if missing:
        raise ExtensionError("Links to files that the site does not have: " + ", ".join(missing))


def missing_files(out: Path) -> Iterator[str]:
    """Links to files that are not there. Sphinx only checks those between its sources."""
    for page in out.rglob("*.html"):
        if page.parent.name == "live" or page.name == "viewer.html":
            continue
        for link in re.findall(r'href="([^"#?:]+)["#?]', page.read_text(encoding="utf-8")):
            if not (page.parent / unquote(link)).exists():
                yield f"{page.relative_to(out)} → {link}"


_NO_COLON = "\N{RATIO}"


def hide_colons(
    app: Sphinx, what: str, name: str, obj: object, options: Any, lines: list[str]
) -> None:
    """Hides the colons in the first line of a field from Napoleon.

    It would take what stands before one for the type.
    """
    if what in ("attribute", "data", "property") and lines:
        lines[0] = lines[0].replace(":", _NO_COLON)


def show_colons(
    app: Sphinx, what: str, name: str, obj: object, options: Any, lines: list[str]
) -> None:
    """Puts them back."""
    lines[:] = [line.replace(_NO_COLON, ":") for line in lines]


def setup(app: Sphinx) -> None:
    """Add to Sphinx what is ours."""
    app.add_directive("live", LiveReport)
    app.connect("builder-inited", write_notebooks)
    app.connect("autodoc-process-docstring", hide_colons, priority=400)
    app.connect("autodoc-process-docstring", show_colons, priority=600)
    app.connect("doctree-read", link_pictures)
    app.connect("build-finished", write_pages)
