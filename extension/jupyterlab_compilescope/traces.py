"""Traces of the file browser, read by a thread of the server: a kernel takes seconds to start."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
from compilescope.comms.trace_answers import Answer, TraceAnswers, refused
from compilescope.report.errors import CompilescopeError
from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import ApiPath, ensure_async, to_os_path
from tornado import web

_MOST_OPEN = 4


class OpenTraces:
    """The traces that panels look at, the one that was asked last kept longest."""

    def __init__(self) -> None:
        self._open: OrderedDict[Path, TraceAnswers] = OrderedDict()
        self._lock = threading.Lock()

    def answer(self, path: Path, request: dict[str, Any]) -> Answer:
        """Answer a request about the trace at a path; an error is an answer too."""
        try:
            answers = self._answers(path)
        except CompilescopeError as error:
            return refused(request, error.problem)
        return answers.answer(request)

    def _answers(self, path: Path) -> TraceAnswers:
        with self._lock:
            answers = self._open.pop(path, None)
            if answers is None:
                # The handler has made a path of the server's of what the panel named.
                answers = TraceAnswers(path, follow=True, find=Path)
            self._open[path] = answers
            while len(self._open) > _MOST_OPEN:
                _, oldest = self._open.popitem(last=False)
                oldest.close()
        return answers


class TraceHandler(APIHandler):
    """Answers the panel's requests about a trace in the server's files."""

    auth_resource = "contents"

    def initialize(self, traces: OpenTraces, executor: ThreadPoolExecutor) -> None:
        """Take what all requests share."""
        self._traces = traces
        self._executor = executor

    @web.authenticated
    @authorized(action="read")  # type: ignore[untyped-decorator]
    async def post(self) -> None:
        """Answer ``{"path": …, "request": …}``; the path is the file browser's."""
        body = self.get_json_body() or {}
        request, name = body.get("request"), body.get("path")
        if not isinstance(request, dict) or not isinstance(name, str):
            raise web.HTTPError(400, "a path and a request are expected")
        path = await self._file(name)
        arguments = request.get("arguments")
        if request.get("command") == "compare_trace" and isinstance(arguments, dict):
            other = await self._file(str(arguments.get("path", "")))
            request = {**request, "arguments": {**arguments, "path": str(other)}}
        loop = asyncio.get_running_loop()
        answer = await loop.run_in_executor(self._executor, self._traces.answer, path, request)
        self.set_header("Content-Type", "application/json")
        self.finish(msgspec.json.encode(answer))

    async def _file(self, path: str) -> Path:
        """The file that the file browser calls by that path."""
        contents = self.contents_manager
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
