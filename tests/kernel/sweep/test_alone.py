"""The locks of devices, in a temporary folder that other people can write into too."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest
from compilescope.processes.device_lock import CPU, Device
from compilescope.report.errors import CompilescopeError


@pytest.fixture(autouse=True)
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder by the name that we would take; HOME is elsewhere."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    return tmp_path / f"compilescope-{os.getuid()}-devices"


def test_the_folder_is_ours_alone(shared: Path) -> None:
    Device()
    assert stat.S_IMODE(shared.stat().st_mode) == 0o700
    assert stat.S_IMODE((shared / CPU).stat().st_mode) == 0o600


def test_what_a_link_points_to_is_left_as_it_is(shared: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    shared.mkdir(mode=0o700)
    (shared / CPU).symlink_to(victim)
    with pytest.raises(OSError, match="symbolic link"):
        Device()
    assert victim.read_text() == "precious"


def test_a_file_that_is_there_is_not_emptied(shared: Path) -> None:
    shared.mkdir(mode=0o700)
    (shared / CPU).write_text("kept")
    Device()
    assert (shared / CPU).read_text() == "kept"


@pytest.mark.parametrize("how", ["a link", "writable by all", "another owner's", "a file"])
def test_a_folder_that_is_not_ours_alone_is_not_used(
    shared: Path, tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o700)
    if how == "a link":
        shared.symlink_to(theirs)
    elif how == "a file":
        shared.write_text("")
    else:
        shared.mkdir(mode=0o700)
    if how == "writable by all":
        shared.chmod(0o777)
    if how == "another owner's":
        monkeypatch.setattr(Path, "lstat", lambda path: _stat(path, other=path == shared))
    Device()
    assert not list(theirs.iterdir())
    assert how == "a file" or not list(shared.iterdir())
    assert len(list((tmp_path / "home" / ".cache" / "compilescope").glob("devices-*/cpu"))) == 1


def test_without_a_folder_the_error_says_what_to_do(shared: Path, tmp_path: Path) -> None:
    shared.write_text("")
    (tmp_path / "home").write_text("")
    with pytest.raises(CompilescopeError, match="TMPDIR"):
        Device()


def _stat(path: Path, *, other: bool) -> os.stat_result:
    status = os.lstat(path)
    fields = list(status)
    fields[stat.ST_UID] += other
    return os.stat_result(fields)
