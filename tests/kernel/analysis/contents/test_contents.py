"""The contents of a report's file: each text is where they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
from compilescope.analysis.contents.summaries import compilation_summary
from compilescope.comms import report_without_texts
from compilescope.comms.clients import to_builtins
from compilescope.report import (
    Compilation,
    Package,
    PackageFile,
    Report,
    SourceLine,
    Subject,
    VariantReport,
)
from compilescope.report.saving.storage import from_json
from compilescope.report.variant import Variant

REPORTS = Path(__file__).parents[3] / "data" / "reports"
NAMES = ("breaks", "mlp", "recompiles", "targets", "training")


def at(data: Any, place: str) -> Any:
    for step in place.split("/"):
        data = data[int(step)] if isinstance(data, list) else data[step]
    return data


@pytest.mark.parametrize("name", NAMES)
def test_texts_are_where_the_contents_say(name: str) -> None:
    report = cs.load(REPORTS / f"{name}.compilescope.json")
    data = json.loads(report.to_json())
    variants = {variant["name"]: variant for variant in data["variants"]}
    checked = 0
    for variant, stored in zip(data["variants"], data["contents"]["variants"], strict=True):
        pairs = zip(variant["compilations"], stored["compilations"], strict=True)
        for compilation, contents in pairs:
            for text in contents["texts"]:
                holder, place = compilation, text["text"]
                field = place.split("/")[0]
                if field == "graphs" and (owner := at(holder, place[: -len("/text")])["same_as"]):
                    holder = next(
                        stored
                        for stored in variants[owner[0]]["compilations"]
                        if stored["id"] == compilation["id"]
                    )
                    place = f"graphs/{owner[1]}/text"
                answer = report_without_texts.artifact(
                    report, variant["name"], compilation["id"], text["name"]
                )
                assert at(holder, place) == answer.text
                if "regions" in text:
                    assert len(at(compilation, text["regions"])) == len(answer.regions)
                assert text.get("text_lines", "") == "" or at(
                    compilation, text["text_lines"]
                ) == list(answer.lines)
                checked += 1
            for reason in contents["absent"].values():
                assert at(compilation, reason)
    assert checked > 0


@pytest.mark.parametrize("name", NAMES)
def test_summaries_are_those_of_the_live_panel(name: str) -> None:
    report = cs.load(REPORTS / f"{name}.compilescope.json")
    contents = json.loads(report.to_json())["contents"]
    live = json.loads(json.dumps(to_builtins(report_without_texts.report(report, 1))))
    for variant, stored in zip(live["variants"], contents["variants"], strict=True):
        for compilation, texts in zip(variant["compilations"], stored["compilations"], strict=True):
            listed = [text["name"] for text in texts["texts"] if text.get("listed", True)]
            assert [artifact["name"] for artifact in compilation.pop("artifacts")] == listed
        for compilation in stored["summary"]["compilations"]:
            assert compilation.pop("artifacts") == []
        assert stored["summary"] == variant
    assert contents["sweep"] == live["sweep"]


def test_files_of_a_package_are_texts_of_their_variant() -> None:
    files = [
        PackageFile(path="weights.bin", bytes=9, kind="constant"),
        PackageFile(path="a.json", bytes=2, kind="metadata", language="json", text="{}"),
    ]
    variant = VariantReport(name="cpp", requested=Variant(), package=Package(files=files))
    report = Report(subject=Subject(id="s", name="f"), variants=[variant])
    data = json.loads(report.to_json())
    (text,) = data["contents"]["variants"][0]["package"]
    assert text["name"] == "package:a.json"
    assert at(data["variants"][0], text["text"]) == "{}"


def test_a_loaded_report_computes_its_contents_when_it_is_saved() -> None:
    path = REPORTS / "training.compilescope.json"
    report = cs.load(path)
    assert report.contents is None
    report.variants = report.variants[:1]
    saved = json.loads(report.to_json())
    assert len(saved["contents"]["variants"]) == 1
    assert from_json(json.dumps(saved)).variants == report.variants


@pytest.mark.parametrize(("function", "line"), [("infer", 3), ("other", 2)])
def test_the_frame_of_a_decorated_subject_has_the_line_of_its_def(function: str, line: int) -> None:
    subject = Subject(id="s", name="infer", kind="function", arguments=[], device="cpu")
    subject.where = SourceLine(file="cell", line=3, function="infer")
    frame = SourceLine(file="cell", line=2, function=function)
    summary = compilation_summary(Compilation(id="0/0", frame=frame), subject)
    assert summary.where is not None
    assert summary.where.line == line
    assert f"cell:{line})" in summary.frame
