"""A report as one HTML file with all the views of the panel, which asks nothing of the network."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from ..report import Report
from ..report.errors import CompilescopeError
from .html import report as html
from .html.templating import render as render_template
from .packing import LARGE, packed

_BUILT = Path(__file__).parent / "built"
_POLICY = (
    "default-src 'none'; script-src '{script}'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:; worker-src blob:; base-uri 'none'; form-action 'none'"
)
"""The browser itself refuses whatever would come from elsewhere, and any script but ours."""

_REPORTS_FROM = "'self' https: http://127.0.0.1:* http://localhost:*"
"""Where the viewer may load a report from that its address names."""

_UNBUILT = Markup(
    "<p>This compilescope was installed without its views: graph, guards and the others are left "
    "out here. <code>make setup</code> builds them.</p>"
)


def render(report: Report) -> str:
    """Return a report as a page of its own.

    The views are built with the front end; where that was not done (a source checkout without a
    build), the page holds the report without scripts, and says so.
    """
    parts = _parts()
    if parts is None:
        return html.render(report, full=True, notice=_UNBUILT)
    text = report.to_json()
    if len(text) >= LARGE:
        return _page(parts, report.subject.name, packed=packed(text))
    # In a script element nothing may look like its end, or like a comment.
    data = Markup(text.replace("<", "\\u003c"))
    return _page(parts, report.subject.name, data=data)


def render_served(title: str, requests: str) -> str:
    """Return a page without a report, which asks a server for what it shows.

    Parameters
    ----------
    title
        What the page is called.
    requests
        The address for requests, relative to the page's.

    Raises
    ------
    CompilescopeError
        The views are not built.
    """
    return _page(_built_parts("The page cannot be served"), title, requests=requests)


def render_live() -> str | None:
    """Return a page without a report, which asks whoever shows it; None without built views."""
    parts = _parts()
    return None if parts is None else _page(parts, "compilescope")


def render_viewer() -> str:
    """Return a page that shows the reports that are dropped onto it, or that its address names.

    Raises
    ------
    CompilescopeError
        The views are not built.
    """
    return _page(_built_parts("There is no viewer"), "viewer", viewer=True)


def relay() -> str | None:
    """Return the script that shows a live page in a notebook's cell; None without built views."""
    path = _BUILT / "relay.js"
    return path.read_text(encoding="utf-8") if path.exists() else None


class _Parts(NamedTuple):
    script: str
    worker: str
    style: str
    licenses: str


def _parts() -> _Parts | None:
    """What pages are made of; None where the views are not built."""
    parts = [_built(name) for name in ("page.js", "worker.js", "page.css", "licenses.txt")]
    return None if None in parts else _Parts(*map(str, parts))


def _built_parts(consequence: str) -> _Parts:
    parts = _parts()
    if parts is None:
        raise CompilescopeError(
            f"{consequence}: this compilescope was installed without its views.",
            remedy="Build them with make setup, or use compilescope show for text.",
        )
    return parts


def _page(
    parts: _Parts,
    title: str,
    *,
    data: str = "",
    packed: str = "",
    requests: str = "",
    viewer: bool = False,
) -> str:
    script = f"\n{parts.script}\n"
    policy = _POLICY.format(script=_hash(script))
    if requests:
        policy += "; connect-src 'self'"
    if viewer:
        policy += f"; connect-src {_REPORTS_FROM}"
    return render_template(
        "saved_page.html",
        page=True,
        title=title,
        policy=policy,
        style=Markup(parts.style),
        data=data,
        packed=packed,
        requests=requests,
        viewer=viewer,
        worker=Markup(parts.worker),
        licenses=Markup(parts.licenses),
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
