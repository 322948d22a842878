"""Reads traces of the file browser in a server thread, since a kernel takes seconds to start."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
from compilescope.comms.trace_answers import Answer, TraceAnswers, failed_answer
from compilescope.report.errors import CompilescopeError
from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from tornado import web

from .files import server_file

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
            return failed_answer(request, error.problem)
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
        path = await server_file(self, name)
        arguments = request.get("arguments")
        if request.get("command") == "compare_trace" and isinstance(arguments, dict):
            other = await server_file(self, str(arguments.get("path", "")))
            request = {**request, "arguments": {**arguments, "path": str(other)}}
        loop = asyncio.get_running_loop()
        answer = await loop.run_in_executor(self._executor, self._traces.answer, path, request)
        self.set_header("Content-Type", "application/json")
        self.finish(msgspec.json.encode(answer))
