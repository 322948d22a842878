"""The files that the file browser shows, as paths of this machine."""

from __future__ import annotations

from pathlib import Path

from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import ApiPath, ensure_async, to_os_path
from tornado import web


async def server_file(handler: APIHandler, path: str) -> Path:
    """The file that the file browser calls by that path; no file outside its folder."""
    contents = handler.contents_manager
    root = getattr(contents, "root_dir", None)
    if root is None:
        raise web.HTTPError(501, "the server's files are not in a folder of this machine")
    hidden = contents.is_hidden(path)  # type: ignore[no-untyped-call]
    if not contents.allow_hidden and await ensure_async(hidden):
        raise web.HTTPError(404, f"there is no {path!r}")
    file = Path(to_os_path(ApiPath(path.strip("/")), root))
    if ".." in file.relative_to(root).parts:
        raise web.HTTPError(404, f"there is no {path!r}")
    return file
