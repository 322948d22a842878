"""What the panel asks of a trace, answered without a kernel: on loopback, and in Jupyter."""

from __future__ import annotations

import gzip
import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
from compilescope.cli.page_server import REQUESTS, PageServer
from compilescope.comms import report_parts, report_without_texts
from compilescope.comms.clients import to_builtins
from compilescope.comms.trace_answers import TraceAnswers
from compilescope.report.errors import CompilescopeError

TRACES = Path(__file__).parents[2] / "data" / "traces"
CPP = TRACES / "h200-torch2.11-mlp_b1_cpp.log.gz"
LIMIT = TRACES / "cpu-torch2.13-limit.log.gz"


def request(command: str, **arguments: Any) -> dict[str, Any]:
    return {"version": 1, "client": "c", "id": "7", "command": command, "arguments": arguments}


def ask(answers: TraceAnswers, command: str, **arguments: Any) -> Any:
    answer = answers.answer(request(command, **arguments))
    assert answer.reply.error is None
    return answer.reply.result


@pytest.fixture
def answers() -> Iterator[TraceAnswers]:
    """Of a folder with two processes."""
    answers = TraceAnswers(CPP)
    yield answers
    answers.close()


def test_parts_texts_and_graphs_are_those_of_the_whole_report(answers: TraceAnswers) -> None:
    report = cs.read_trace(CPP)
    (variant,) = report.variants
    place = {"subject": report.subject.id, "variant": variant.name, "compilation": "0/0"}
    (outlined,) = ask(answers, "get_report", subject="")["variants"]
    assert outlined["compilations"][0]["artifacts"] == []
    assert outlined["compilations"][0]["reduced"]
    nodes = outlined["compilations"][0]["nodes"]
    first = answers.answer(request("get_compilation", **place, parts=["kernels", "guards"]))
    assert first.reply.result is not None
    whole = report_parts.compilation(report, variant.name, "0/0", ["kernels", "guards"])
    assert first.reply.result["compilation"] == to_builtins(whole)  # type: ignore[arg-type]
    # There is more to list since, and the panel is told so once.
    (event,) = first.events
    assert (event["event"], event["data"]["revision"]) == ("report_changed", 2)
    again = answers.answer(request("get_graph", **place, stage="post_grad"))
    assert again.events == []
    for name in ("cpp", "graph.post_grad", "raw.fx_graph_runnable"):
        text = ask(answers, "get_artifact", **place, artifact=name)["text"]
        assert text == report_without_texts.artifact(report, variant.name, "0/0", name).text
    (outlined,) = ask(answers, "get_report", subject="")["variants"]
    summarized = report_without_texts.report(report, 2).variants[0]
    # The list shows Dynamo's graph, before and after.
    assert nodes == len(report.compilation("0/0").graphs["dynamo"].nodes)
    summarized.compilations[0].nodes = nodes
    assert outlined["compilations"] == [
        to_builtins(compilation) for compilation in summarized.compilations
    ]
    assert {"kernels", "graphs", "guards"} <= set(outlined["filled"])


def test_the_list_what_to_change_first_and_the_ranks_come_with_the_summary(tmp_path: Path) -> None:
    for rank in (0, 1):
        text = gzip.decompress(LIMIT.read_bytes())
        (tmp_path / f"dedicated_log_torch_trace_rank_{rank}_x.log").write_bytes(text)
    answers = TraceAnswers(tmp_path)
    result = ask(answers, "get_report", subject="")
    assert [variant["name"] for variant in result["variants"]] == ["rank 0", "rank 1"]
    assert result["trace"]["ranks"]["sentence"].startswith("Both ranks compiled the same code.")
    assert result["trace"]["fix_first"][0]["kind"] == "recompiles"
    hits = ask(answers, "search", subject="", text="l_x_ + 1")["hits"]
    assert [(hit["variant"], hit["compilation"], hit["name"]) for hit in hits] == [
        (rank, compilation, "dynamo_output_graph")
        for rank in ("rank 0", "rank 1")
        for compilation in ("0/0", "0/1")
    ]
    assert hits[0]["text"] == 'add: "f32[2][1]cpu" = l_x_ + 1;  l_x_ = None'
    graph = cs.read_trace(LIMIT).compilation("0/0").graphs["dynamo"].text
    assert graph.split("\n")[hits[0]["line"] - 1].strip() == hits[0]["text"]
    answers.close()


def test_another_trace_is_compared_and_the_earlier_one_is_before(tmp_path: Path) -> None:
    log = gzip.decompress(LIMIT.read_bytes())
    begin, end = (
        log.rindex(b"\nV", 0, log.index(b'"frame_compile_id": %d' % number)) + 1
        for number in (1, 2)
    )
    old, new = tmp_path / "old.log", tmp_path / "new.log"
    old.write_bytes(log[:begin] + log[end:])
    new.write_bytes(log)
    answers = TraceAnswers(new, find=Path)
    answer = answers.answer(request("compare_trace", subject="", path=str(old)))
    assert answer.reply.error is None
    assert [event["event"] for event in answer.events] == ["report_changed"]
    difference = ask(answers, "get_report", subject="")["trace"]["difference"]
    assert (difference["before"], difference["after"]) == ("old.log", "new.log")
    assert difference["shown"] == "after"
    assert [line["id"] for line in difference["processes"][0]["new"]] == ["0/1"]
    saved = json.loads(ask(answers, "save_report", subject="")["text"])
    assert saved["trace"]["difference"] == json.loads(json.dumps(difference))
    missing = answers.answer(request("compare_trace", subject="", path=str(tmp_path / "no.log")))
    assert "There is no trace at" in str(missing.reply.error)
    answers.close()


def test_a_page_compares_no_trace_but_the_one_it_was_opened_with(tmp_path: Path) -> None:
    answers = TraceAnswers(LIMIT, before=LIMIT)
    (process,) = ask(answers, "get_report", subject="")["trace"]["difference"]["processes"]
    assert process["new"] == process["gone"] == process["changed"] == []
    refused = answers.answer(request("compare_trace", subject="", path=str(CPP)))
    assert "compares no other trace" in str(refused.reply.error)
    answers.close()


def test_a_followed_log_lists_what_is_logged_later(tmp_path: Path) -> None:
    log = gzip.decompress(LIMIT.read_bytes())
    cut = log.rindex(b"\nV", 0, log.index(b'"frame_compile_id": 2')) + 1
    file = tmp_path / "running.log"
    file.write_bytes(log[:cut])
    answers = TraceAnswers(file, follow=True, find=Path)

    def listed() -> list[str]:
        report = ask(answers, "get_report", subject="")
        assert report["trace"]["is_followed"]
        return [compilation["id"] for compilation in report["variants"][0]["compilations"]]

    place = {"subject": "", "variant": "running", "compilation": "0/1"}
    ask(answers, "get_compilation", **place, parts=["guards"])
    assert listed() == ["0/0", "0/1"]
    assert answers.answer(request("read_on", subject="")).events == []
    with file.open("ab") as more:
        more.write(log[cut:])
    (event,) = answers.answer(request("read_on", subject="")).events
    assert event["event"] == "report_changed"
    assert listed() == [compilation.id for compilation in cs.read_trace(LIMIT).compilations]
    last = ask(answers, "get_compilation", **{**place, "compilation": "0/2"}, parts=["guards"])
    assert last["compilation"]["id"] == "0/2"
    # The job is started again, and writes the log anew.
    ask(answers, "compare_trace", subject="", path=str(LIMIT))
    assert ask(answers, "get_report", subject="")["trace"]["difference"]
    file.unlink()
    file.write_bytes(log[:cut])
    assert answers.answer(request("read_on", subject="")).events
    assert listed() == ["0/0", "0/1"]
    assert not ask(answers, "get_report", subject="")["trace"]["difference"]
    answers.close()


def test_a_log_that_is_still_empty_is_compared(tmp_path: Path) -> None:
    (tmp_path / "empty.log").touch()
    answers = TraceAnswers(LIMIT, find=Path)
    ask(answers, "compare_trace", subject="", path=str(tmp_path / "empty.log"))
    difference = ask(answers, "get_report", subject="")["trace"]["difference"]
    assert difference["shown"] in ("before", "after")
    answers.close()


def test_what_a_trace_cannot_do_is_an_answer(answers: TraceAnswers) -> None:
    for data in (request("start_run", subject="", variants=[]), request("weather"), None, 3):
        reply = answers.answer(data).reply
        assert reply.result is None
        assert reply.error is not None
    missing = answers.answer(
        request("get_graph", subject="", variant="x", compilation="9/9", stage="")
    )
    assert "no variant 'x'" in str(missing.reply.error)


def test_the_reader_imports_no_torch() -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from compilescope.comms.trace_answers import TraceAnswers\n"
        f"TraceAnswers(Path({str(LIMIT)!r})).answer({request('get_report', subject='')!r})\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_only_who_knows_the_address_reads_the_page(
    answers: TraceAnswers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compilescope.cli.page_server.render_served", lambda *_: "<!doctype html>")
    with PageServer(answers) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            body = json.dumps(request("hello"))

            def status(method: str, path: str, host: str, text: str | None = None) -> int:
                connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
                connection.request(method, path, text, {"Host": host})
                answer = connection.getresponse()
                answer.read()
                connection.close()
                return answer.status

            assert status("GET", server.path, server.host) == 200
            assert status("POST", server.path + REQUESTS, server.host, body) == 200
            with pytest.raises(CompilescopeError, match=f"port {server.server_port}"):
                PageServer(answers, server.server_port)
            assert status("GET", "/", server.host) == 404
            assert status("POST", "/" + REQUESTS, server.host, body) == 404
            # A page of another origin whose name leads to this machine.
            assert status("POST", server.path + REQUESTS, "evil.example", body) == 404
        finally:
            server.shutdown()
            thread.join()


def test_jupyters_server_reads_traces_within_its_folder_only(tmp_path: Path) -> None:
    pytest.importorskip("jupyter_server")
    from jupyterlab_compilescope.traces import OpenTraces

    log = tmp_path / "x.log"
    log.write_bytes(gzip.decompress(LIMIT.read_bytes()))
    traces = OpenTraces()
    hello = traces.answer(log, request("hello"))
    assert hello.reply.result is not None
    assert hello.reply.result["subjects"][0]["variants"] == ["x"]
    # What was logged since is there for a panel that opens.
    size = log.stat().st_size
    log.write_bytes(log.read_bytes()[: size // 2])
    answer = traces.answer(log, request("get_report", subject=""))
    assert answer.reply.result is not None
    whole = len(answer.reply.result["variants"][0]["compilations"])
    traces.answer(log, request("hello"))
    answer = traces.answer(log, request("get_report", subject=""))
    assert answer.reply.result is not None
    assert len(answer.reply.result["variants"][0]["compilations"]) < whole
    refused = traces.answer(tmp_path / "no.log", request("hello"))
    assert "There is no trace" in str(refused.reply.error)


def test_jupyters_server_completes_a_report_of_an_earlier_version(tmp_path: Path) -> None:
    pytest.importorskip("jupyter_server")
    from jupyterlab_compilescope.reports import completed

    stored = Path(__file__).parents[2] / "data" / "reports" / "mlp.compilescope.json"
    report = json.loads(stored.read_text(encoding="utf-8"))
    del report["overview"]
    earlier = tmp_path / "earlier.compilescope.json"
    earlier.write_text(json.dumps(report), encoding="utf-8")
    overview = json.loads(completed(earlier))["overview"]
    assert [result["variant"] for result in overview["results"]] == ["eager", "python", "cpp"]
    with pytest.raises(CompilescopeError):
        completed(tmp_path / "no.compilescope.json")
