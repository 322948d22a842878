"""A report as one HTML file with all the views of the panel, without network access."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from ..report import Report
from ..report.errors import CompilescopeError
from ..report.saving.saved_pages import LARGE, packed
from .html import report as html
from .html.templating import render as render_template

_BUILT = Path(__file__).parent / "built"
_POLICY = (
    "default-src 'none'; script-src '{script}'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:; worker-src blob:; base-uri 'none'; form-action 'none'"
)
"""The policy by which the browser refuses external resources and any script but this page's."""

_REPORTS_FROM = "'self' https: http://127.0.0.1:* http://localhost:*"
"""The sources from which the viewer may load a report that its address names."""

_UNBUILT = Markup(
    "<p>This compilescope was installed without its views: graph, guards and the others are left "
    "out here. <code>make setup</code> builds them.</p>"
)


def render(report: Report) -> str:
    """Return a report as a standalone page.

    The views are built with the front end. Without them (a source checkout without a build), the
    page has the report without scripts, and says so.
    """
    parts = _parts()
    if parts is None:
        return html.render(report, full=True, notice=_UNBUILT)
    text = report.to_json()
    if len(text) >= LARGE:
        return _page(parts, report.subject.name, packed=packed(text))
    # A script element must not contain text that looks like its end or like a comment.
    data = Markup(text.replace("<", "\\u003c"))
    return _page(parts, report.subject.name, data=data)


def render_served(title: str, requests: str) -> str:
    """Return a page without a report, which requests its contents from a server.

    Parameters
    ----------
    title
        The title of the page.
    requests
        The address for requests, relative to the page's.

    Raises
    ------
    CompilescopeError
        The views are not built.
    """
    return _page(_built_parts("The page cannot be served"), title, requests=requests)


def render_live() -> str | None:
    """Return a page without a report, which asks its host for one; None without built views."""
    parts = _parts()
    return None if parts is None else _page(parts, "compilescope")


def render_viewer() -> str:
    """Return a page that shows reports dropped onto it or named in its address.

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
    """The parts of pages; None if the views are not built."""
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
    """The hash by which a policy allows a script. A built script has only Unix line ends."""
    return f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}"
