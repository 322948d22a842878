"""A report as one HTML file with all the views of the panel, without network access."""

from __future__ import annotations

import gzip
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from ..report import Report
from ..report.errors import CompilescopeError
from ..report.saving.page_contents import LARGE, packed
from .html import report as html
from .html.templating import render as render_template

_BUILT = Path(__file__).parent / "built"
_POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; "
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
    parts = _built_parts("The page cannot be served")
    return _page(parts, title, requests=requests, sent=True)


def render_live() -> str | None:
    """Return a page without a report, which asks its host for one; None without built views."""
    parts = _parts()
    return None if parts is None else _page(parts, "compilescope", sent=True)


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
    """The built views."""

    script: bytes
    """Compressed with gzip, as the style is."""
    style: bytes
    unpack: str
    """The script that starts the compressed views."""
    worker: str
    licenses: str


@cache
def _parts() -> _Parts | None:
    """The parts of pages; None if the views are not built."""
    try:
        script, style, unpack, worker, licenses = (
            (_BUILT / name).read_bytes()
            for name in ("page.js.gz", "page.css.gz", "unpack.js", "worker.js", "licenses.txt")
        )
    except FileNotFoundError:
        return None
    texts = (_in_script(text.decode()) for text in (unpack, worker, licenses))
    return _Parts(script, style, *texts)


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
    sent: bool = False,
) -> str:
    """A page around one of its contents.

    It holds the views compressed, which take most of a small one. A page that a program sends
    holds them as they are, and starts while it is loaded: what sends it compresses it if need be.
    """
    views = gzip.decompress(parts.script).decode()
    start = f"\n{_in_script(views) if sent else parts.unpack}\n"
    style = gzip.decompress(parts.style).decode().replace("</style", "<\\/style") if sent else ""
    policy = _POLICY.format(scripts=" ".join(map(_hash, (start,) if sent else (start, views))))
    if requests:
        policy += "; connect-src 'self'"
    if viewer:
        policy += f"; connect-src {_REPORTS_FROM}"
    return render_template(
        "saved_page.html",
        page=True,
        title=title,
        policy=policy,
        style=Markup(style),
        packed_style="" if sent else _base64(parts.style),
        packed_script="" if sent else _base64(parts.script),
        data=data,
        packed=packed,
        requests=requests,
        viewer=viewer,
        worker=Markup(parts.worker),
        licenses=Markup(parts.licenses),
        script=Markup(start),
    )


def _in_script(text: str) -> str:
    """Text for a script element, which must not look like its end or like a comment."""
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _base64(data: bytes) -> str:
    return b64encode(data).decode()


@cache
def _hash(script: str) -> str:
    """The hash by which a policy allows a script. A built script has only Unix line ends."""
    return f"'sha256-{_base64(sha256(script.encode()).digest())}'"
