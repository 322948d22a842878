"""A report written and read back; files that are no report, damaged, or of a newer version."""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import compilescope as cs
import msgspec
import pytest
from compilescope.report import (
    SCHEMA_VERSION,
    Compilation,
    Effective,
    Memory,
    Report,
    Subject,
    Sweep,
    SweepCell,
    Timing,
    VariantReport,
)
from compilescope.report.compilation.plans import memory_peaks
from compilescope.report.errors import CompilescopeError
from compilescope.report.saving.path_checks import given_path, write_whole
from compilescope.report.saving.storage import complete, from_json
from compilescope.report.variant import Variant
from compilescope.reproducers.program import Reproducer
from compilescope.views import saved_page
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ..views_report import report

SMALL = Report(subject=Subject(id="1", name="f"))


def test_a_report_survives_json_and_a_file(tmp_path: Path) -> None:
    saved = report()
    path = saved.save(tmp_path / "report.json")
    assert saved.overview is not None
    assert cs.load(path) == saved
    assert cs.load(str(path)) == saved
    assert json.loads(path.read_text("utf-8"))["schema_version"] == SCHEMA_VERSION


@pytest.mark.parametrize(
    ("samples", "few", "interval"),
    [
        ([], False, "1.00\u20133.00 µs"),
        ([2.0], True, "1 sample"),
        ([1.0, 1.0, 2.0, 2.0, 3.0], True, "5 samples: min\u2013max 1.00\u20133.00 µs"),
        ([1.0, 1.0, 2.0, 2.0, 3.0, 3.0], False, "1.00\u20133.00 µs"),
    ],
)
def test_the_interval_in_words_is_added_to_a_file_of_an_earlier_version(
    samples: list[float], few: bool, interval: str
) -> None:
    timing = Timing(median_us=2.0, interval_us=(1.0, 3.0), samples_us=samples)
    variant = VariantReport("python", Variant(), timing=timing)
    sweep = Sweep(cells=[SweepCell(key="1", name="python", variant=Variant(), timing=timing)])
    written = json.loads(Report(subject=SMALL.subject, variants=[variant], sweep=sweep).to_json())
    for written_timing in (
        written["variants"][0]["timing"],
        written["sweep"]["cells"][0]["timing"],
    ):
        del written_timing["few"], written_timing["interval"]
    report = from_json(json.dumps(written))
    assert report.sweep is not None
    timings = [report.variants[0].timing, report.sweep.cells[0].timing]
    assert [timing and (timing.few, timing.interval) for timing in timings] == [(few, interval)] * 2


def test_the_peaks_in_words_are_added_to_a_file_of_an_earlier_version() -> None:
    memory = Memory(peak_bytes=1024.0, peak_without_reuse_bytes=2048.0, peak_unfused_bytes=1024.0)
    variant = VariantReport(name="python", requested=Variant())
    variant.compilations = [Compilation(id="0/0", memory=[memory])]
    report = Report(subject=Subject(id="s", name="f"), variants=[variant])
    (loaded,) = from_json(report.to_json()).compilations
    assert [f"{peak.title}: {peak.text}" for peak in loaded.memory[0].peaks] == [
        "Peak without inputs and weights: 1.00 KiB",
        "Without reuse: 2.00 KiB (50 % less now)",
        "Unfused: 1.00 KiB",
    ]


@pytest.mark.parametrize(
    ("peak_bytes", "text"),
    [(1024.0, ""), (1229.0, " (20 % more now)"), (6246.0, " (6.1 times as much now)")],
)
def test_a_peak_above_the_unfused_one_says_so(peak_bytes: float, text: str) -> None:
    memory = Memory(peak_bytes=peak_bytes, peak_unfused_bytes=1024.0)
    assert memory_peaks(memory)[-1].text == f"1.00 KiB{text}"


def test_calls_through_python_of_an_earlier_version_are_no_setting() -> None:
    saved = report()
    variant = saved.variant("python")
    settings = list(variant.effective)
    variant.effective.append(
        Effective("calls through Python", "none", "1 call of demo::scale", differs=True)
    )
    assert from_json(saved.to_json()).variant("python").effective == settings


def test_breaks_are_told_apart_in_a_file_of_an_earlier_version() -> None:
    saved = report()
    variant = saved.variant("python")
    variant.breaks = []
    assert [compilation.breaks for compilation in variant.compilations] != [[]]
    loaded = from_json(saved.to_json()).variant("python")
    assert [graph_break.cause.reason for graph_break in loaded.breaks] == ["Call to print"]


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(cs.CompilescopeError) as error:
        report().save(tmp_path / "report.txt")
    assert str(error.value) == "A report cannot be saved as 'report.txt'. Use .json or .html."
    assert list(tmp_path.iterdir()) == []


def test_a_path_may_begin_at_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert given_path("~/x.json", "a report") == tmp_path / "x.json"
    assert given_path("~x.json", "a report") == Path("~x.json")


def test_without_a_home_folder_such_a_path_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # As pathlib finds neither a variable nor an entry of the user.
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    with pytest.raises(cs.CompilescopeError, match="This user has no home folder"):
        given_path("~/x.json", "a report")


@pytest.fixture
def a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """A saved page, but for its scripts, which the front end's build makes."""
    parts = saved_page._Parts(
        gzip.compress(b""), gzip.compress(b""), unpack="", worker="", licenses=""
    )
    monkeypatch.setattr(saved_page, "_parts", lambda: parts)
    return report().save(tmp_path / "whole.html").read_bytes()


@pytest.mark.parametrize("name", ["report.html", "renamed.json"])
def test_a_page_is_read_too(tmp_path: Path, name: str, a_page: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(a_page)
    assert cs.load(path) == from_json(report().to_json())


def test_a_page_that_is_cut_off_says_so(tmp_path: Path, a_page: bytes) -> None:
    start = a_page.index(b"<script")
    for length, what in [
        (start, "is a page without a report. It is cut off"),
        (start + 100, "is damaged. The page is cut off."),
    ]:
        path = tmp_path / f"{length}.html"
        path.write_bytes(a_page[:length])
        with pytest.raises(cs.CompilescopeError) as error:
            cs.load(path)
        assert str(error.value).startswith(f"{path} {what}")


def test_options_that_are_not_json_are_kept_as_text() -> None:
    variant = cs.Variant(options={"post_grad_custom_pre_pass": len, "size_asserts": False})
    whole = Report(
        subject=SMALL.subject, variants=[VariantReport(name="python", requested=variant)]
    )
    read = from_json(whole.to_json()).variant("python").requested
    assert read.options == {
        "post_grad_custom_pre_pass": "<built-in function len>",
        "size_asserts": False,
    }


def _changed(**fields: Any) -> bytes:
    return json.dumps({**json.loads(report().to_json()), **fields}).encode()


REFUSED = {
    "empty": (b"", "is not a report"),
    "no text": (b"\xff\xfe\x00", "is not a report"),
    "binary in a string": (b'{"schema_version": 1, "created": "\xff"}', "is damaged"),
    "a list": (b"[]", "is not a report"),
    "nested without end": (b'{"schema_version": 1, "a": ' + b"[" * 100_000, "is not a report"),
    "cut short": (report().to_json().encode()[:500], "is not a report"),
    "no version": (b"{}", "is not a report"),
    "version as text": (_changed(schema_version="1"), "is not a report"),
    "no subject": (b'{"schema_version": 1}', "is damaged"),
    "wrong type inside": (_changed(variants=[{"name": 3}]), "is damaged"),
    "newer": (_changed(schema_version=SCHEMA_VERSION + 1, variants=3), "by a newer compilescope"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_says_why_and_what_to_do(case: str, tmp_path: Path) -> None:
    content, expected = REFUSED[case]
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(cs.CompilescopeError) as error:
        cs.load(path)
    problem = error.value.problem
    assert str(path) in problem.what
    assert expected in problem.what
    assert problem.why
    assert problem.remedy


def test_the_newer_version_is_named() -> None:
    with pytest.raises(cs.CompilescopeError) as error:
        from_json(_changed(schema_version=99))
    assert str(error.value) == (
        "The text was written by a newer compilescope. Its format is version 99; this one reads "
        f"up to {SCHEMA_VERSION}. Upgrade with pip install -U jupyterlab-compilescope."
    )


def test_fields_added_later_do_not_hinder() -> None:
    known = from_json(_changed())
    assert known.subject == report().subject
    assert from_json(_changed(weather="fine")) == known


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(CompilescopeError, match=r"There is no file '.*none\.json'\.") as caught:
        cs.load(tmp_path / "none.json")
    assert "looked for" not in str(caught.value)
    with pytest.raises(CompilescopeError, match=re.escape(f"It was looked for in {Path.cwd()}.")):
        cs.load("none.json")


@pytest.mark.parametrize("read", [cs.load, cs.read_trace, cs.open_package])
@pytest.mark.parametrize(
    ("place", "message"),
    [
        (7, "7 is not a path. It is of type int."),
        (None, "None is not a path. It is of type NoneType."),
        (b"x.json", "b'x.json' is not a path. It is of type bytes."),
        ("", "The path is empty."),
        ("a\0b.json", r"'a\x00b.json' is not a path. It holds a NUL character"),
        ("\ud800.json", r"'\ud800.json' is not a path. It contains a lone surrogate"),
        ("a" * 5000, "cannot be read. The operating system says: File name too long."),
    ],
)
def test_what_is_no_path_is_said_to_be_none(
    read: Callable[[Any], Report], place: object, message: str
) -> None:
    with pytest.raises(CompilescopeError, match=re.escape(message)) as caught:
        read(place)
    assert caught.value.problem.remedy
    assert len(str(caught.value)) < 500


def test_what_is_no_path_is_not_written_to(tmp_path: Path) -> None:
    program = Reproducer("f", "f.py", "pass", "cpu")
    for write in (SMALL.save, program.save):
        with pytest.raises(CompilescopeError, match=r"^7 is not a path\. It is of type int\."):
            write(7)  # type: ignore[arg-type]
        with pytest.raises(CompilescopeError, match=r"^There is no folder '.*none' to write "):
            write(tmp_path / "none" / "x.json")
    (tmp_path / "taken.json").mkdir()
    with pytest.raises(CompilescopeError, match=r"^'.*taken\.json' cannot be written\. "):
        SMALL.save(tmp_path / "taken.json")


def test_a_full_disk_costs_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kept.json"
    SMALL.save(path)
    path.chmod(0o640)
    before = path.read_bytes()
    write = Path.write_text

    def fill(self: Path, text: str, encoding: str) -> int:
        write(self, text[:20], encoding=encoding)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", fill)
        for place in (path, tmp_path / "new.json"):
            with pytest.raises(CompilescopeError, match="No space left on device"):
                SMALL.save(place)
    assert [file.name for file in tmp_path.iterdir()] == ["kept.json"]
    assert path.read_bytes() == before
    (tmp_path / "link.json").symlink_to(path)
    SMALL.save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640


def test_two_threads_save_into_one_folder(tmp_path: Path) -> None:
    texts = {tmp_path / "a.txt": "a" * 1000, tmp_path / "b.txt": "b" * 1000}

    def save(path: Path) -> None:
        for _ in range(200):
            write_whole(path, texts[path])
            assert path.read_text(encoding="utf-8") == texts[path]

    with ThreadPoolExecutor() as pool:
        list(pool.map(save, texts))
    assert sorted(tmp_path.iterdir()) == sorted(texts)


def test_what_the_system_refuses_to_read_is_a_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Who runs the tests may be allowed to read everything.
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "x")

    path = tmp_path / "x.json"
    path.write_text("{}", "utf-8")
    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(Path, "read_bytes", refuse)
    for read in (cs.load, cs.open_package):
        with pytest.raises(
            CompilescopeError,
            match=r"The operating system says: Permission denied",
        ):
            read(path)


def test_what_has_no_end_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", tmp_path / "pipe", tmp_path):
        with pytest.raises(CompilescopeError, match="is not a report") as caught:
            cs.load(path)
        assert caught.value.problem.remedy


def test_what_a_report_lacks_is_named() -> None:
    whole = report()
    names = ", ".join(repr(variant.name) for variant in whole.variants)
    with pytest.raises(cs.CompilescopeError) as error:
        whole.variant("rust")
    assert str(error.value) == f"The report has no variant 'rust'. It has {names}."
    with pytest.raises(cs.CompilescopeError, match=r"no compilation '7/7'\. It has '0/0'"):
        whole.compilation("7/7")


def test_a_compilation_is_completed_by_the_other_wrapper() -> None:
    whole = report()
    python, cpp = whole.variant("python"), whole.variant("cpp")
    code = whole.compilation("0/0").code
    assert (code.python, code.cpp) == (
        python.compilations[0].code.python,
        cpp.compilations[0].code.cpp,
    )
    assert whole.compilation("0/0", "python").code.cpp is None


THREADS = """
import sys, threading
import compilescope as cs
import compilescope.report.saving.storage  # so that the types alone are new

sys.setswitchinterval(1e-6)
together = threading.Barrier(4)

def load():
    together.wait()
    reports.append(cs.load(sys.argv[1]))

reports = []
threads = [threading.Thread(target=load) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(reports))
"""


def test_threads_load_their_first_reports_at_the_same_time(tmp_path: Path) -> None:
    path = report().save(tmp_path / "r.json")
    command = [sys.executable, "-c", THREADS, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "4\n"), done.stderr


def test_a_report_opens_without_torch(tmp_path: Path) -> None:
    path = report().save(tmp_path / "report.json")
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "import compilescope as cs\n"
        f"print(cs.load({str(path)!r}).subject.name)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == report().subject.name


def _strategy(kind: type) -> st.SearchStrategy[Any]:
    """Values of a struct's type; floats are finite, since a report holds no others."""
    finite = st.floats(allow_nan=False, allow_infinity=False)
    st.register_type_strategy(float, finite)
    st.register_type_strategy(int, st.integers(-(2**53), 2**53))
    # Lists lie many deep: with more than two of each, examples would be of megabytes.
    st.register_type_strategy(
        list, lambda kind: st.lists(st.from_type(kind.__args__[0]), max_size=2)
    )
    scalars = st.none() | st.booleans() | st.integers(-9, 9) | finite | st.text(max_size=5)
    fields = {
        "options": st.dictionaries(st.text(max_size=5), scalars, max_size=2),
        "children": st.just([]),
        "backward": st.none(),
        "others": st.just([]),
        "schema_version": st.just(SCHEMA_VERSION),
        # What reports hold in files and messages only.
        "contents": st.none(),
        "Node.stack": st.none(),
        "Graph.stacks": st.just([]),
        "Graph.same_as": st.none(),
        "assembly_lines": st.dictionaries(
            st.text(max_size=5), st.lists(st.integers(0, 9), max_size=2), max_size=1
        ),
    }

    def build(cls: type) -> st.SearchStrategy[Any]:
        names = [field.name for field in msgspec.structs.fields(cls)]
        own = {name: fields.get(f"{cls.__name__}.{name}", fields.get(name, ...)) for name in names}
        # An ellipsis: drawn by its type, although it has a default.
        return st.builds(cls, **own)

    seen: set[type] = set()

    def register(info: Any) -> None:
        cls = getattr(info, "cls", None)
        if isinstance(info, msgspec.inspect.StructType) and cls not in seen:
            seen.add(info.cls)
            for field in info.fields:
                register(field.type)
            st.register_type_strategy(info.cls, build(info.cls))
        for inner in ("item_type", "key_type", "value_type"):
            if hasattr(info, inner):
                register(getattr(info, inner))
        for item in getattr(info, "types", ()):
            register(item)

    register(msgspec.inspect.type_info(kind))
    return build(kind)


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(_strategy(Report))
def test_any_report_survives_json(created: Report) -> None:
    # What loading fills in is there from the start in a report of this version.
    complete(created)
    assert from_json(created.to_json()) == created
