"""A report as one HTML file with all the views of the panel, which asks nothing of the network."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path

from ..report import Report
from .html import report as html

_BUILT = Path(__file__).parent / "built"
_POLICY = (
    "default-src 'none'; script-src '{script}'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:; worker-src blob:; base-uri 'none'; form-action 'none'"
)
"""The browser itself refuses whatever would come from elsewhere, and any script but ours."""

_UNBUILT = (
    "<p>This compilescope was installed without its views: graph, guards and the others are left "
    "out here. <code>make setup</code> builds them.</p>"
)


def render(report: Report) -> str:
    """Return a report as a page of its own.

    The views are built with the front end; where that was not done (a source checkout without a
    build), the page holds the report without scripts, and says so.
    """
    script, worker, style, licenses = map(
        _built, ("page.js", "worker.js", "page.css", "licenses.txt")
    )
    if script is None or worker is None or style is None or licenses is None:
        return html.render(report, full=True).replace("<main>", f"<main>{_UNBUILT}", 1)
    # In a script element nothing may look like its end, or like a comment.
    data = report.to_json().replace("<", "\\u003c")
    script = f"\n{script}\n"
    policy = _POLICY.format(script=_hash(script))
    return (
        '<!doctype html>\n<html lang="en" data-theme="light"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(report.subject.name)} - compilescope</title>\n<style>\n{style}\n</style>"
        "</head>\n<body><noscript>This page shows the report with a script, which it holds itself: "
        "it needs no network.</noscript>\n"
        f'<script type="application/json" id="report">{data}</script>\n'
        f'<script type="text/plain" id="layout-worker">{worker}</script>\n'
        f'<script type="text/plain" id="licenses">\n{licenses}</script>\n'
        f"<script>{script}</script></body></html>\n"
    )


@cache
def _built(name: str) -> str | None:
    path = _BUILT / name
    if not path.exists():
        return None
    text = path.read_text(encoding="utf-8")
    end = "</style" if name.endswith("css") else "</script"
    return text.replace(end, end.replace("/", "\\/")).replace("<!--", "<\\!--")


@cache
def _hash(script: str) -> str:
    """What a policy calls a script by; the built one has no other line ends than Unix's."""
    return f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}"
