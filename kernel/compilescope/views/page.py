"""A report as one HTML file with all the views of the panel, which asks nothing of the network."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from markupsafe import Markup

from ..report import Report
from .html import report as html
from .html.templating import render as render_template

_BUILT = Path(__file__).parent / "built"
_POLICY = (
    "default-src 'none'; script-src '{script}'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:; worker-src blob:; base-uri 'none'; form-action 'none'"
)
"""The browser itself refuses whatever would come from elsewhere, and any script but ours."""

_UNBUILT = Markup(
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
        return html.render(report, full=True, notice=_UNBUILT)
    script = f"\n{script}\n"
    return render_template(
        "saved_page.html",
        page=True,
        title=report.subject.name,
        policy=_POLICY.format(script=_hash(script)),
        style=Markup(style),
        # In a script element nothing may look like its end, or like a comment.
        data=Markup(report.to_json().replace("<", "\\u003c")),
        worker=Markup(worker),
        licenses=Markup(licenses),
        script=Markup(script),
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
