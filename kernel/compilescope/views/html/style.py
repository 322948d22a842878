"""Colors and shapes of the HTML views, as inline styles or as one style sheet.

GitHub takes ``<style>`` out of notebook outputs, so in a cell every element carries its style. A
whole page names classes instead, which is smaller and follows the reader's color scheme.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from markupsafe import Markup


class Color(NamedTuple):
    """A color: JupyterLab's variable for it, and a fallback."""

    variable: str
    light: str
    dark: str


PALETTE = {
    "paper": Color("--jp-cell-editor-background", "#f6f8fa", "#151b23"),
    "ink": Color("--jp-content-font-color1", "#1f2328", "#e6edf3"),
    "keyword": Color("--jp-mirror-editor-keyword-color", "#a1261f", "#ff7b72"),
    "string": Color("--jp-mirror-editor-string-color", "#0a3069", "#a5d6ff"),
    "comment": Color("--jp-mirror-editor-comment-color", "#59636e", "#9198a1"),
    "number": Color("--jp-mirror-editor-number-color", "#0550ae", "#79c0ff"),
    "define": Color("--jp-mirror-editor-def-color", "#6639ba", "#d2a8ff"),
    "builtin": Color("--jp-mirror-editor-builtin-color", "#0b6b3a", "#7ee787"),
    "error": Color("--jp-error-color1", "#cf222e", "#f85149"),
    "warning": Color("--jp-warn-color1", "#bf8700", "#d29922"),
    "info": Color("--jp-info-color1", "#0969da", "#4493f8"),
    "good": Color("--jp-success-color1", "#1a7f37", "#3fb950"),
    "bar": Color("--jp-brand-color1", "#2f6feb", "#4493f8"),
}

# Except in code blocks, which have their own background, text keeps the page's color and grays are
# made by opacity: that is readable on any background.
_CELL = "padding:3px 10px;text-align:left;vertical-align:top;max-width:none;"
_CODE = (
    "margin:0;padding:0;background:none;border:0;color:inherit;white-space:pre;overflow-x:auto;"
    "word-break:normal;tab-size:4;text-align:left;line-height:1.45;font-size:12px;"
    "font-family:var(--jp-code-font-family,ui-monospace,SFMono-Regular,Menlo,Consolas,monospace);"
)
STYLES = {
    "root": "font-size:13px;line-height:1.4;max-width:100%;",
    "title": "margin:4px 0 0;font-size:16px;font-weight:600;",
    "muted": "opacity:.72;",
    "note": "opacity:.72;font-size:11px;",
    "verdict": "margin:4px 0 0;font-size:14px;font-weight:600;",
    "answer": "margin:4px 0 0;",
    # Next to the panel: long content scrolls above the button, and a narrow notebook has smaller
    # figures, so that no column is cut off.
    "beside": "container-type:inline-size;",
    "short": "display:flex;flex-direction:column;max-height:384px;",
    "rest": "min-height:0;overflow-y:auto;font-size:clamp(11px,4.6cqi,13px);",
    "foot": "flex:none;padding-top:2px;",
    # The lines of a headline of two sentences in a notebook next to the panel at 1280 px.
    "six-lines": "display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:6;"
    "overflow:hidden;",
    # The lines of all counts and of the parts of the compile time in such a notebook.
    "four-lines": "display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:4;"
    "overflow:hidden;",
    "two-lines": "display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;"
    "overflow:hidden;",
    "one-line": "overflow:hidden;text-overflow:ellipsis;white-space:nowrap;",
    "button": "margin:0 8px 0 0;padding:2px 10px;border:1px solid $bar;border-radius:3px;"
    "background:none;color:$bar;font:inherit;font-weight:600;cursor:pointer;",
    "list": "margin:2px 0 0;padding-left:22px;",
    "results": "font-size:13px;margin:4px 0;",
    "near": "padding:1px clamp(3px,2.2cqi,8px) 1px 0;font-size:clamp(10px,4.6cqi,13px);"
    "font-weight:400;",
    # Room for two words, if possible: "too noisy to judge" takes two lines, not four.
    "two-words": "width:28%;",
    "good": "color:$good;",
    "bad": "color:$error;",
    "stack": "display:flex;height:12px;margin:5px 0 3px;border-radius:3px;overflow:hidden;"
    "max-width:640px;",
    "legend": "display:inline-block;margin-right:12px;font-size:12px;opacity:.85;",
    "swatch": "display:inline-block;width:9px;height:9px;margin-right:4px;border-radius:2px;",
    "part-guards": "background:#5b8fd9;",
    "part-aot": "background:#9b6bd1;",
    "part-wrapper": "background:#3aa6a0;",
    "part-launches": "background:#e8923c;",
    "part-kernels": "background:#58a55c;",
    "part-compiled": "background:#58a55c;",
    "part-eager": "background:#8c959f;",
    "part-other": "background:#c0c5ca;",
    "line": "margin:2px 0 10px;opacity:.72;",
    "part": "margin:14px 0 4px;",
    "summary": "cursor:pointer;padding:2px 0;overflow-wrap:anywhere;",
    "table": "border-collapse:collapse;margin:8px 0;border:0;table-layout:auto;",
    "head": _CELL + "font-weight:600;border-bottom:1px solid rgba(128,128,128,.45);",
    "cell": _CELL + "border-bottom:1px solid rgba(128,128,128,.2);overflow-wrap:anywhere;",
    "words": _CELL + "border-bottom:1px solid rgba(128,128,128,.2);overflow-wrap:break-word;",
    "figure": _CELL + "border-bottom:1px solid rgba(128,128,128,.2);white-space:nowrap;"
    "font-variant-numeric:tabular-nums;",
    "problem": "margin:8px 0;padding:6px 12px;border-left:4px solid $info;"
    "background:rgba(128,128,128,.1);overflow-wrap:anywhere;",
    "problem-warning": "border-left-color:$warning;",
    "problem-error": "border-left-color:$error;",
    "problem-mark": "font-weight:600;",
    "paper": "margin:6px 0;padding:8px 10px;background:$paper;color:$ink;"
    "border:1px solid rgba(128,128,128,.3);border-radius:4px;overflow:hidden;",
    "code": _CODE,
    "row": "display:block;width:max-content;min-width:100%;",
    "link": "color:inherit;text-decoration:underline;overflow-wrap:anywhere;",
    "plain": "background:none;",
    "scroll": "max-width:100%;overflow-x:auto;",
    "sides": "max-width:100%;overflow-x:auto;margin:6px 0;",
    "window": "max-height:420px;overflow-y:auto;",
    "number": "opacity:.5;user-select:none;",
    "pair": "width:100%;min-width:720px;table-layout:fixed;border-collapse:collapse;margin:0;"
    "background:$paper;color:$ink;border:1px solid rgba(128,128,128,.3);",
    "side-head": "padding:6px 10px;text-align:left;font-weight:600;width:50%;max-width:none;"
    "border-bottom:1px solid rgba(128,128,128,.45);background:$paper;",
    "side": "padding:1px 8px;text-align:left;vertical-align:top;width:50%;max-width:none;"
    "background:$paper;border:0;border-left:4px solid transparent;",
    "side-next": "border-left-color:rgba(128,128,128,.18);",
    "launch": "border-left-style:solid;",
    "gap": "opacity:.72;font-style:italic;",
    "whole": "white-space:nowrap;font-variant-numeric:tabular-nums;",
    "track-cell": "width:60px;padding-right:0;",
    "last": "padding-right:0;",
    "track": "display:inline-block;width:calc(100% - 8px);height:8px;vertical-align:middle;"
    "background:rgba(128,128,128,.22);border-radius:2px;",
    "fill": "display:block;height:8px;border-radius:2px;background:$bar;",
    "fill-base": "background:rgba(128,128,128,.75);",
    "fill-noisy": "background:repeating-linear-gradient(135deg,rgba(128,128,128,.6) 0 3px,"
    "transparent 3px 6px);",
    "tok-keyword": "color:$keyword;",
    "tok-string": "color:$string;",
    "tok-comment": "color:$comment;",
    "tok-number": "color:$number;",
    "tok-define": "color:$define;",
    "tok-builtin": "color:$builtin;",
}
"""Name → its CSS; ``$name`` is a color of `PALETTE`."""

_PAGE = """
html{color-scheme:light dark}
body{margin:0 auto;padding:20px 24px 60px;max-width:1500px;background:var(--cs-page);
color:var(--cs-ink);font-family:system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
.cs-row:hover{background:rgba(128,128,128,.12)}
summary:focus-visible{outline:2px solid var(--cs-info);outline-offset:2px}
@media (max-width:800px){.cs-pair{min-width:0}.cs-pair,.cs-pair>*,.cs-pair>*>tr{display:block}
.cs-side,.cs-side-head{display:block;width:auto}}
@media print{details::details-content{content-visibility:visible;display:block}}
"""


class Styles:
    """Writes an element's style inline (``page=False``) or as classes (``page=True``)."""

    def __init__(self, *, page: bool = False) -> None:
        self.page = page

    def attributes(self, names: str = "", extra: str = "") -> Markup:
        """Return the attributes, with a leading space, that give an element its styles.

        Parameters
        ----------
        names
            Names in `STYLES`, with spaces between.
        extra
            CSS of this one element: a width, a hue.
        """
        return _attributes(names, extra, self.page)


@lru_cache(maxsize=1024)
def _attributes(names: str, extra: str, page: bool) -> Markup:
    listed = names.split()
    css = extra if page else "".join(_inline(name) for name in listed) + extra
    classes = " ".join(f"cs-{name}" for name in listed) if page else ""
    written = Markup(' class="{}"').format(classes) if classes else Markup()
    return written + (Markup(' style="{}"').format(css) if css else "")


def style_sheet() -> str:
    """Return the style sheet of a whole page, for light and for dark."""
    light = "".join(f"--cs-{name}:{color.light};" for name, color in PALETTE.items())
    dark = "".join(f"--cs-{name}:{color.dark};" for name, color in PALETTE.items())
    rules = "\n".join(f".cs-{name}{{{_colors(css, page=True)}}}" for name, css in STYLES.items())
    return (
        f":root{{--cs-page:#ffffff;{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{--cs-page:#0d1117;{dark}}}}}\n"
        f"{rules}{_PAGE}"
    )


def _inline(name: str) -> str:
    return _colors(STYLES[name], page=False)


def _colors(css: str, *, page: bool) -> str:
    def value(match: re.Match[str]) -> str:
        color = PALETTE[match[1]]
        return f"var(--cs-{match[1]})" if page else f"var({color.variable},{color.light})"

    return re.sub(r"\$([a-z]+)", value, css)
