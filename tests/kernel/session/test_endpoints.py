"""The kernel's end of the line: every command, and wrong requests."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import compilescope as cs
import msgspec
import pytest
import torch
from comm.base_comm import CommManager
from compilescope.builds.measurement_state import MeasurementProgress, Series
from compilescope.comms import commands, messages
from compilescope.comms.endpoints import Endpoints
from compilescope.inspection.inspection import Inspection
from compilescope.jobs.jobs import Job
from compilescope.report import PARTS, Report, Timing, VariantReport, renderers
from compilescope.report.checkup import Check, Checkup
from compilescope.report.measurements.study_choice import StudyChoice
from compilescope.report.saving.page_contents import unpacked
from compilescope.report.what_if import GuardOutcome, WhatIf
from compilescope.session.reproducers import Reproducers
from compilescope.session.session import Session
from compilescope.studies.options import StudyOption

from .. import subjects
from ..panel import connect, request
from ..views_report import report

EXCHANGES = Path(__file__).parents[2] / "data" / "protocol" / "exchanges.json"


def timing(median: float, calls: int, ratio: float | None = None) -> Timing:
    timed = Timing(median_us=median, interval_us=(median - 1, median + 1), calls_per_sample=calls)
    if ratio is not None:
        timed.ratio, timed.ratio_interval, timed.differs = ratio, (ratio - 0.1, ratio + 0.1), True
    return timed


class Uncaptured:
    """Stands in for the sources of an inspection whose new variants call the subject."""

    def may_generate_elsewhere(self, _: cs.Variant) -> bool:
        return False

    def has_capture(self, _: cs.Variant) -> bool:
        return False


class BuiltVariants:
    """Stands in for an inspection: a report that is there."""

    sources = Uncaptured()

    def __init__(self, stored: Report) -> None:
        self.report = stored
        self.requested: dict[str, cs.Variant] = {}
        series = {
            "eager": Series(samples_us=[20.0, 21.0, 22.0], timing=timing(21.0, 3)),
            "cpp": Series(first=1, samples_us=[10.0, 10.5], timing=timing(10.25, 2, ratio=2.1)),
        }
        self.measurement = MeasurementProgress(
            id="measurement-1", state="running", rounds=3, series=series, fraction=0.25
        )

    def choices(self, option: StudyOption, variant: VariantReport) -> list[StudyChoice]:
        return [
            StudyChoice(name="eager", title="as written"),
            StudyChoice(name="torch.compile", estimate_s=12.5),
            StudyChoice(name="AOTInductor", why="It takes a module."),
        ]

    def what_if(self, variant: str, text: str, names: dict[str, Any]) -> WhatIf:
        guard = self.report.compilation("0/0", variant).guards[0]
        outcome = GuardOutcome(
            compilation="0/0",
            passes=False,
            guard=guard,
            place=0,
            expected="size(0) = 4",
            actual="size(0) = 2",
            message="tensor 'x' size mismatch at index 0. expected 4, actual 2",
        )
        return WhatIf(
            subject="f", arguments=[f"x: {text}"], verdict="recompile", outcomes=[outcome]
        )


@pytest.fixture
def session() -> Session:
    a_session = Session()
    result = report()
    a_session.inspections[result.subject.id] = BuiltVariants(result)
    a_session.revisions[result.subject.id] = 3
    return a_session


@pytest.fixture
def endpoints(manager: CommManager, session: Session) -> Endpoints:
    return Endpoints(session)


SUBJECT = report().subject.id
ASKED: list[dict[str, Any]] = [
    request("hello"),
    request("heartbeat"),
    request("get_report", subject=SUBJECT),
    request("get_artifact", subject=SUBJECT, variant="cpp", compilation="0/0", artifact="cpp"),
    request("get_artifact", subject=SUBJECT, variant="cpp", compilation="0/0", artifact="python"),
    request("get_variant", subject=SUBJECT, variant="cpp"),
    request("get_variant", subject=SUBJECT, variant="rust"),
    request(
        "get_compilation",
        subject=SUBJECT,
        variant="cpp",
        compilation="0/0",
        parts=list(PARTS),
    ),
    request("get_compilation", subject=SUBJECT, variant="cpp", compilation="0/0", parts=["graphs"]),
    request("get_graph", subject=SUBJECT, variant="cpp", compilation="0/0", stage="dynamo"),
    request("get_graph", subject=SUBJECT, variant="cpp", compilation="0/0", stage="joint"),
    request("search", subject=SUBJECT, text="def "),
    request("compare_trace", subject=SUBJECT, path="before.log"),
    request("read_on", subject=SUBJECT),
    request("what_if", subject=SUBJECT, variant="cpp", arguments="x[:2]"),
    request("what_if", subject="nobody", variant="cpp", arguments="x[:2]"),
    request("add_variant", subject=SUBJECT, variant={"cpp_wrapper": True}),
    request("add_variant", subject=SUBJECT, variant={"dynamic": True}),
    request("add_variant", subject=SUBJECT, variant={"mode": "fastest"}),
    request("start_run", subject=SUBJECT, variants=["python"]),
    request("start_run", subject=SUBJECT, variants=["rust"]),
    request("start_measure", subject=SUBJECT, variants=["cpp"], seconds=3.0),
    request("start_measure", subject=SUBJECT, variants=["rust"]),
    request("get_measurement", subject=SUBJECT),
    request("get_measurement", subject=SUBJECT, since=2),
    request("start_studies", subject=SUBJECT, studies=["layers"], variants=["cpp"]),
    request("start_studies", subject=SUBJECT, studies=["horoscope"]),
    request(
        "start_studies",
        subject=SUBJECT,
        studies=["deploy"],
        variants=["cpp"],
        options={"ways": ["eager"]},
    ),
    request("get_study_choices", subject=SUBJECT, study="deploy", variant="cpp"),
    request("start_sweep", subject=SUBJECT, variants=[{"cpp_wrapper": True}]),
    request("get_sweep", subject=SUBJECT),
    request("cancel_sweep", subject=SUBJECT),
    request("cancel", job="job-2"),
    request("save_report", subject=SUBJECT, format="json"),
    request("get_checkup", front_end="0.1.0"),
    request("get_reproducer", subject=SUBJECT, variant="cpp", compilation="0/0", graph="post_grad"),
    request("get_reproducer", subject=SUBJECT, variant="rust", compilation="0/0", kernel="k"),
    request("pin_tier", number=1, pinned=True),
    request("set_watch", on=False, clear=True),
    request("forget", subject=SUBJECT),
    request("get_report", subject=SUBJECT),
]


class Looked:
    """A checkup that is done."""

    finished = True

    def checkup(self) -> Checkup:
        check = Check(name="compiler", subject="C++ compiler", state="ok", finding="g++ 12")
        return Checkup(checks=[check], environment="torch 2.13.0")


def test_every_command_is_answered_as_both_ends_expect(
    endpoints: Endpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exchanges are kept in a file, which the front end's tests may decode too."""
    where = cs.report.Environment(torch="2.13.0")
    choices = cs.report.variant.Choices(backends=["inductor"], modes=["default"])
    monkeypatch.setattr(commands, "environment", lambda: where)
    monkeypatch.setattr(commands, "__version__", "0.1.0")
    monkeypatch.setattr(Session, "choices", lambda _: choices)
    monkeypatch.setattr("compilescope.torch_api.dynamo.compile_variant.modes", lambda: ["default"])
    monkeypatch.setattr("compilescope.comms.checkups._latest", Looked())
    monkeypatch.setattr(Job, "elapsed_s", 1.5)
    monkeypatch.setattr("compilescope.comms.tiers.current", list)
    monkeypatch.setattr(Reproducers, "_run", lambda *_: None)
    endpoints._session.id = "session-1"
    results = [{"request": asked, "reply": endpoints.answer(asked)} for asked in ASKED]
    exchanges = json.loads(json.dumps(results))
    if os.environ.get("COMPILESCOPE_UPDATE_GOLDENS"):
        EXCHANGES.parent.mkdir(exist_ok=True)
        EXCHANGES.write_text(json.dumps(exchanges, indent=1) + "\n", "utf-8")
    assert exchanges == json.loads(EXCHANGES.read_text("utf-8"))
    assert {asked["command"] for asked in ASKED} == set(messages.COMMANDS) == set(commands.HANDLERS)
    for exchange in exchanges:
        asked, answer = exchange["request"], exchange["reply"]
        reply = msgspec.convert(answer, messages.Reply)
        assert reply.id == "7"
        assert (reply.result is None) != (reply.error is None)
        _, result = messages.COMMANDS[asked["command"]]
        if reply.result is not None:
            msgspec.convert(reply.result, result)
    failed = [exchange for exchange in exchanges if exchange["reply"]["error"]]
    assert [exchange["request"]["command"] for exchange in failed] == [
        "get_artifact",
        "get_variant",
        "get_compilation",
        "get_graph",
        "compare_trace",
        "read_on",
        "what_if",
        "add_variant",
        "start_run",
        "start_measure",
        "start_studies",
        "start_sweep",
        "get_reproducer",
        "pin_tier",
        "get_report",
    ]


def test_the_texts_are_left_out_of_the_summary_and_fetched_one_by_one(
    endpoints: Endpoints,
) -> None:
    summary = endpoints.answer(request("get_report", subject=SUBJECT))["result"]
    code = report().compilation("0/0", "cpp").code.cpp
    assert code is not None
    assert code not in json.dumps(summary)
    for variant in summary["variants"]:
        for compilation in variant["compilations"]:
            for artifact in compilation["artifacts"]:
                item = endpoints.answer(
                    request(
                        "get_artifact",
                        subject=SUBJECT,
                        variant=variant["name"],
                        compilation=compilation["id"],
                        artifact=artifact["name"],
                    )
                )["result"]
                assert item["artifact"] == artifact
                assert len(item["text"].splitlines()) == artifact["lines"]


VERSIONS = (
    "The panel and the kernel have different versions. Install the same version of "
    "jupyterlab-compilescope in both and restart them."
)
WRONG: dict[str, tuple[Any, str, str]] = {
    "no dict": (["hello"], "", "Expected `object`, got `array`"),
    "nothing": (None, "", "Expected `object`, got `null`"),
    "no id": ({"version": 1}, "", "Object missing required field `client`"),
    "version's type": ({**request("hello"), "version": "1"}, "7", "got `str` - at `$.version`"),
    "another version": ({**request("hello"), "version": 99}, "7", VERSIONS),
    "unknown command": (request("explode"), "7", "does not know the command 'explode'"),
    "missing argument": (request("get_report"), "7", "missing required field `subject`"),
    "argument's type": (request("get_report", subject=3), "7", "at `$.subject`"),
    "inside an argument": (
        request("add_variant", subject=SUBJECT, variant={"cpp_wrapper": 1}),
        "7",
        "Expected `bool`, got `int` - at `$.variant.cpp_wrapper`",
    ),
    "in a list": (request("start_run", subject=SUBJECT, variants=["cpp", 3]), "7", "`$.variants[1"),
    "a choice": (request("save_report", subject=SUBJECT, format="pdf"), "7", "at `$.format`"),
    "unknown subject": (request("get_report", subject="x"), "7", "Run its cell again."),
    "unknown variant": (
        request("get_artifact", subject=SUBJECT, variant="r", compilation="0/0", artifact="cpp"),
        "7",
        "The report has no variant 'r'.",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_request_is_answered_with_what_is_wrong(endpoints: Endpoints, case: str) -> None:
    asked, name, message = WRONG[case]
    reply = msgspec.convert(endpoints.answer(asked), messages.Reply)
    assert reply.id == name
    assert reply.result is None
    assert reply.error is not None
    result = " ".join([reply.error.what, reply.error.why, reply.error.remedy])
    assert message in result
    assert reply.error.remedy
    assert endpoints.answer(request("heartbeat"))["error"] is None


ODD: tuple[Any, ...] = (
    *(None, True, -1, 1e308, -1e308, 10**30, "", "x", "0/0", "\x00", [], {}, [[]], {"a": 1}),
    *(float("nan"), float("inf"), "\ud800", "n" * 3_000_000),
)
HARMLESS = ("set_watch", "hello", "heartbeat", "get_checkup")
"""Start work whatever they are given, or look at the machine."""


@pytest.mark.parametrize(
    "asked",
    [request for request in ASKED if request["command"] not in HARMLESS],
    ids=lambda sent: sent["command"],
)
def test_whatever_a_request_holds_it_is_answered_or_refused_clearly(
    endpoints: Endpoints, asked: dict[str, Any]
) -> None:
    for key in asked["arguments"]:
        for odd in ODD:
            changed = {**asked, "arguments": {**asked["arguments"], key: odd}}
            reply = msgspec.convert(endpoints.answer(changed), messages.Reply)
            if reply.error is None:
                continue
            result = " ".join([reply.error.what, reply.error.why, reply.error.remedy])
            assert "compilescope failed" not in result, (key, str(odd)[:20], result[:300])
            assert reply.error.remedy
            assert len(result) < 10_000


@pytest.mark.parametrize(
    ("format_", "redact", "ending"),
    [
        ("html", False, "html"),
        ("html", True, "redacted.html"),
        ("json", False, "compilescope.json"),
        ("json", True, "redacted.compilescope.json"),
    ],
)
def test_a_report_without_code_has_a_name_of_its_own(
    endpoints: Endpoints, monkeypatch: pytest.MonkeyPatch, format_: str, redact: bool, ending: str
) -> None:
    monkeypatch.setitem(renderers, "page", lambda _: "<!doctype html>")
    asked = request("save_report", subject=SUBJECT, format=format_, redact=redact)
    reply = endpoints.answer(asked)
    assert reply["error"] is None
    assert reply["result"]["filename"] == f"{report().subject.name}.{ending}"


def test_a_report_to_keep_is_packed(endpoints: Endpoints) -> None:
    saved, kept = (
        endpoints.answer(request("save_report", subject=SUBJECT, format=form))["result"]["text"]
        for form in ("json", "packed")
    )
    assert unpacked(kept) == saved
    assert len(kept) < len(saved) / 2


def test_a_fault_of_ours_is_a_reply_with_its_details(
    endpoints: Endpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> messages.Done:
        raise LookupError("nobody home")

    monkeypatch.setitem(commands.HANDLERS, "heartbeat", fail)
    error = endpoints.answer(request("heartbeat"))["error"]
    assert error["what"] == "compilescope failed: LookupError: nobody home"
    assert "in fail" in error["detail"]
    assert endpoints.answer(request("hello"))["error"] is None


def test_requests_and_events_go_over_their_own_comms(
    manager: CommManager, endpoints: Endpoints, session: Session
) -> None:
    requests, events = connect(manager)
    assert requests.ask("hello")["result"]["protocol"] == messages.PROTOCOL_VERSION
    assert events.sent == []
    answer = requests.ask("start_run", subject=SUBJECT)
    assert answer["result"]["job"]["state"] == "queued"
    assert events.events == ["job_changed"]
    requests.ask("cancel", job=answer["result"]["job"]["id"])
    requests.ask("forget", subject=SUBJECT)
    assert events.events == ["job_changed", "job_changed", "subjects_changed"]
    assert events.sent[-1]["data"] == {"subjects": [], "focus": None, "offer": None}
    assert len(requests.sent) == 4, "on the requests' comm the kernel only replies"
    for event in events.sent:
        msgspec.convert(event["data"], messages.EVENTS[event["event"]])


def test_options_that_are_not_json_go_as_text(endpoints: Endpoints, session: Session) -> None:
    report = session.inspections[SUBJECT].report
    report.variants[0].requested = cs.Variant(options={"post_grad_custom_pre_pass": len})
    (first, *_) = endpoints.answer(request("get_report", subject=SUBJECT))["result"]["variants"]
    assert first["requested"]["options"] == {"post_grad_custom_pre_pass": "<built-in function len>"}


@pytest.mark.usefixtures("captured_in_kernel")
def test_the_start_expression_runs_the_queue(
    manager: CommManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    from compilescope.session import session as sessions

    session = Session()
    monkeypatch.setattr(sessions, "_session", session)
    endpoints = Endpoints(session)
    report = session.inspect(subjects.plain, (torch.randn(4, 8),), variants="python", run=False)
    asked = request("add_variant", subject=report.subject.id, variant={"dynamic": True})
    answer = endpoints.answer(asked)["result"]
    assert answer["job"]["state"] == "queued"
    namespace: dict[str, Any] = {}
    eval(answer["code"], namespace)
    assert [name for name in namespace if name != "__builtins__"] == []
    assert report.variant(answer["name"]).stage == "sources"
    assert endpoints.answer(asked)["result"]["code"] == ""
    assert isinstance(session.inspections[report.subject.id], Inspection)
