"""Adds the overview to saved reports from earlier versions that the file browser opens."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from compilescope.report.errors import CompilescopeError
from compilescope.report.saving.storage import load
from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from tornado import web

from .files import server_file


def completed(path: Path) -> str:
    """The report in a file as this version saves it: with all that it works out from the rest."""
    return load(path).to_json()


class ReportHandler(APIHandler):
    """Completes a saved report, which the panel reads by itself where it is complete."""

    auth_resource = "contents"

    def initialize(self, executor: ThreadPoolExecutor) -> None:
        """Take what all requests share."""
        self._executor = executor

    @web.authenticated
    @authorized(action="read")  # type: ignore[untyped-decorator]
    async def post(self) -> None:
        """Answer ``{"path": …}`` with the completed report; the path is the file browser's."""
        name = (self.get_json_body() or {}).get("path")
        if not isinstance(name, str):
            raise web.HTTPError(400, "a path is expected")
        path = await server_file(self, name)
        loop = asyncio.get_running_loop()
        try:
            text = await loop.run_in_executor(self._executor, completed, path)
        except CompilescopeError as error:
            raise web.HTTPError(422, str(error)) from None
        self.set_header("Content-Type", "application/json")
        self.finish(text)
