"""The kernel's side of the comms to the panels.

Each panel opens two comms. On `REQUESTS_TARGET` the kernel publishes only inside the handler of a
request: ipykernel routes later messages of a comm to the shell that published on it last, so a
message from the busy main thread would make the next request wait for it. Everything else goes out
on `EVENTS_TARGET`, on which the panel sends nothing.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import comm
import msgspec
from comm.base_comm import BaseComm

from ..jobs.jobs import Job
from ..report.errors import CompilescopeError
from ..report.problem import Struct
from ..report.tiers import GraphTiers
from ..session.session import Session
from ..tiers import observers
from . import commands, ipykernel_workaround, messages, report_without_texts, sweeps
from .answering import answer_into
from .clients import Clients, Line, to_builtins
from .measuring import SentRounds
from .reply_parts import in_parts


class Endpoints:
    """Serves the panels of one kernel.

    Parameters
    ----------
    session
        What there is to show.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._clients = Clients()
        self._sent_rounds = SentRounds()
        self._stop = session.observe(self._observe)
        self._stop_tiers = observers.observe(self._observe_tiers)
        session.is_shown = self.is_heard
        self._put_back = ipykernel_workaround.write_through_stream()
        manager = comm.get_comm_manager()
        manager.register_target(messages.REQUESTS_TARGET, self._open_requests)
        manager.register_target(messages.EVENTS_TARGET, self._open_events)

    def close(self) -> None:
        """Stops serving panels."""
        self._stop()
        self._stop_tiers()
        self._session.is_shown = lambda: False
        self._put_back()
        manager = comm.get_comm_manager()
        manager.unregister_target(messages.REQUESTS_TARGET, self._open_requests)
        manager.unregister_target(messages.EVENTS_TARGET, self._open_events)

    def _open_requests(self, opened: BaseComm, message: dict[str, Any]) -> None:
        self._clients.open(_client(message), "requests", opened)
        opened.on_msg(lambda incoming: _send(opened, self.answer(incoming["content"]["data"])))
        opened.on_close(lambda _: self._clients.close(opened))

    def _open_events(self, opened: BaseComm, message: dict[str, Any]) -> None:
        self._clients.open(_client(message), "events", opened)
        opened.on_close(lambda _: self._clients.close(opened))

    def admit(self, name: str, line: Line) -> None:
        """Registers a panel that sends requests and receives events outside the comms."""
        self._clients.open(name, "events", line, follows=False)

    def is_heard(self) -> bool:
        """Whether a panel is connected that follows the cells."""
        return self._clients.listening()

    def answer(self, data: Any) -> dict[str, Any]:
        """The reply to a request, as plain data. Never raises: an error is a reply too."""
        reply = messages.Reply(id=str(data.get("id", "")) if isinstance(data, dict) else "")
        answer_into(reply, lambda: to_builtins(self._result(data)), "kernel")
        if reply.error is not None:
            for field in ("what", "why", "remedy"):
                setattr(reply.error, field, _shortened(getattr(reply.error, field)))
        return to_builtins(reply)

    def _result(self, data: Any) -> Struct:
        try:
            json.dumps(data, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            # JSON can escape a lone surrogate, which no reply could quote.
            raise CompilescopeError(
                "The panel's message contains a lone surrogate.",
                "A text in it cannot be written in UTF-8.",
                "Type the text again.",
            ) from None
        request = msgspec.convert(data, messages.Request)
        self._clients.note_request(request.client)
        if request.version != messages.PROTOCOL_VERSION or request.command not in messages.COMMANDS:
            raise commands.unknown(request.command)
        arguments_type, _ = messages.COMMANDS[request.command]
        arguments = msgspec.convert(request.arguments, arguments_type)
        return commands.HANDLERS[request.command](self._session, arguments)

    def _observe(
        self, kind: str, subject: str, job: Job | None, variants: Collection[str] | None
    ) -> None:
        if kind == "measured":
            self._measured(subject)
            return
        if not len(self._clients):
            return
        if job is not None:
            self._clients.broadcast(
                "job_changed", messages.JobChanged(job=report_without_texts.job(job))
            )
        elif kind == "sweep":
            for news in sweeps.changed_cells(self._session, subject):
                self._clients.broadcast("sweep_changed", news)
        elif kind == "choices":
            choices = self._session.choices()
            self._clients.broadcast("choices_changed", messages.ChoicesChanged(choices=choices))
        elif kind == "watch":
            state = self._session.watcher.state()
            self._clients.broadcast("watch_changed", messages.WatchChanged(watch=state))
        elif kind == "subjects":
            listed = commands.subjects(self._session)
            self._clients.broadcast(
                "subjects_changed", messages.SubjectsChanged(subjects=listed, focus=subject or None)
            )
        elif kind == "offer":
            listed = commands.subjects(self._session)
            self._clients.broadcast(
                "subjects_changed", messages.SubjectsChanged(subjects=listed, offer=subject)
            )
        else:
            revision = self._session.revisions.get(subject, 0)
            changed = None if variants is None else sorted(variants)
            self._clients.broadcast(
                "report_changed",
                messages.ReportChanged(subject=subject, revision=revision, variants=changed),
            )

    def _observe_tiers(self, graph: GraphTiers) -> None:
        if len(self._clients):
            self._clients.broadcast("tiers_changed", messages.TiersChanged(graph=graph))

    def _measured(self, subject: str) -> None:
        if subject not in self._session.inspections:
            return  # the subject was dropped: its measurement ends at the next round
        # Also without a listener: a panel that connects later asks for the earlier rounds.
        news = self._sent_rounds.new_samples(subject, self._session.measurement(subject))
        if len(self._clients):
            self._clients.broadcast("measured", messages.Measured(measurement=news))


def _send(opened: BaseComm, reply: dict[str, Any]) -> None:
    for message in in_parts(reply):
        opened.send(message)


def _client(message: dict[str, Any]) -> str:
    data = message["content"].get("data") or {}
    return str(data.get("client", message["content"]["comm_id"]))


_endpoints: Endpoints | None = None


def start(session: Session) -> Endpoints:
    """Starts to serve panels. Further calls in the same kernel have no effect."""
    global _endpoints
    if _endpoints is None:
        _endpoints = Endpoints(session)
    return _endpoints


def is_serving() -> bool:
    """Whether panels are served. The front end asks before it says that they are not."""
    return _endpoints is not None


def is_connected() -> bool:
    """Whether a panel shows what this kernel inspects."""
    return _endpoints is not None and _endpoints.is_heard()


def stop() -> None:
    """Stops serving panels."""
    global _endpoints
    if _endpoints is not None:
        _endpoints.close()
        _endpoints = None


def _shortened(text: str) -> str:
    """A sentence that quotes a request, its middle left out if it is too long to read."""
    return (
        text
        if len(text) <= _MAX_CHARACTERS
        else f"{text[: _MAX_CHARACTERS // 2]} … {text[-_MAX_CHARACTERS // 2 :]}"
    )


_MAX_CHARACTERS = 2000
"""Characters of a sentence."""
