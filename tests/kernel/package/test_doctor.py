"""The doctor: real checks, each in its row, within bounds, and of the panel beside a cell."""

from __future__ import annotations

import functools
import os
import re
import sys
import sysconfig
import threading
import types
from collections.abc import Iterator
from pathlib import Path

import compilescope as cs
import pytest
from compilescope.checks import (
    caches,
    compiler,
    context,
    environment,
    headers,
    notebook,
    openmp,
    precompiled,
    triton,
    versions,
)
from compilescope.checks.context import CheckContext, ok
from compilescope.checks.examination import SUBJECTS, Examination, run_check
from compilescope.comms import checkups, messages
from compilescope.report import Environment
from compilescope.report.checkup import Check, Checkup
from compilescope.session.session import Session
from compilescope.torch_api.process import variables

pytestmark = pytest.mark.slow


@pytest.fixture
def check_context(tmp_path: Path) -> CheckContext:
    return CheckContext(folder=tmp_path)


@pytest.fixture(scope="module", autouse=True)
def patience() -> Iterator[None]:
    """A busy machine takes its time: no process of a check has a limit that could end it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(context, "CHILD_S", 600.0)
        patch.setitem(Examination.__init__.__kwdefaults__, "limit_s", 1200.0)
        yield


@pytest.fixture(scope="module")
def whole(patience: None) -> Checkup:
    return cs.doctor()


def test_a_checkup_looks_at_everything_and_keeps_nothing(whole: Checkup) -> None:
    assert {check.subject for check in whole.checks} == {subject.SUBJECT for subject in SUBJECTS}
    assert len(whole.checks) >= 30
    assert not whole.waiting
    failed = [check for check in whole.checks if "check itself failed" in check.finding]
    assert failed == []
    assert all(check.finding for check in whole.checks)
    assert all(check.remedy for check in whole.checks if check.state in ("problem", "warning"))
    assert whole.check("compile and load").state == "ok"
    assert whole.check("parallel loop").state in ("ok", "warning")


def test_a_checkup_shows_itself(whole: Checkup) -> None:
    text, html = str(whole), whole._repr_html_()
    for check in whole.checks:
        assert check.name in text
        assert check.subject in html
    assert "✓ compile and load" in text
    assert "<script" not in html


def test_what_is_found_is_shown_as_text() -> None:
    bad = Check(
        name="n", subject="s", state="problem", finding="<b>x</b>", remedy="<i>y</i>", detail="<u>"
    )
    html = Checkup(checks=[bad])._repr_html_()
    assert "<b>x" not in html
    assert "<i>y" not in html
    assert "<u>" not in html


def broken(_: CheckContext) -> Check:
    raise LookupError("no such disk")


def test_a_check_that_fails_itself_is_a_row(check_context: CheckContext) -> None:
    check = run_check(broken, check_context, "Disks")
    assert (check.name, check.subject, check.state) == ("broken", "Disks", "problem")
    assert "LookupError: no such disk" in check.finding
    assert "Traceback" in check.detail


def test_what_does_not_end_is_said_to_be_unfinished() -> None:
    begun, let_go = threading.Event(), threading.Event()

    def hangs(_: CheckContext) -> Check:
        begun.set()
        let_go.wait()
        return ok("hangs", "now")

    subject = types.ModuleType("subject")
    vars(subject).update(SUBJECT="Disks", CHECKS=(hangs,))
    examination = Examination(subjects=(subject,), limit_s=0.5)
    assert begun.wait(600)
    try:
        assert examination.wait() is True
        [check] = examination.checkup().checks
        assert (check.name, check.state) == ("unfinished", "problem")
    finally:
        let_go.set()


@pytest.mark.parametrize(
    ("options", "prefix", "state"),
    [
        ("'--enable-shared'", "/opt/python", "warning"),
        ("'--enable-shared' '--enable-optimizations'", "/opt/python", "ok"),
        ("'--enable-shared'", "/usr", "ok"),
        (None, "/opt/python", "ok"),
    ],
)
def test_a_python_without_optimizations(
    options: str | None,
    prefix: str,
    state: str,
    check_context: CheckContext,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: options)
    monkeypatch.setattr(sys, "base_prefix", prefix)
    check = versions.python_version(check_context)
    assert check.state == state
    assert ("--enable-optimizations" in check.remedy) == (state == "warning")


NEEDING_A_COMPILER = (
    compiler.compiles,
    compiler.vectors,
    openmp.compiles,
    headers.python_headers,
    headers.torch_headers,
    precompiled.works,
)


def test_without_a_compiler(check_context: CheckContext, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch._inductor.config as config

    with config.patch({"cpp.cxx": ("/nowhere/g++",)}):
        check = compiler.inductor_compiler(check_context)
        assert check.state == "problem"
        assert "CXX" in check.remedy or "xcode" in check.remedy
        checks = [run_check(look, check_context, "subject") for look in NEEDING_A_COMPILER]
    assert [(check.name, check.state) for check in checks] == [
        ("compile and load", "not needed"),
        ("vector instructions", "not needed"),
        ("parallel loop", "not needed"),
        ("Python.h", "not needed"),
        ("torch's headers", "not needed"),
        ("precompile and use", "not needed"),
    ]
    assert {check.finding for check in checks} == {"Not checked: there is no C++ compiler."}


@pytest.fixture
def lame(tmp_path: Path) -> Iterator[None]:
    """A compiler without OpenMP and without Python's headers."""
    import torch._inductor.config as config

    script = tmp_path / "g++"
    script.write_text(
        '#!/bin/sh\ncase "$1" in -v|--version) exec g++ "$@";; esac\n'
        'echo "program.cpp:1:10: fatal error: omp.h: No such file or directory" >&2\nexit 1\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    with config.patch({"cpp.cxx": (None, str(script))}):
        yield


@pytest.mark.usefixtures("lame")
def test_a_compiler_that_lacks_things(check_context: CheckContext) -> None:
    for look in (compiler.compiles, openmp.compiles, headers.python_headers):
        check = look(check_context)
        assert check.state == "problem", check
        assert "omp.h" in check.finding
        assert check.remedy
        assert check.detail
    assert precompiled.works(check_context).state == "warning"


def test_a_cache_folder_that_cannot_be_made(
    check_context: CheckContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "file" / "caches"))
    check = caches.writable(check_context)
    assert check.state == "problem"
    assert "TORCHINDUCTOR_CACHE_DIR" in check.remedy


def test_how_much_a_cache_folder_holds(
    check_context: CheckContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "caches"
    folder.mkdir()
    (folder / "a").write_bytes(b"x" * 10_000_000)
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(folder))
    assert caches.size(check_context).finding == "1 files, 0.01 GB"


def test_variables_that_change_torch_compile(
    check_context: CheckContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_FORCE_DISABLE_CACHE", "1")
    check = environment.environment(check_context)
    assert check.state == "warning"
    assert "TORCHINDUCTOR_FORCE_DISABLE_CACHES?" in check.finding
    assert "TORCHINDUCTOR_CPP_WRAPPER" in variables.read_by_torch()

    monkeypatch.delenv("TORCHINDUCTOR_FORCE_DISABLE_CACHE")
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "1")
    check = environment.switched_on(check_context)
    assert check.state == "problem"
    assert "TORCHDYNAMO_DISABLE" in check.finding


def test_versions_of_the_panel_and_the_kernel(tmp_path: Path) -> None:
    other = CheckContext(folder=tmp_path, front_end="0.0.1")
    assert notebook.front_end(other).state == "problem"
    same = CheckContext(folder=tmp_path, front_end=cs.__version__)
    assert notebook.front_end(same).state == "ok"


def test_subshells(tmp_path: Path) -> None:
    def state(features: list[str]) -> str:
        info = {"supported_features": features}
        return notebook.subshells(CheckContext(folder=tmp_path, kernel_info=info)).state

    assert state(["debugger", "kernel subshells"]) == "ok"
    assert state(["debugger"]) == "warning"


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="Triton compiles on Linux")
@pytest.mark.parametrize(
    ("asked", "state"), [("triton~=0.1.2", "warning"), ("triton>=1", "ok"), ("triton", "ok")]
)
def test_the_triton_that_torch_asks_for(
    check_context: CheckContext, monkeypatch: pytest.MonkeyPatch, asked: str, state: str
) -> None:
    lines = ["numpy", f'{asked}; platform_system == "Linux"']
    monkeypatch.setattr(triton.metadata, "requires", lambda name: lines)
    assert triton.fits(check_context).state == state


@pytest.mark.parametrize(
    ("torch", "version", "state"),
    [
        ("2.13.0+cpu", "3.7.1", "ok"),
        ("2.13.0+cpu", "3.9.0", "warning"),
        ("2.13.0+cpu", None, "not needed"),
        ("9.0.0", "3.9.0", "not needed"),
    ],
)
def test_the_triton_of_a_torch_that_asks_for_none(
    check_context: CheckContext,
    monkeypatch: pytest.MonkeyPatch,
    torch: str,
    version: str | None,
    state: str,
) -> None:
    here = Environment(torch=torch, triton=version)
    monkeypatch.setattr(triton.metadata, "requires", lambda name: ["sympy"])
    monkeypatch.setattr(triton, "environment", lambda: here)
    check = triton.fits(check_context)
    assert check.state == state
    if state == "warning":
        assert check.finding == "torch 2.13.0+cpu was built for triton==3.7.1; installed is 3.9.0."
        assert check.remedy == "pip install 'triton==3.7.1'"


def test_triton_compiles_without_a_gpu(check_context: CheckContext) -> None:
    check = triton.compiles(check_context)
    assert check.state == "ok", check
    assert "bytes of machine code" in check.finding


def test_the_panel_is_answered_at_once_and_asks_until_all_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    release = threading.Event()

    def wait(_: CheckContext) -> Check:
        release.wait()
        return ok("wait", "released")

    last = types.SimpleNamespace(SUBJECT="last", CHECKS=(wait,))
    subjects = notebook, environment, last
    monkeypatch.setattr(checkups, "Examination", functools.partial(Examination, subjects=subjects))
    monkeypatch.setattr(checkups, "_latest", None)
    session = Session()
    answer = checkups.get(session, messages.GetCheckup(front_end=cs.__version__, restart=True))
    assert "last" in answer.checkup.waiting
    assert re.search(r"still checking: .*last", answer.summary)
    release.set()
    latest = checkups._latest
    assert latest is not None
    latest.wait()
    answer = checkups.get(session, messages.GetCheckup())
    assert not answer.checkup.waiting
    assert answer.summary == answer.checkup.summary() != ""
    assert answer.checkup.check("front end").state == "ok"
    assert answer.checkup.check("Inductor's settings").state == "not needed"
