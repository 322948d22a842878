"""torch's headers, precompiled beside the kernel: once, not twice at a time, and ended with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import filelock
import pytest
from compilescope.processes import warm_headers, warm_headers_child
from compilescope.processes.warm_headers import Precompilation
from compilescope.torch_api.inductor import headers

PRECOMPILE = (
    "import pathlib, sys; marker = pathlib.Path(sys.argv[1]); "
    "header = marker.with_name('h.gch'); header.write_text(''); marker.write_text(f'{header}\\n')"
)
WAIT = "from compilescope.processes.warm_headers_child import _end_with_parent as end; end()"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(headers, "header_folder", lambda: tmp_path / "headers")
    return tmp_path / "headers"


def begun(code: str) -> Precompilation:
    warming = Precompilation(("-c", code))
    warming.thread.start()
    return warming


def test_headers_are_precompiled_once_and_again_when_they_are_gone(folder: Path) -> None:
    marker = warm_headers.marker_file()
    assert not warm_headers.is_warm(marker)
    begun(PRECOMPILE).thread.join()
    assert warm_headers.is_warm(marker)
    before = marker.stat().st_mtime_ns
    begun(PRECOMPILE).thread.join()
    assert marker.stat().st_mtime_ns == before
    (folder / "h.gch").unlink()
    begun(PRECOMPILE).thread.join()
    assert warm_headers.is_warm(marker)


def test_two_kernels_do_not_do_it_at_the_same_time(folder: Path) -> None:
    marker = warm_headers.marker_file()
    folder.mkdir()
    with filelock.FileLock(marker.with_suffix(".lock")):
        begun(PRECOMPILE).thread.join()
        assert not marker.exists()


def test_stopping_ends_the_process_however_far_it_is(folder: Path) -> None:
    warming = begun(WAIT)
    warming.stop()
    assert not warming.thread.is_alive()
    started = warming._process
    assert started is None or started.returncode is not None
    assert not warm_headers.marker_file().exists()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Precompilation]]:
    warmings: list[Precompilation] = []

    def make() -> Precompilation:
        warmings.append(Precompilation(("-c", WAIT)))
        return warmings[-1]

    monkeypatch.setattr(warm_headers, "Precompilation", make)
    monkeypatch.delenv(warm_headers.SETTING)
    yield warmings
    warm_headers.stop()


def test_one_is_under_way_at_most_and_the_setting_turns_it_off(
    folder: Path, started: list[Precompilation], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(warm_headers.SETTING, "0")
    warm_headers.start()
    assert not started
    monkeypatch.delenv(warm_headers.SETTING)
    warm_headers.start()
    warm_headers.start()
    assert len(started) == 1
    warm_headers.stop()
    assert not started[0].thread.is_alive()
    monkeypatch.setattr(headers, "precompiles", lambda: False)
    warm_headers.start()
    assert len(started) == 1


def test_what_builds_take_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header = tmp_path / "a.h"
    header.write_text("")
    header.with_suffix(".h.gch").write_text("")
    monkeypatch.setattr(headers.codecache, "_precompile_header", lambda name: str(header))
    with headers.recording_headers() as result:
        assert headers.codecache._precompile_header("wrapper.h") == str(header)
    assert result == [tmp_path / "a.h.gch"]
    warm_headers_child.write_marker(result, tmp_path / "marker.txt")
    assert warm_headers.is_warm(tmp_path / "marker.txt")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.h", "a.h.gch", "marker.txt"]
