"""How `make docs` builds the site."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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
