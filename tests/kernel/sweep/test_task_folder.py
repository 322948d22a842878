"""Steps and cancellation of tasks of an executor."""

from __future__ import annotations

from pathlib import Path

from compilescope.processes.task_folder import TaskFolder


def test_a_worker_reports_its_step_and_is_canceled(tmp_path: Path) -> None:
    submitter = TaskFolder(tmp_path)
    submitter.allow()
    worker = TaskFolder(str(tmp_path))
    assert (submitter.read_step("max-autotune, a/b"), worker.cancelled()) == ("", False)
    worker.write_step("max-autotune, a/b", "cold")
    assert submitter.read_step("max-autotune, a/b") == "cold"
    submitter.remove_step("max-autotune, a/b")
    assert submitter.read_step("max-autotune, a/b") == ""
    submitter.cancel()
    assert worker.cancelled()
    assert TaskFolder(tmp_path).cancelled(), "a task that starts later is canceled, too"


def test_a_worker_that_does_not_see_the_folder_runs_on(tmp_path: Path) -> None:
    worker = TaskFolder(tmp_path / "on another machine")
    worker.write_step("a", "cold")
    assert (worker.read_step("a"), worker.cancelled()) == ("", False)


def test_a_removed_folder_cancels(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    worker = TaskFolder(folder)
    folder.rmdir()
    worker.write_step("a", "cold")
    assert worker.cancelled()
